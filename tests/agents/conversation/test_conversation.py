"""A conversation within a window: what is dropped, what never is, and that it stays one that endpoints accept."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.agents.conversation.conversation import Talk, fitted, shortened, size
from swarmgate.agents.tools.tool_table import offered
from swarmgate.llm.model import Message, ToolCall


def exchange(number: int, result: str, **arguments: str) -> list[Message]:
    made = ToolCall(id=f"c{number}", name="read_file", arguments=json.dumps(arguments or {"path": f"src/{number}.py"}))
    return [
        Message(role="assistant", tool_calls=(made,)),
        Message(role="tool", tool_call_id=made.id, content=result),
    ]


def talk(*results: int, brief: int = 400) -> list[Message]:
    """A conversation whose results have these lengths in characters."""
    first = [Message(role="system", content="s" * 100), Message(role="user", content="b" * brief)]
    return [*first, *(each for number, n in enumerate(results) for each in exchange(number, "x" * n))]


def test_what_fits_is_left_alone() -> None:
    messages = talk(*[400] * 5)
    assert fitted(messages, 10_000) == (messages, 0)


def test_the_oldest_results_go_first_and_in_one_big_step() -> None:
    messages = talk(*[4_000] * 10)  # about 10,000 tokens
    after, dropped = fitted(messages, 11_000)
    assert size(messages) > 0.8 * 11_000
    assert size(after) <= 0.5 * 11_000
    assert dropped == 5
    stubs = [message.content for message in after if message.content.startswith("[The result of")]
    assert stubs[0] == (
        '[The result of read_file {"path": "src/0.py"} was dropped to make room. Call it again if you still need it.]'
    )
    kept = [message for message in after if message.role == "tool"][5:]
    assert kept == [message for message in messages if message.role == "tool"][5:]
    assert fitted(after, 11_000) == (after, 0)  # the beginning stays the same until the window fills again


def test_the_newest_exchanges_stay_as_long_as_that_leaves_room() -> None:
    messages = talk(*[4_000] * 5)
    after, dropped = fitted(messages, 6_000)
    assert dropped == 1  # four are kept, and that is room enough
    assert after[-8:] == messages[-8:]
    after, dropped = fitted(messages, 3_000)
    assert dropped == 4
    assert after[-2:] == messages[-2:]


def test_even_one_reply_with_many_big_results_is_fitted() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="read_file") for n in range(8))
    results = [Message(role="tool", tool_call_id=each.id, content="y" * 4_000) for each in calls]
    messages = [*talk(), Message(role="assistant", tool_calls=calls), *results]
    after, dropped = fitted(messages, 4_000)
    assert size(after) <= 0.8 * 4_000
    assert dropped == 7
    assert after[-1] == messages[-1]


def test_long_arguments_of_old_calls_go_too_and_stay_json() -> None:
    writes = [each for n in range(9) for each in exchange(n, "Wrote it.", path=f"{n}.py", content="z" * 4_000)]
    after, dropped = fitted([*talk(), *writes], 11_000)
    assert dropped == 0
    assert json.loads(after[2].tool_calls[0].arguments) == {
        "path": "0.py",
        "content": "[4,000 characters, dropped to make room]",
    }
    assert size(after) <= 0.8 * 11_000


def test_complaints_about_replies_without_a_call_stay() -> None:
    said = [Message(role="assistant", content="t" * 3_000), Message(role="user", content="only tool calls count")]
    after, _ = fitted([*talk(4_000, 4_000), *said, *talk(4_000, 4_000, 4_000)[2:]], 5_000)
    assert said[1] in after


def test_the_models_own_long_texts_make_room() -> None:
    messages = talk()
    for number in range(40):
        said, result = exchange(number, "ok")
        messages += [said.model_copy(update={"content": f"{number} " + "t" * 8_000}), result]
    after, dropped = fitted(messages, 32_000)
    assert size(messages) > 80_000
    assert size(after) <= 0.8 * 32_000
    assert dropped == 0
    assert [message.role for message in after] == [message.role for message in messages]
    assert after[2].content.startswith("0 ttt")
    assert after[2].content.endswith("characters, dropped to make room]")
    assert after[2].tool_calls == messages[2].tool_calls
    assert after[-8:] == messages[-8:]
    assert fitted(after, 32_000) == (after, 0)


def test_where_stubs_are_too_many_whole_exchanges_go() -> None:
    messages = talk(*[190] * 900)
    after, dropped = fitted(messages, 8_000)
    assert size(after) <= 0.8 * 8_000
    assert after[:2] == messages[:2]
    assert after[-2:] == messages[-2:]
    assert dropped == (len(messages) - len(after)) // 2 > 100
    assert after[3].content.startswith("[Earlier calls and their results were dropped to make room.]\n")
    assert fitted(after, 8_000) == (after, 0)


def test_one_message_that_is_too_long_alone_is_cut() -> None:
    said = Message(role="assistant", content="t" * 400_000)
    after, _ = fitted([*talk(), said, Message(role="user", content="only tool calls count")], 8_000)
    assert size(after) <= 0.9 * 8_000
    assert after[2].content.endswith("characters, dropped to make room]")
    assert after[3].content == "only tool calls count"
    after, _ = fitted([*talk(), Message(role="assistant"), Message(role="user", content="u" * 400_000)], 8_000)
    assert size(after) <= 0.9 * 8_000
    assert "characters left out" in after[3].content
    write = ToolCall(id="c", name="write_file", arguments=json.dumps({"path": "a", "content": "x" * 400_000}))
    broken = ToolCall(id="d", name="write_file", arguments='{"path": "' + "y" * 400_000)
    many = ToolCall(id="e", name="finish", arguments=json.dumps({f"k{n}": "z" * 300 for n in range(900)}))
    for call in (write, broken, many):
        answer = Message(role="tool", tool_call_id=call.id, content="r" * 90_000)
        after, _ = fitted([*talk(), Message(role="assistant", tool_calls=(call,)), answer], 8_000)
        assert size(after) <= 0.9 * 8_000
        assert isinstance(json.loads(after[2].tool_calls[0].arguments), dict)
        assert after[2].tool_calls[0].id == after[3].tool_call_id


LENGTHS = st.sampled_from([0, 10, 190, 250, 390, 500, 3_000, 20_000])


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """What a turn may hold: texts, calls whose arguments are JSON or not, results, complaints."""
    found: list[Message] = []
    for number in range(draw(st.integers(1, 40))):
        calls = tuple(
            ToolCall(
                id=f"{number}-{n}",
                name="write_file",
                arguments=json.dumps({"path": "a", "content": "x" * length, "list": ["y" * length]})[
                    : draw(st.sampled_from([None, None, -1]))
                ],
            )
            for n, length in enumerate(draw(st.lists(LENGTHS, max_size=3)))
        )
        found.append(Message(role="assistant", content="t" * draw(LENGTHS), tool_calls=calls))
        found += [Message(role="tool", tool_call_id=each.id, content="r" * draw(LENGTHS)) for each in calls]
        found += [] if calls else [Message(role="user", content="c" * draw(LENGTHS))]
    return found


@given(exchanges(), st.integers(0, 20_000), st.integers(1_500, 20_000), st.integers(0, 500))
def test_what_fits_with_the_newest_exchange_fits_and_the_brief_always_stays(
    said: list[Message], brief: int, window: int, overhead: int
) -> None:
    messages = [*talk(brief=brief), *said]
    after, dropped = fitted(messages, window, overhead=overhead)
    newest = max(at for at, message in enumerate(messages) if message.role == "assistant")
    assert after[:2] == messages[:2]
    if size([*messages[:2], *messages[newest:]]) <= window - overhead:
        assert size(after) <= window - overhead
    if size(messages[:2]) + (len(said) - newest + 2) * 400 <= 0.9 * (window - overhead):  # its messages can be cut
        assert size(after) <= window - overhead
    assert size(after) <= size(messages)
    assert 0 <= dropped <= sum(message.role == "tool" for message in messages)
    calls = [call.id for message in after for call in message.tool_calls]
    assert calls == [message.tool_call_id for message in after if message.role == "tool"]
    assert [message.role for message in after[2:]] == [message.role for message in messages[2:]][2 - len(after) :]
    again, _ = fitted(after, window, overhead=overhead)
    assert size(again) <= size(after)


def test_a_talk_counts_what_it_dropped_and_the_tools_take_room() -> None:
    said = Talk("s", "b" * 401, offered("coder", "code"), 8_000)
    assert said.brief_tokens == 101
    said.messages += talk(*[4_000] * 6)[2:]
    assert len(said.fitted()) == 14
    assert said.dropped > 0
    assert said.messages[1].content == "b" * 401


def test_a_long_result_keeps_head_and_tail_and_says_how_to_read_on() -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    cut = shortened(text, 1_000, "narrow the pattern")
    assert cut.startswith("line 0\n")
    assert cut.endswith("line 1999\n")
    assert "characters left out; narrow the pattern ...]" in cut
    assert len(cut) < 1_150
    lines = cut.splitlines()
    assert all(line in text.splitlines() for line in lines if line and not line.startswith("[..."))
    assert shortened("x" * 1_000, 1_000, "") == "x" * 1_000
    assert len(shortened("x" * 5_000, 1_000, "a")) < 1_100  # one line alone is cut inside

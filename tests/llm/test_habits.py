"""Every habit of a real endpoint, played over HTTP to all layers of the model stack."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.docs_scripts import up_to_date
from tests.llm.habits_held import HELD, Again, Fails, Same

from swarmgate.agents.conversation.replies import answers, with_own_ids
from swarmgate.config import Config
from swarmgate.errors import EndpointFailed
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import connect
from swarmgate.llm.events import ModelEvent, Retrying
from swarmgate.llm.model import Message, ModelReply, ModelRequest, ToolSpec
from swarmgate.testing import ScriptedServer
from swarmgate.testing.habits import HABITS
from swarmgate.testing.habits.habit import same_completion
from swarmgate.testing.habits.reasoning import THOUGHT

TEXT = "I look at two files."
SUMMARY = "it's \"done\", 100 %\n[1, 2] {x: 'y'}"
WANTED = [[("read_file", {"path": "a.py"}), ("run_gates", {})], [("finish", {"summary": SUMMARY})]]
COUNTS = {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 0}
PACE = 0.001
"""Of the pauses of habits: 70 s become 0.07, nine minutes half a second."""


def _spec(name: str, *keys: str) -> ToolSpec:
    properties = {key: {"type": "string"} for key in keys}
    schema = {"type": "object", "properties": properties, "required": list(keys), "additionalProperties": False}
    return ToolSpec(name=name, description=f"{name}.", parameters=schema)


TOOLS = (_spec("read_file", "path"), _spec("run_gates"), _spec("finish", "summary"))


@dataclass
class Talk:
    """Two turns with an endpoint, as the loop has them."""

    replies: list[ModelReply] = field(default_factory=list)
    told: list[ModelEvent] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    @property
    def calls(self) -> list[list[tuple[str, Any]]]:
        return [[(call.name, json.loads(call.arguments)) for call in reply.tool_calls] for reply in self.replies]

    @property
    def retries(self) -> int:
        return sum(isinstance(each, Retrying) for each in self.told)


async def converse(habit: str, *, turns: int = 2, pace: float = PACE, **provider: Any) -> Talk:
    talk = Talk()
    messages = [Message(role="system", content="You code."), Message(role="user", content="ROLE: coder\n\nWrite it.")]

    async def sleep(seconds: float) -> None:
        talk.waits.append(seconds)

    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=sum(talk.waits))

    with ScriptedServer(script(calls_of(habit), text_of(habit)), habits=[habit], pace=pace) as server:
        local = {"base_url": server.base_url, "max_retries": 3, **provider}
        role = {"model": "local/m", "temperature": 0.2, "max_tokens": 1000}
        config = Config.model_validate({"providers": {"local": local}, "roles": {"default": role}})
        model = connect(
            "coder",
            config,
            environ={},
            recorder=None,
            budget=Budget(),
            on_event=talk.told.append,
            sleep=sleep,
            clock=clock,
        )
        try:
            for _ in range(turns):
                reply = await model.complete(ModelRequest(messages=tuple(messages), tools=TOOLS))
                talk.replies.append(with_own_ids(reply, messages))
                results = [f"result of {call.name}" for call in talk.replies[-1].tool_calls]
                messages += answers(talk.replies[-1], results, "Call a tool.")
        finally:
            await model.aclose()
    return talk


def script(calls: list[list[tuple[str, Any]]], text: str = TEXT) -> Any:
    """What the model says, turn by turn."""
    first, second = ([{"name": name, "arguments": given} for name, given in turn] for turn in calls)
    replies = [{"text": text, "tool_calls": first, "usage": COUNTS}, {"tool_calls": second, "usage": COUNTS}]
    return [{"replies": replies}]


def text_of(habit: str) -> str:
    """What the first reply says beside its calls; nothing where that is what the endpoint will not have back."""
    return "" if habit.startswith("content-") else TEXT


def calls_of(habit: str) -> list[list[tuple[str, Any]]]:
    """The calls of both turns; the old field holds one."""
    return [WANTED[0][:1], WANTED[1]] if habit == "function-call-legacy" else WANTED


WHOLE = {"json-asked-stream-given", "answer-late", "blank-lines-first", "gzip", "page-with-200", "error-with-200"}
"""Habits that say something of answers that are not streamed, and change no message."""


def names() -> list[str]:
    return [each.name for each in HABITS]


def held(outcome: type) -> list[Any]:
    """The habits with such an outcome, streamed, and whole where a habit says more than something about streams."""
    return [
        pytest.param(each.name, stream, id=f"{each.name}-{'streamed' if stream else 'whole'}")
        for each in HABITS
        if isinstance(HELD.get(each.name), outcome)
        for stream in ((True, False) if each.complete is not same_completion or each.name in WHOLE else (True,))
    ]


def test_every_habit_has_an_outcome_a_source_and_a_name_of_its_own() -> None:
    assert sorted(HELD) == sorted(set(names()))
    assert len(names()) == len(set(names())) >= 60
    for each in HABITS:
        assert re.search(r"https://\S+\.\S+", each.source), each.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|gzip", each.name)
        assert each.about.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize(("habit", "stream"), held(Same))
async def test_read_the_same(habit: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    outcome = HELD[habit]
    assert isinstance(outcome, Same)
    talk = await converse(habit, stream=stream)
    if habit == "call-arguments-must-be-json":
        assert [len(reply.tool_calls) for reply in talk.replies] == [2, 1]
    else:
        assert talk.calls == calls_of(habit)
    if outcome.text:
        assert [reply.text for reply in talk.replies] == [text_of(habit), ""]
    for reply in talk.replies:
        assert THOUGHT not in reply.text or not outcome.text
        assert "only thought of" not in str(reply.tool_calls)
    if outcome.usage and talk.retries == 0:
        assert [(reply.usage.prompt_tokens, reply.usage.completion_tokens) for reply in talk.replies] == [(100, 20)] * 2
    assert all(reply.usage.tokens for reply in talk.replies)
    if stream or outcome.waits:
        assert talk.retries == outcome.retries
    if outcome.waits:
        assert re.fullmatch(outcome.waits, f"{sum(talk.waits):.0f}"), talk.waits


@pytest.mark.slow
@pytest.mark.parametrize(("habit", "stream"), held(Fails))
async def test_fails_and_says_what_is_so(habit: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    outcome = HELD[habit]
    assert isinstance(outcome, Fails)
    with pytest.raises(EndpointFailed) as caught:
        await converse(habit, stream=stream)
    assert re.search(outcome.says, caught.value.message), caught.value.message
    assert re.search(outcome.hint, caught.value.hint), caught.value.hint
    assert "<html" not in caught.value.message.lower()
    assert "goal that says more" not in caught.value.hint


@pytest.mark.parametrize(("habit", "stream"), held(Again))
async def test_nothing_is_called_and_the_turn_asks_again(habit: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    outcome = HELD[habit]
    assert isinstance(outcome, Again)
    talk = await converse(habit, stream=stream, turns=1)
    (reply,) = talk.replies
    assert THOUGHT not in reply.text
    if reply.finish_reason != "length":
        assert reply.tool_calls == ()
    assert re.search(outcome.reason, reply.finish_reason), reply.finish_reason
    assert reply.usage.tokens


@pytest.mark.slow
@pytest.mark.parametrize(
    "habit", [each.name for each in HABITS if each.group == "reasoning" and each.name != "think-unclosed"]
)
async def test_calls_in_text_are_never_read_out_of_thinking(habit: str) -> None:
    """Thinking holds a call of `finish`; the model's own call stands behind it."""
    talk = await converse(habit, tools=False)
    assert "only thought of" not in str([reply.tool_calls for reply in talk.replies])
    assert talk.calls == WANTED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("habit", "limits", "says"),
    [
        ("stream-arguments-buffered", {"silence_s": 1}, "of silence .silence_s"),
        ("stream-first-token-late", {"first_byte_s": 1}, "no answer began .* .first_byte_s"),
        ("answer-late", {"first_byte_s": 1}, "no answer began .* .first_byte_s"),
    ],
)
async def test_what_is_waited_for_ends_where_the_settings_say(habit: str, limits: dict[str, Any], says: str) -> None:
    with pytest.raises(EndpointFailed) as caught:
        await converse(habit, pace=0.03, max_retries=0, **limits)
    assert re.search(says, caught.value.message), caught.value.message
    assert "raise it" in caught.value.hint


async def test_a_habit_that_there_is_not() -> None:
    from swarmgate.errors import UsageError
    from swarmgate.testing.habits import named

    with pytest.raises(UsageError, match="no habit `deepseek-reasoning`") as caught:
        named(["deepseek-reasoning"])
    assert "deepseek-reasoning-must-return" in caught.value.hint


def test_the_page_shows_the_habits_as_they_are() -> None:
    assert up_to_date("render_habits"), "run: python docs/render_habits.py"

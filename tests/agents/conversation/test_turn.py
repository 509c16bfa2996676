"""The loop against every kind of reply that is of no use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmgate.agents.context import AgentContext, ToolUse
from swarmgate.agents.roles.coder import code
from swarmgate.domain.plan.plan import Task
from swarmgate.errors import EndpointFailed, MissingRequirement, NoUsableReply
from swarmgate.llm.model import CallFailed, ModelReply, ToolCall
from swarmgate.llm.scripted import Scripted

OpenDesk = Callable[..., tuple[AgentContext, Any]]
Say = Callable[..., ToolCall]
BAD: dict[str, tuple[Scripted, str]] = {
    "text": ("I am done.", "text without a tool call"),
    "empty": ("", "empty"),
    "blank": ("  \n", "empty"),
    "cut off": (ModelReply(text="x" * 9000, finish_reason="length"), "cut off"),
    "too long": (ModelReply(text="x" * 4000, finish_reason="too_long"), "cut off"),
    "cut off inside a call": (
        ModelReply(tool_calls=(ToolCall(id="c", name="finish", arguments='{"summary": "a'),), finish_reason="length"),
        "cut off",
    ),
    "broken json": (ToolCall(id="c", name="read_file", arguments='{"path": "a.py'), "not valid JSON"),
    "no object": (ToolCall(id="c", name="read_file", arguments="[1]"), "must be a JSON object"),
    "deep json": (ToolCall(id="c", name="read_file", arguments="[" * 100_000), "read_file"),
    "unknown key": (ToolCall(id="c", name="read_file", arguments='{"path": "a", "start": 1}'), "`start_line`"),
    "missing key": (ToolCall(id="c", name="write_file", arguments='{"path": "a.py"}'), "`content`: is missing"),
    "wrong type": (ToolCall(id="c", name="read_file", arguments='{"path": 7}'), "`path`: must be a valid string"),
    "unknown tool": (ToolCall(id="c", name="read_fiel", arguments="{}"), "Did you mean read_file?"),
    "another role's tool": (ToolCall(id="c", name="save_plan", arguments="{}"), "not offered it at this step"),
    "two endings": (
        ModelReply(
            tool_calls=tuple(ToolCall(id=n, name="finish", arguments=f'{{"summary": "{n}"}}') for n in ("a", "b"))
        ),
        "one time",
    ),
}


async def coding(agent: AgentContext, task: Task) -> str:
    async def gates() -> str:
        return "all gates pass"

    done = await code(agent, task=task, attempt=1, scope=task.files, instructions="x", feedback="", run_gates=gates)
    assert isinstance(done, str)
    return done


@pytest.mark.parametrize(("reply", "told"), BAD.values(), ids=BAD)
async def test_an_unusable_reply_goes_back_with_what_is_wrong_and_the_turn_goes_on(
    make_agent: OpenDesk, say: Say, task: Task, reply: Scripted, told: str
) -> None:
    agent, model = make_agent(reply, say("finish", summary="done"))
    assert await coding(agent, task) == "done"
    assert told in model.heard
    shapes = [message.role for message in model.requests[-1].messages]
    assert shapes[:3] == ["system", "user", "assistant"]
    assert shapes.count("system") == shapes.count("assistant") == 1


@pytest.mark.parametrize(("reply", "told"), BAD.values(), ids=BAD)
async def test_unusable_replies_are_bounded(make_agent: OpenDesk, task: Task, reply: Scripted, told: str) -> None:
    agent, model = make_agent(*[reply] * 9)
    with pytest.raises(NoUsableReply, match=r"coder \(code\), model local/coder-1") as caught:
        await coding(agent, task)
    assert told in caught.value.message
    assert len(model.requests) == 3  # limits.replies = 2 are sent back


async def test_a_complaint_names_the_tools_and_what_ends_the_turn(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, model = make_agent("text", say("finish", summary=""))
    await coding(agent, task)
    assert "run_command, run_gates, finish" in model.heard
    assert "End your turn with finish" in model.heard


async def test_a_usable_reply_starts_the_count_anew(make_agent: OpenDesk, say: Say, task: Task) -> None:
    look = say("list_files")
    agent, _ = make_agent("a", "b", look, "c", "d", look, say("finish", summary="done"))
    assert await coding(agent, task) == "done"


@pytest.mark.slow
async def test_the_number_of_calls_is_bounded(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, model = make_agent(*(say("search", pattern=f"x{number}") for number in range(99)))
    with pytest.raises(NoUsableReply, match="within 12 model calls"):
        await coding(agent, task)
    assert len(model.requests) == 12


async def test_calls_of_one_reply_run_in_order_and_the_one_that_ends_the_turn_is_the_last(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    calls = (
        say("write_file", path="a.txt", content="one"),
        say("edit_file", path="a.txt", old="one", new="two"),
        say("finish", summary="done"),
        say("delete_file", path="a.txt"),
    )
    agent, model = make_agent(ModelReply(tool_calls=calls), ModelReply(tool_calls=calls[:3]))
    assert await coding(agent, task) == "done"
    assert "finish ends your turn, and delete_file stands behind it" in model.heard
    assert (repo / "a.txt").read_text() == "two"


async def test_each_call_gets_its_result_also_beside_a_bad_one(make_agent: OpenDesk, say: Say, task: Task) -> None:
    calls = (
        ToolCall(id="x", name="read_file", arguments='{"path": "README.md"}'),
        ToolCall(id="y", name="read_file", arguments="{"),
        ToolCall(id="x", name="read_file", arguments='{"path": "nope"}'),
    )
    agent, model = make_agent(ModelReply(tool_calls=calls), say("finish", summary="done"))
    await coding(agent, task)
    _, _, asked, *results = model.requests[-1].messages
    assert [call.id for call in asked.tool_calls] == [result.tool_call_id for result in results]
    assert len({result.tool_call_id for result in results}) == 3
    assert results[0].tool_call_id == "x"
    assert results[0].content == "# Demo\n"
    assert "not valid JSON" in results[1].content
    assert "there is no file `nope`" in results[2].content


async def test_ids_that_an_endpoint_uses_again_are_told_apart(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, model = make_agent(say("list_files"), say("list_files"), say("finish", summary=""))
    await coding(agent, task)
    ids = [message.tool_call_id for message in model.requests[-1].messages if message.role == "tool"]
    assert len(set(ids)) == 2


async def test_the_brief_stays_and_the_purpose_is_for_traces(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, model = make_agent(say("list_files"), say("finish", summary=""))
    await coding(agent, task)
    first, last = model.requests
    assert first.messages == last.messages[:2]
    tokens = str(-(-len(model.brief) // 4))
    assert first.purpose == {"role": "coder", "step": "code", "task": "1.2", "attempt": "1", "brief_tokens": tokens}


async def test_progress_is_told(make_agent: OpenDesk, say: Say, task: Task) -> None:
    seen: list[ToolUse] = []
    agent, _ = make_agent(say("search", pattern="a\nb" * 200), say("finish", summary="x"), on_tool=seen.append)
    await coding(agent, task)
    assert [(use.role, use.tool) for use in seen] == [("coder", "search"), ("coder", "finish")]
    assert "\n" not in seen[0].summary
    assert len(seen[0].summary) < 90
    assert [use.problem for use in seen] == ["", ""]


async def test_edits_commands_and_words_are_told_with_what_came_of_them(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    (repo / "many.txt").write_text("".join(f"line {number}\r\n" for number in range(2000)))
    (repo / "large.txt").write_text("a line\n" * 40_000)
    seen: list[ToolUse] = []
    words: list[tuple[str, str]] = []
    calls = (
        say("write_file", path="src/new.py", content="A = 1\nB = 2\n"),
        say("edit_file", path="src/new.py", old="A = 1", new="A = 3"),
        say("write_file", path="many.txt", content="nothing\n"),
        say("write_file", path="large.txt", content="less\n"),
        say("delete_file", path="src/new.py"),
        say("run_command", command="seq 1000; exit 3"),
        say("run_command", command="echo fine"),
    )
    told = ModelReply(text=" I write it first.\n", tool_calls=calls)
    agent, _ = make_agent(
        told,
        say("finish", summary="x"),
        on_tool=seen.append,
        on_words=lambda role, said: words.append((role, said)),
    )
    await coding(agent, task)
    new, edit, many, large, deleted, failing, passing, _ = seen
    assert words == [("coder", "I write it first.")]
    assert (new.outcome, edit.outcome, deleted.outcome) == ("+2 -0", "+1 -1", "+0 -2")
    assert edit.detail.splitlines() == ["@@ -1,2 +1,2 @@", "-A = 1", "+A = 3", " B = 2"]
    assert many.outcome == "+1 -2000"
    assert len(many.detail.splitlines()) == 401
    assert (large.outcome, large.detail) == ("", "")  # too large to be compared
    assert failing.failed
    assert failing.outcome.startswith("exit code 3 after ")
    assert failing.detail.splitlines()[-1] == "1000"
    assert len(failing.detail.splitlines()) == 401
    assert (passing.failed, passing.detail) == (False, "--- stdout\nfine")
    assert [use.failed for use in (new, edit, many, large, deleted)] == [False] * 5


async def test_a_call_that_did_not_succeed_is_told_as_such(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    (repo / "log.txt").write_text("Error: what a program printed\n")
    seen: list[ToolUse] = []
    calls = (
        say("read_file", path="nope"),
        say("write_file", path=".swarm/plan.json", content="{}"),
        say("read_file", wrong=1),
        say("x\n" * 200),
        say("read_file", path="log.txt"),
    )
    agent, _ = make_agent(ModelReply(tool_calls=calls), say("finish", summary="x"), on_tool=seen.append)
    await coding(agent, task)
    *failed, shown, finished = seen
    told = ["there is no file `nope`", "`.swarm` belongs to swarmgate", "The arguments of read_file", "no such tool"]
    assert [words in use.problem for words, use in zip(told, failed, strict=True)] == [True] * 4
    assert failed[0].summary == "nope"
    assert all("\n" not in use.tool + use.problem and len(use.tool + use.problem) < 300 for use in failed)
    assert (shown.problem, finished.problem) == ("", "")


async def test_what_no_model_can_mend_ends_the_turn(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, _ = make_agent(CallFailed("gone"))
    with pytest.raises(EndpointFailed):
        await coding(agent, task)

    async def gates() -> str:
        raise MissingRequirement("ruff is not installed")

    agent, _ = make_agent(say("run_gates"))
    with pytest.raises(MissingRequirement):
        await code(agent, task=task, attempt=1, scope=(), instructions="x", feedback="", run_gates=gates)


async def test_cancelling_ends_the_turn(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, _ = make_agent(say("run_command", command="sleep 5"))
    turn = asyncio.create_task(coding(agent, task))
    await asyncio.sleep(0.1)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

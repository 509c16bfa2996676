"""The breakers around a whole turn: that they end it, also where it hangs, and what is told of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.roles.architect import delegate
from swarmgate.agents.roles.coder import code
from swarmgate.config.guards import Bounds
from swarmgate.domain.guard import Effect, GuardNote, LiveTurn, Turn
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.domain.usage import Usage
from swarmgate.errors import BreakerTripped, EndpointFailed
from swarmgate.llm.limits.worktime import standing_still
from swarmgate.llm.model import CallFailed, ModelReply, ModelRequest, ToolCall

OpenDesk = Callable[..., tuple[AgentContext, Any]]
Say = Callable[..., ToolCall]


async def coding(agent: AgentContext, task: Task) -> str:
    async def gates() -> str:
        return "all gates pass"

    done = await code(agent, task=task, attempt=1, scope=task.files, instructions="x", feedback="", run_gates=gates)
    assert isinstance(done, str)
    return done


def limits(*, replies: int = 3, context_tokens: int = 128_000, **bounds: Any) -> Limits:
    return Limits(replies=replies, bounds=Bounds().model_copy(update=bounds), context_tokens=context_tokens)


async def test_a_repetition_is_warned_of_in_the_result_and_then_stopped(
    make_agent: OpenDesk, say: Say, task: Task
) -> None:
    notes: list[GuardNote] = []
    turns: list[Turn] = []
    agent, model = make_agent(
        *[say("read_file", path="README.md")] * 9, limits=limits(), on_guard=notes.append, on_turn=turns.append
    )
    with pytest.raises(BreakerTripped) as caught:
        await coding(agent, task)
    assert len(model.requests) == 5
    results = [message.content for message in model.requests[-1].messages if message.role == "tool"]
    assert [result.splitlines()[0] for result in results] == ["# Demo"] * 4
    assert ["[Breaker: " in result for result in results] == [False, False, True, True]
    assert caught.value.last == ('read_file {"path": "README.md"} -> # Demo',) * 4
    warned, stopped = notes
    assert (stopped.rule, stopped.effect, stopped.role, stopped.attempt) == ("breaker", Effect.REJECTED, "coder", 1)
    assert stopped.detail == f"repeats: {caught.value.message}"
    assert (warned.effect, warned.count) == (Effect.WARNED, 1)
    assert warned.detail == 'repeats: 4 times read_file {"path": "README.md"}'
    (turn,) = turns
    assert (turn.tripped, turn.calls, turn.tool_calls, turn.repeats, turn.rereads) == ("repeats", 5, 5, 5, 3)
    assert turn.brief_tokens == -(-len(model.brief) // 4)


async def test_refusals_of_the_policy_by_different_rules_are_no_row_of_errors(
    make_agent: OpenDesk, say: Say, task: Task
) -> None:
    lines = ["git add a", "git push", "git add b", "sudo ls", "git add c"]
    refused = [say("run_command", command=line) for line in lines]
    agent, model = make_agent(*refused, say("finish", summary="x"), limits=limits(errors=2))
    await coding(agent, task)
    results = [message.content for message in model.requests[-1].messages if message.role == "tool"]
    assert [result.splitlines()[0] for result in results] == ["Error: the command was not run:"] * 5
    again = [say("run_command", command=line) for line in ("git add a", "git add b")]
    agent, _ = make_agent(*again, limits=limits(errors=2))
    with pytest.raises(BreakerTripped, match="2 tool calls in a row that failed"):
        await coding(agent, task)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["run_command", "run_gates"])
async def test_the_wall_time_ends_a_tool_that_hangs_and_its_processes(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path, tool: str
) -> None:
    async def gates() -> str:
        await asyncio.sleep(60)
        return ""

    arguments = {"command": "sleep 61 & sleep 0.5; touch late; sleep 62"} if tool == "run_command" else {}
    turns: list[Turn] = []
    agent, _ = make_agent(say(tool, **arguments), limits=limits(wall_time_s=0.3), on_turn=turns.append)
    started = time.monotonic()
    with pytest.raises(BreakerTripped, match=r"did not end its turn within 0\.3 s") as caught:
        await code(agent, task=task, attempt=1, scope=(), instructions="x", feedback="", run_gates=gates)
    assert time.monotonic() - started < 40  # it hangs for 60
    assert caught.value.breaker == "wall_time"
    await asyncio.sleep(0.4)
    assert not (repo / "late").exists()
    assert turns[0].tripped == "wall_time"
    assert turns[0].seconds >= 0.3


async def test_the_wall_time_ends_a_model_call_that_hangs(make_agent: OpenDesk, say: Say, task: Task) -> None:
    class Hanging:
        name = "local/slow"

        async def complete(self, request: ModelRequest) -> ModelReply:
            await asyncio.sleep(60)
            raise AssertionError(request)

    agent, _ = make_agent(limits=limits(wall_time_s=0.1))
    agent = AgentContext(**{**vars(agent), "model": Hanging()})
    with pytest.raises(BreakerTripped, match="model local/slow: did not end"):
        await coding(agent, task)


async def test_a_time_limit_of_somebody_else_is_not_the_turns(make_agent: OpenDesk, say: Say, task: Task) -> None:
    agent, _ = make_agent(say("run_command", command="sleep 60"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await coding(agent, task)


async def test_tokens_of_a_turn_are_bounded_and_an_end_within_them_counts(
    make_agent: OpenDesk, say: Say, task: Task
) -> None:
    def used(call: ToolCall) -> ModelReply:
        return ModelReply(tool_calls=(call,), usage=Usage(calls=1, prompt_tokens=50, completion_tokens=10))

    turns: list[Turn] = []
    look, end = used(say("list_files")), used(say("finish", summary="done"))
    agent, _ = make_agent(look, end, limits=limits(tokens=100), on_turn=turns.append)
    assert await coding(agent, task) == "done"
    agent, _ = make_agent(look, used(say("search", pattern="x")), end, limits=limits(tokens=100), on_turn=turns.append)
    with pytest.raises(BreakerTripped, match="used 120 tokens; a turn may use 100"):
        await coding(agent, task)
    assert [(turn.tokens, turn.tripped) for turn in turns] == [(120, ""), (120, "tokens")]


async def test_a_stopped_delegation_rejects_no_attempt(
    make_agent: OpenDesk, task: Task, other: Task, plan: Plan
) -> None:
    notes: list[GuardNote] = []
    agent, _ = make_agent(*["hm"] * 9, limits=limits(), on_guard=notes.append)
    with pytest.raises(BreakerTripped, match="3 replies in a row without a tool call"):
        await delegate(agent, task=task, attempt=1, plan=plan, feedback="", others={"1.3": other})
    assert [note.effect for note in notes] == [Effect.STOPPED]


async def test_a_turn_that_fails_is_told_too(make_agent: OpenDesk, say: Say, task: Task) -> None:
    turns: list[Turn] = []
    bad = say("read_file", path="nope")
    agent, _ = make_agent(say("list_files"), bad, CallFailed("gone"), on_turn=turns.append)
    with pytest.raises(EndpointFailed):
        await coding(agent, task)
    (turn,) = turns
    assert (turn.role, turn.step, turn.attempt, turn.model) == ("coder", "code", 1, "local/coder-1")
    assert (turn.calls, turn.tool_calls, turn.errors, turn.tripped) == (3, 2, 1, "")


async def test_counts_are_shown_before_each_call_and_taken_away_at_the_end(
    make_agent: OpenDesk, say: Say, task: Task
) -> None:
    shown: list[LiveTurn | None] = []
    agent, _ = make_agent(say("list_files"), say("finish", summary=""), limits=limits(), on_count=shown.append)
    await coding(agent, task)
    *live, end = shown
    assert end is None
    assert [(each.role, each.step, each.task, each.attempt) for each in live if each] == [
        ("coder", "code", "1.2", 1)
    ] * 3
    assert [each.breakers[0].count for each in live if each] == [0, 1, 1]
    assert all(abs(each.began - time.time()) < 5 for each in live if each)


async def test_the_clock_that_is_shown_stands_still_with_that_of_the_turn_and_is_gone_with_it(
    make_agent: OpenDesk, say: Say, task: Task
) -> None:
    shown: list[LiveTurn | None] = []
    ended = asyncio.Event()
    left: list[asyncio.Task[None]] = []

    async def outlives() -> None:
        with standing_still():
            await ended.wait()

    async def gates() -> str:
        with standing_still():
            await asyncio.sleep(0)
        left.append(asyncio.create_task(outlives()))
        await asyncio.sleep(0)
        return "all gates pass"

    agent, _ = make_agent(say("run_gates"), say("finish", summary=""), limits=limits(), on_count=shown.append)
    await code(agent, task=task, attempt=1, scope=task.files, instructions="x", feedback="", run_gates=gates)
    assert [each.stands for each in shown if each] == [False, False, True, False, True, True]
    assert shown[-1] is None
    ended.set()
    await left[0]
    assert shown[-1] is None


async def test_a_small_window_cuts_results_and_drops_the_oldest(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    for number in range(9):
        (repo / f"f{number}.txt").write_text("".join(f"{number} line {line}\n" for line in range(3_000)))
    turns: list[Turn] = []
    reads = [say("read_file", path=f"f{number}.txt") for number in range(9)]
    agent, model = make_agent(
        *reads, say("finish", summary="x"), limits=limits(context_tokens=8_000), on_turn=turns.append
    )
    await coding(agent, task)
    last = model.requests[-1].messages
    assert last[:2] == model.requests[0].messages
    results = [message.content for message in last if message.role == "tool"]
    assert results[0].startswith('[The result of read_file {"path": "f0.txt"} was dropped')
    assert results[-1].startswith("8 line 0\n")
    assert "call read_file with start_line=" in results[-1]
    assert "characters left out" not in results[-1]  # its own last line says it
    assert turns[0].dropped >= 4
    for request in model.requests:
        assert sum(len(message.content) for message in request.messages) < 8_000 * 4


async def test_a_long_result_of_another_tool_is_cut_in_the_middle(
    make_agent: OpenDesk, say: Say, task: Task, repo: Path
) -> None:
    (repo / "many.txt").write_text("needle\n" * 199)
    agent, model = make_agent(
        say("search", pattern="needle"), say("finish", summary="x"), limits=limits(context_tokens=2_000)
    )
    await coding(agent, task)
    assert "characters left out; narrow the pattern or the glob ...]" in model.heard
    assert model.heard.startswith("many.txt:1: needle\n")
    assert "many.txt:199: needle" in model.heard

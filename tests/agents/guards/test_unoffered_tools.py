"""Tools that a role is not offered: refused, on record, and for the architect's own code bounded over a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.architect import close_phase, delegate
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.errors import SelfCodingBlocked
from swarmgate.llm.model import ModelReply, ToolCall

OpenDesk = Callable[..., tuple[AgentContext, Any]]
Say = Callable[..., ToolCall]
END = ToolCall(id="end", name="close_phase", arguments='{"summary": "done", "decisions": [], "lessons": []}')


async def closing(make_agent: OpenDesk, *calls: Any, **changes: Any) -> tuple[Any, list[GuardNote]]:
    notes: list[GuardNote] = []
    agent, model = make_agent(*calls, on_guard=notes.append, **changes)
    await close_phase(agent, phase=1, name="One", report="all done")
    return model, notes


async def test_the_first_two_writes_are_warned_of_and_not_carried_out(
    make_agent: OpenDesk, say: Say, repo: Path
) -> None:
    before = (repo / "src/app.py").read_text()
    write, remove = say("write_file", path="src/app.py", content="x"), say("delete_file", path="src/app.py")
    model, notes = await closing(make_agent, write, remove, END)
    heard = [message.content for message in model.requests[-1].messages if message.role == "tool"]
    assert ["Warning 1 of 2" in heard[0], "Warning 2 of 2" in heard[1]] == [True, True]
    assert "SELF_CODING_BLOCK" not in "".join(heard)
    assert [(note.rule, note.effect, note.role, note.step) for note in notes] == [
        ("self-coding", Effect.WARNED, "architect", "close_phase")
    ] * 2
    assert "write_file" in notes[0].detail
    assert "src/app.py" in notes[0].detail
    assert (repo / "src/app.py").read_text() == before


async def test_the_third_stops_the_turn(make_agent: OpenDesk, say: Say) -> None:
    notes: list[GuardNote] = []
    write = say("edit_file", path="src/app.py", old="a", new="b")
    agent, model = make_agent(write, ModelReply(tool_calls=(write, write, END)), END, on_guard=notes.append)
    with pytest.raises(SelfCodingBlocked, match="SELF_CODING_BLOCK") as raised:
        await close_phase(agent, phase=1, name="One", report="x")
    assert (raised.value.code, raised.value.exit_code) == ("SELF_CODING_BLOCK", 1)
    assert [note.effect for note in notes] == [Effect.WARNED, Effect.WARNED, Effect.STOPPED]
    assert len(model.requests) == 2


@pytest.mark.parametrize(("before", "stops"), [(1, False), (2, True), (7, True)])
async def test_the_count_goes_on_over_the_run(make_agent: OpenDesk, say: Say, before: int, stops: object) -> None:
    calls = (say("write_file", path="a.py", content="x"), END)
    if not stops:
        await closing(make_agent, *calls, self_coding=lambda: before)
        return
    with pytest.raises(SelfCodingBlocked):
        await closing(make_agent, *calls, self_coding=lambda: before)


async def test_a_malformed_call_counts_as_well(make_agent: OpenDesk) -> None:
    _, notes = await closing(make_agent, ToolCall(id="c", name="write_file", arguments="{broken"), END)
    assert [note.rule for note in notes] == ["self-coding"]


async def test_other_tools_are_refused_and_on_record_without_a_count(
    make_agent: OpenDesk, say: Say, task: Task, plan: Plan
) -> None:
    notes: list[GuardNote] = []
    run = say("run_command", command="echo x > src/app.py")
    done = say("delegate", instructions="do it")
    agent, model = make_agent(run, say("no_such_tool"), done, on_guard=notes.append)
    await delegate(agent, task=task, attempt=2, plan=plan, feedback="", others={})
    assert [(note.rule, note.effect, note.step, note.attempt) for note in notes] == [
        ("authority", Effect.REFUSED, "delegate", 2)
    ]
    assert "run_command, which it is not offered" in notes[0].detail
    assert "not offered" in json.dumps([message.content for message in model.requests[1].messages])


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("update_task_status", True),
        ("complete_task", True),
        ("mark_task_done", True),
        ("setTaskState", True),
        ("TaskUpdate", True),
        ("update-task-status", True),
        ("list_tasks", False),
        ("finish_line", False),
    ],
)
async def test_no_call_moves_a_task_and_who_tries_is_told_how_one_completes(
    make_agent: OpenDesk, say: Say, name: str, *, moves: bool
) -> None:
    model, notes = await closing(make_agent, say(name, task_id="1.1", status="completed"), END)
    (heard,) = [message.content for message in model.requests[-1].messages if message.role == "tool"]
    assert ("INVALID_TASK_STATE_TRANSITION: no call moves a task" in heard) is moves
    assert "there is no such tool" in heard
    assert bool(notes) is moves

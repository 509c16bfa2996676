"""When an edit counts during a step, on a real ledger and without a run: `PlanEdits` looks, waits, and cuts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.domain.story import delegated, started

from swarmgate.config import Automation
from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import Step
from swarmgate.engine.between_steps.plan_edits import PlanEdits
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger


class Surroundings(SimpleNamespace):
    """As much of a step's `Context` as edits ask for, with a ledger in which task 1.1 is worked at."""

    told: list[str]
    folder: SwarmFolder

    def notify(self, kind: str, text: str) -> None:
        assert kind == "notice"
        self.told.append(text)


@pytest.fixture
def ctx(tmp_path: Path) -> Any:
    folder = SwarmFolder(tmp_path)
    folder.runtime.mkdir(parents=True)
    with Ledger.write(folder) as ledger:
        ledger.append([*started(), delegated("1.1")], expect=0)
        yield Surroundings(
            ledger=ledger,
            folder=folder,
            repository=None,
            config=SimpleNamespace(automation=Automation(debounce_s=0.05)),
            commands=SimpleNamespace(sandbox=SimpleNamespace(name="bubblewrap")),
            told=[],
        )


def edit(ctx: Any, task: str, title: str) -> None:
    text = ctx.folder.plan_md.read_text()
    assert f"Task {task}: " in text
    ctx.folder.plan_md.write_text(text.replace(f"Task {task}: ", f"Task {task}: {title} "))


def test_an_edit_rests_when_it_was_there_at_the_last_look_and_is_judged_once(ctx: Any) -> None:
    edits = PlanEdits(ctx)
    assert [edits._rests() for _ in range(3)] == [False, False, False]
    edit(ctx, "1.2", "Other")
    assert [edits._rests() for _ in range(4)] == [False, True, False, False]
    edit(ctx, "1.2", "Still another")  # goes on
    assert not edits._rests()
    edit(ctx, "1.2", "And another")
    assert [edits._rests() for _ in range(3)] == [False, True, False]


async def _cut(ctx: Any, task: str) -> bool:
    """Whether a step of the running task ends early because a task is edited in its course."""
    ended = asyncio.Event()

    async def work() -> list[Event]:
        edit(ctx, task, "Changed")
        await asyncio.sleep(0.6)
        ended.set()
        return []

    assert await PlanEdits(ctx).cut_short(Step.CODE, work()) == []
    return not ended.is_set()


async def test_an_edit_of_the_running_task_ends_its_step(ctx: Any) -> None:
    assert await _cut(ctx, "1.1")
    assert ctx.told == ["task 1.1 was changed in plan.md: its attempt ends here"]


@pytest.mark.slow
async def test_an_edit_of_another_task_does_not(ctx: Any) -> None:
    assert not await _cut(ctx, "1.2")
    assert ctx.told == []


@pytest.mark.slow
async def test_without_a_sandbox_no_edit_ends_a_step_since_the_agent_may_have_made_it(ctx: Any) -> None:
    ctx.commands.sandbox.name = "none"
    assert not await _cut(ctx, "1.1")
    assert ctx.told == []


async def test_a_file_that_somebody_is_writing_between_two_steps_is_left_for_later(ctx: Any) -> None:
    edits = PlanEdits(ctx)
    edit(ctx, "1.2", "Half")

    async def goes_on() -> None:
        await asyncio.sleep(0.02)
        edit(ctx, "1.2", "A whole")

    writing = asyncio.ensure_future(goes_on())
    seq = ctx.ledger.state.seq
    await edits.take_in(ctx.ledger.state)
    await writing
    assert ctx.ledger.state.seq == seq
    await edits.take_in(ctx.ledger.state)
    assert ctx.told == ["your edit of plan.md was taken into the plan"]

"""When a scope violation stands at the head of the architect's next brief."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from immutables import Map

from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Phase, Plan, Task
from swarmgate.domain.state.state import Attempt, PhaseRecord, State, TaskRecord
from swarmgate.engine.steps.coding.coder import scope_violation

TASK = Task(id="1.1", title="T", acceptance=("a",), files=("a.py",))
PLAN = Plan(title="P", phases=(Phase(name="One", tasks=(TASK,)),))
FIRST = Attempt(
    number=1,
    kind=AttemptKind.CODER,
    scope=("a.py",),
    instructions="",
    tree="t",
    seq=1,
    started="",
    captured=True,
    outside=("x.py", "y.py", "z.py"),
)


def state(effect: Effect, *attempts: Attempt) -> State:
    note = GuardNote(rule="scope", effect=effect, detail="3 files", attempt=1)
    record = TaskRecord(attempts=attempts or (FIRST,), guards=(note,))
    return State(plan=PLAN, tasks=Map({"1.1": record}), last="1.1")


@pytest.mark.parametrize(("effect", "told"), [(Effect.NOTED, 0), (Effect.WARNED, 1), (Effect.REJECTED, 1)])
def test_it_is_told_where_it_was_one(effect: Effect, told: int) -> None:
    assert len(scope_violation(state(effect))) == told


def test_it_names_what_was_declared_and_what_was_changed() -> None:
    (section,) = scope_violation(state(Effect.WARNED))
    assert "Declared:\n- a.py\nChanged outside of that:\n- x.py\n- y.py\n- z.py" in section.text


def test_it_is_told_while_the_next_attempt_runs_and_not_after_its_change() -> None:
    running = changed(FIRST, number=2, captured=False, outside=())
    assert scope_violation(state(Effect.WARNED, FIRST, running))
    assert scope_violation(state(Effect.WARNED, FIRST, changed(running, captured=True))) == ()


def test_a_closed_phase_has_heard_it() -> None:
    closed = changed(state(Effect.WARNED), phases=Map({1: PhaseRecord(closed=True)}))
    assert scope_violation(closed) == ()
    assert scope_violation(State()) == ()

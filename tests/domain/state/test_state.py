from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.domain.story import play, started, walk

from swarmgate.domain.state import state as records
from swarmgate.domain.state.state import State, replace


def test_replace_changes_a_copy() -> None:
    before = play(State(), *started())
    after = replace(before, goal="x")
    assert (after.goal, before.goal) == ("x", "Add parts")
    assert after == dataclasses.replace(before, goal="x")


def test_the_records_are_frozen_and_have_nothing_that_replace_would_miss() -> None:
    kinds = [kind for kind in vars(records).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
    assert State in kinds
    for kind in kinds:
        assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # CPython's name for it
        assert not {"__slots__", "__post_init__"} & set(vars(kind))
    with pytest.raises(dataclasses.FrozenInstanceError):
        State().goal = "x"  # type: ignore[misc]  # the point of the test


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32))
@example(240)  # an undo opens phase 1 again, while phase 2, of which all was skipped, stays approved
def test_the_current_phase_is_the_first_that_is_not_approved(seed: int) -> None:
    for _, event, state in walk(seed):
        count = len(state.plan.phases) if state.plan else -1
        open_phases = [number for number in range(1, count + 1) if not state.phase(number).approved]
        assert state.current_phase == (open_phases[0] if open_phases else count + 1), event
        assert set(vars(state)) == {field.name for field in dataclasses.fields(state)}


def test_a_task_without_a_story_costs_a_fold_nothing() -> None:
    assert State().task("1.1") is State().task("9.9")
    assert State().task("1.1").spent is State().usage

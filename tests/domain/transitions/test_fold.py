from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import PLAN, entries, make_plan, make_task, planned, play, started
from tests.domain.story import walk as project

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.transitions.fold import TRANSITIONS, fold
from swarmgate.errors import IllegalMove, PlanError
from swarmgate.journal.chain import GENESIS, encode
from swarmgate.journal.journal import entries_in


def test_the_laws_cover_the_event_union_exactly() -> None:
    union = get_args(get_args(ev.Event)[0])
    assert list(TRANSITIONS) == [kind.model_fields["type"].default for kind in union]


def test_the_state_stands_at_the_last_entry() -> None:
    state = play(State(), *planned())
    assert (state.seq, state.time) == (3, "2026-11-21T13:00:00.000Z")


def test_an_illegal_event_raises_and_the_state_before_is_untouched() -> None:
    before = play(State(), *planned()[:1])
    with pytest.raises(IllegalMove):
        play(before, ev.PlanApproved())
    assert before == play(State(), *planned()[:1])


def test_a_plan_that_breaks_the_rules_cannot_be_recorded() -> None:
    with pytest.raises(PlanError) as caught:
        play(State(), ev.GoalSet(goal="g"), ev.PlanSaved(plan=make_plan([make_task("1.1", "1.7")])))
    assert caught.value.problems == ("Task 1.1 depends on '1.7', which does not exist.",)


@pytest.mark.parametrize(
    "event", [ev.EditRefused(source="plan.md", problems=("x",), kept="q"), ev.LedgerRepaired(kept="q", size=3)]
)
def test_events_that_only_stand_on_record_change_nothing_but_the_position(event: ev.Event) -> None:
    before = play(State(), *started())
    after = play(before, event)
    assert after.seq == before.seq + 1
    assert play(State(), *started(), event) == after
    assert after.tasks == before.tasks
    assert after.planning is Planning.APPROVED
    assert after.plan == PLAN


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32))
def test_what_was_written_and_read_again_folds_to_the_same_state(seed: int) -> None:
    state, data, head = State(), b"", GENESIS
    for number, (_, event, after) in enumerate(project(seed, 60), start=1):
        (entry,) = entries([event], number - 1)
        line, head = encode(entry, head)
        data, state = data + line, after
    assert fold(State(), (entry for entry, _ in entries_in(data, ev.EVENTS, name="ledger.jsonl"))) == state

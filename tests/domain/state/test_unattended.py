"""What may be approved in the user's place: never what was rejected, and not without end."""

from __future__ import annotations

import pytest
from tests.domain.story import NO, YES, blocked, legal, make_plan, make_task, passing, planned, play, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import approval_due, needs_person
from swarmgate.domain.state.state import State
from swarmgate.domain.state.unattended import ATTENDED, Unattended, Until, rules_of

BOTH = Unattended({"plan": "a test", "phase": "a test"}, in_a_row=2)
FOUR = make_plan(*([make_task(f"{number}.1")] for number in range(1, 5)))
PLAN, PHASE = ev.PlanApproved(by="a test"), ev.PhaseApproved(phase=1, by="a test")


def phase(number: int, by: str = "") -> list[Event]:
    """A whole phase, and who approves it."""
    closed = ev.PhaseClosed(phase=number, summary="Done.")
    return [*passing(f"{number}.1"), closed, ev.PhaseApproved(phase=number, by=by)]


def test_a_plan_is_approved_once_its_critic_approves_it() -> None:
    waiting = play(State(), *planned())
    assert approval_due(waiting, BOTH) == PLAN
    assert approval_due(waiting, ATTENDED) is None
    assert approval_due(waiting, Unattended({"phase": "a test"}, 9)) is None
    assert play(waiting, PLAN).plan_approved_by == "a test"
    assert not play(waiting, PLAN, ev.RevisionRequested(text="x")).plan_approved_by


def test_a_plan_that_is_objected_to_waits_for_the_user() -> None:
    goal, saved, _ = planned()
    rejected = [goal, saved, ev.PlanReviewed(review=NO), saved, ev.PlanReviewed(review=NO)]
    failed = [*planned(), ev.RevisionRequested(text="x"), ev.PlanningFailed(problems=("none",))]
    for events in (rejected, failed):
        waiting = play(State(), *events)
        assert approval_due(waiting, BOTH) is None
        assert not legal(waiting, PLAN)
        assert legal(waiting, ev.PlanApproved())
    assert needs_person(play(State(), *rejected), BOTH) == "the critic objects to it"


def test_a_phase_is_approved_where_its_reviewers_did_not_reject_it() -> None:
    waiting = play(State(), *started(FOUR), *phase(1)[:-1])
    assert approval_due(waiting, BOTH) == PHASE
    assert approval_due(waiting, ATTENDED) is None
    done = play(waiting, PHASE)
    assert (done.phase(1).approved_by, done.memory[1, 1].approved_by) == ("a test", "a test")


@pytest.mark.parametrize("stage", ["gate", "validation"])
def test_a_rejected_phase_is_not_though_the_user_went_on(stage: ev.PhaseStage) -> None:
    reviewed = ev.PhaseReviewed(phase=1, stage=stage, round=1, number=1, of=1, review=NO)
    overruled = ev.PhaseOverridden(phase=1, stage=stage, reason="I can tell")
    rules = {"phase_gate": 1} if stage == "gate" else {"validators": 1}
    work, closed = passing("1.1"), phase(1)[-2]
    told = [reviewed, overruled, *work] if stage == "gate" else [*work, reviewed, overruled]
    waiting = play(State(), *started(FOUR, **rules), *told, closed)
    assert approval_due(waiting, BOTH) is None
    assert needs_person(waiting, BOTH) == "its reviewers rejected it"
    assert not legal(waiting, PHASE)
    assert legal(waiting, ev.PhaseApproved(phase=1))


def test_a_phase_that_reviewers_approved_when_asked_again_is() -> None:
    told: list[Event] = [ev.PhaseReviewed(phase=1, stage="validation", round=1, number=1, of=1, review=NO)]
    told += [ev.PhaseRetried(phase=1), told[0].model_copy(update={"round": 2, "review": YES})]
    waiting = play(State(), *started(FOUR, validators=1), *passing("1.1"), *told, phase(1)[-2])
    assert approval_due(waiting, BOTH) == PHASE


def test_after_so_many_phases_in_a_row_somebody_has_to_look() -> None:
    alone = [*started(FOUR), *phase(1, "a test"), *phase(2, "a test"), *phase(3)[:-1]]
    waiting = play(State(), *alone)
    assert approval_due(waiting, BOTH) is None
    assert needs_person(waiting, BOTH) == "phases in a row that nobody looked at: 2 ([approve] phases_in_a_row)"
    seen = play(State(), *started(FOUR), *phase(1, "a test"), *phase(2), *phase(3, "a test"), *phase(4)[:-1])
    assert approval_due(seen, BOTH) == ev.PhaseApproved(phase=4, by="a test")


def test_nothing_else_that_waits_is_decided() -> None:
    for events in ([], [*started(), *blocked()], [*planned()[:1], ev.QuestionsAsked(questions=("Which?",))]):
        waiting = play(State(), *events)
        assert approval_due(waiting, BOTH) is None
        assert needs_person(waiting, BOTH) == ""


@pytest.mark.parametrize(
    ("auto", "until", "by"),
    [
        ((), None, {}),
        (("plan", "phase"), None, {"plan": "[approve] auto", "phase": "[approve] auto"}),
        (("plan", "phase"), Until.PHASE, {"plan": "[approve] auto"}),
        ((), Until.PHASE, {}),
        ((), Until.BLOCKED, {"phase": "swarm run --until blocked"}),
        (("plan",), Until.BLOCKED, {"plan": "[approve] auto", "phase": "swarm run --until blocked"}),
        ((), Until.DONE, {"plan": "swarm run --until done", "phase": "swarm run --until done"}),
    ],
)
def test_what_one_run_is_told_goes_before_the_settings(
    auto: tuple[str, ...], until: Until | None, by: dict[str, str]
) -> None:
    assert rules_of(auto, 3, until) == Unattended(by, 3)

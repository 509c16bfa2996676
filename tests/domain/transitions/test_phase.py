"""Verdicts on whole phases: who is due, what a majority means, and what makes verdicts count no more."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domain.story import (
    GREEN,
    NO,
    RED,
    YES,
    blocked,
    legal,
    make_plan,
    make_task,
    passing,
    play,
    regressed,
    started,
)

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import Step, Waiting, begins_phase, next_step, waiting_for
from swarmgate.domain.review.evidence import Review
from swarmgate.domain.state.phase_verdict import phase_number
from swarmgate.domain.state.state import Outcome, State, TaskStatus, replace

ONE = make_plan([make_task("1.1")])
TWO = make_plan([make_task("1.1"), make_task("1.2")])


def said(number: int, review: Review = YES, **more: Any) -> Event:
    fields = {"phase": 1, "stage": "validation", "round": 1, "of": 3, **more}
    return ev.PhaseReviewed(number=number, review=review, **fields)


def built(**rules: Any) -> State:
    """The only task of phase 1 is complete."""
    return play(State(), *started(ONE, **rules), *passing("1.1"))


CLOSED = ev.PhaseClosed(phase=1, summary="Done.")


def test_all_reviewers_are_asked_before_the_phase_is_closed() -> None:
    state = built(validators=3)
    for number in (1, 2, 3):
        assert next_step(state) is Step.VALIDATE_PHASE
        assert not legal(state, CLOSED)
        state = play(state, said(number))
    assert next_step(state) is Step.CLOSE_PHASE
    assert waiting_for(play(state, CLOSED)) is Waiting.PHASE_APPROVAL


@pytest.mark.parametrize(
    ("verdicts", "passes"),
    [
        ("YYY", True),
        ("YYN", True),
        ("YNY", True),
        ("YNN", False),
        ("NNN", False),
        ("YYF", True),
        ("YNF", False),
        ("YFF", False),
        ("YN", False),  # a tie
        ("Y", True),
        ("F", False),
    ],
)
def test_a_majority_decides_and_what_cannot_be_read_approves_nothing(verdicts: str, *, passes: bool) -> None:
    state = built(validators=len(verdicts))
    for number, word in enumerate(verdicts, start=1):
        state = play(state, said(number, YES if word == "Y" else NO, failed=word == "F", of=len(verdicts)))
    assert (next_step(state) is Step.CLOSE_PHASE) is passes
    assert (waiting_for(state) is Waiting.PHASE_REJECTED) is not passes
    assert legal(state, CLOSED) is passes


@pytest.mark.parametrize(
    "event",
    [
        said(2),  # not the next one
        said(1, round=2),
        said(1, phase=2),
        said(1, stage="gate"),
        said(1, YES, failed=True),
    ],
)
def test_no_other_verdict_is_legal(event: Event) -> None:
    assert not legal(built(validators=3), event)
    assert not legal(built(), event)


def test_nobody_is_asked_where_nothing_was_built_or_nobody_is_wanted() -> None:
    skipped = play(State(), *started(ONE, validators=3), ev.TaskSkipped(task="1.1", reason="later"))
    assert next_step(skipped) is Step.CLOSE_PHASE
    assert next_step(built()) is Step.CLOSE_PHASE


def test_old_ledgers_ask_nobody() -> None:
    event = ev.RunStarted.model_validate({"type": "run_started", "pid": 1, "host": "here"})
    assert (event.validators, event.phase_gate) == (0, False)


@pytest.mark.parametrize(("verdicts", "passes"), [("NN", False), ("YN", False), ("YY", True)])
def test_settings_that_ask_for_nobody_take_no_verdict_back(verdicts: str, *, passes: bool) -> None:
    state = built(validators=3)
    for number, word in enumerate(verdicts, start=1):
        state = play(state, said(number, YES if word == "Y" else NO))
    state = play(state, ev.RunStarted(pid=2, host="here"))  # such as without SWARM_PHASE__VALIDATE
    assert legal(state, CLOSED) is passes
    assert (waiting_for(state) is Waiting.PHASE_REJECTED) is not passes
    if not passes:
        assert next_step(play(state, ev.PhaseRetried(phase=1))) is Step.VALIDATE_PHASE  # by one at least


def test_a_gate_that_rejected_stands_when_the_settings_ask_for_none() -> None:
    state = play(State(), *started(ONE, phase_gate=True), said(1, NO, stage="gate", of=1))
    state = play(state, ev.RunStarted(pid=2, host="here"))
    assert waiting_for(state) is Waiting.PHASE_REJECTED
    assert next_step(play(state, ev.PhaseRetried(phase=1))) is Step.EVALUATE_PHASE
    overridden = ev.PhaseOverridden(phase=1, stage="gate", reason="I can tell")
    assert next_step(play(state, overridden)) is Step.DELEGATE


def test_more_work_in_the_phase_makes_its_verdicts_count_no_more() -> None:
    state = play(built(validators=1), said(1, NO, of=1), ev.RevisionRequested(text="mend"))
    state = play(state, ev.PlanSaved(plan=TWO), ev.PlanReviewed(review=YES), ev.PlanApproved())
    assert next_step(state) is Step.DELEGATE
    state = play(state, *passing("1.2"))
    assert next_step(state) is Step.VALIDATE_PHASE
    assert not legal(state, said(1, of=1))
    assert next_step(play(state, said(1, of=1, round=2))) is Step.CLOSE_PHASE


def test_the_user_has_it_judged_anew_or_overrules_it() -> None:
    state = play(built(validators=1), said(1, NO, of=1))
    anew = play(state, ev.PhaseRetried(phase=1, note="I mended it"))
    assert (next_step(anew), anew.phase(1).notes) == (Step.VALIDATE_PHASE, ("I mended it",))
    overruled = play(state, ev.PhaseOverridden(phase=1, stage="validation", reason="I know better"))
    assert next_step(overruled) is Step.CLOSE_PHASE
    assert not legal(state, ev.PhaseOverridden(phase=1, stage="gate", reason="x"))
    begun = play(built(validators=2), said(1, of=2))
    assert next_step(play(begun, ev.PhaseRetried(phase=1), said(1, of=2, round=2))) is Step.VALIDATE_PHASE
    for early in (ev.PhaseRetried(phase=1), ev.PhaseOverridden(phase=1, stage="validation", reason="x")):
        assert not legal(built(validators=1), early)


def test_the_gate_stands_before_the_first_task_alone() -> None:
    state = play(State(), *started(ONE, phase_gate=True))
    assert (next_step(state), begins_phase(state)) == (Step.EVALUATE_PHASE, 1)
    passed = play(state, said(1, stage="gate", of=1))
    assert (next_step(passed), begins_phase(passed)) == (Step.DELEGATE, 1)
    done = play(passed, *passing("1.1"))
    assert next_step(done) is Step.CLOSE_PHASE
    refused = play(state, said(1, NO, stage="gate", of=1))
    assert waiting_for(refused) is Waiting.PHASE_REJECTED
    changed = play(refused, ev.PlanAmended(plan=TWO, source="plan.md"))
    assert next_step(changed) is Step.EVALUATE_PHASE


def test_a_blocked_task_is_not_judged_again_by_the_gate() -> None:
    state = play(State(), *started(ONE, phase_gate=True), said(1, stage="gate", of=1), *blocked())
    assert waiting_for(state) is Waiting.BLOCKED_TASK


@pytest.mark.parametrize(
    ("text", "number"),
    [("2", 2), ("phase 2", 2), ("Phase-12", 12), ("phase2", 2), ("1.2", 0), ("0", 0), ("", 0), ("two", 0)],
)
def test_a_phase_is_told_from_a_task(text: str, number: int) -> None:
    assert phase_number(text) == number


def test_what_was_rejected_is_judged_anew_where_the_settings_ask_for_nobody_any_more() -> None:
    nobody = ev.RunStarted(pid=1, host="h")
    asked = play(built(validators=2), said(1, of=2), said(2, NO, of=2), ev.PhaseRetried(phase=1), nobody)
    assert next_step(asked) is Step.VALIDATE_PHASE
    assert not legal(asked, CLOSED)
    assert legal(asked, said(1, round=2, of=1), CLOSED)
    gate = play(
        State(), *started(ONE, phase_gate=True), said(1, NO, stage="gate", of=1), ev.PhaseRetried(phase=1), nobody
    )
    assert next_step(gate) is Step.EVALUATE_PHASE
    begun = play(built(validators=2), said(1, of=2), ev.PhaseRetried(phase=1), nobody)  # nobody rejected it
    assert next_step(begun) is Step.CLOSE_PHASE


# --- the tests of a phase ---


def by_tests(review: Review = YES, **more: Any) -> Event:
    return said(1, review, stage="tests", of=1, **more)


def related(task: str) -> list[Event]:
    """A task that is completed on its related tests."""
    events = passing(task)
    run = GREEN.model_copy(update={"related": True})
    return [*events[:5], ev.TestsRun(task=task, attempt=1, tree="r", run=run, passed=True), events[6]]


def one() -> State:
    """The only task of phase 1 is complete on its related tests."""
    return play(State(), *started(ONE), *related("1.1"))


def both() -> State:
    """Both tasks of phase 1 are complete on their related tests."""
    return play(State(), *started(TWO), *related("1.1"), *related("1.2"))


def test_the_tests_of_a_phase_are_due_where_some_did_not_run_over_its_last_tree() -> None:
    whole = [*passing("1.1"), *passing("1.2")]
    assert next_step(play(State(), *started(TWO), *whole)) is Step.CLOSE_PHASE
    assert next_step(play(State(), *started(TWO, phase_tests=True), *whole)) is Step.TEST_PHASE
    assert next_step(built(phase_tests=True)) is Step.CLOSE_PHASE
    assert next_step(one()) is Step.TEST_PHASE
    assert next_step(both()) is Step.TEST_PHASE
    assert not legal(both(), CLOSED)


def test_red_tests_that_the_user_let_pass_stay_known_until_all_tests_ran() -> None:
    known = replace(one(), known_red=("test_a", "test_b"))
    red = RED.model_copy(update={"failures": ("test_b",)})
    assert play(known, by_tests(run=red)).known_red == ("test_b",)
    two = play(State(), *started(TWO), *related("1.1"))
    assert play(replace(two, known_red=("test_a",)), *related("1.2")).known_red == ("test_a",)
    assert play(replace(two, known_red=("test_a",)), *passing("1.2")).known_red == ()


def test_no_phase_is_closed_before_its_tests_passed_and_reviewers_come_after_them() -> None:
    state = play(State(), *started(ONE, validators=3), *related("1.1"))
    assert not legal(state, CLOSED)
    assert not legal(state, said(1))
    state = play(state, by_tests())
    assert next_step(state) is Step.VALIDATE_PHASE
    for number in (1, 2, 3):
        state = play(state, said(number))
    assert legal(state, CLOSED)


def test_tasks_whose_commits_broke_tests_are_open_again_and_what_was_said_of_the_phase_is_void() -> None:
    state = play(both(), by_tests(NO))
    assert waiting_for(state) is Waiting.PHASE_REJECTED
    after = play(state, regressed(state, "1.1", "1.2"))
    assert next_step(after) is Step.DELEGATE
    record = after.task("1.1")
    assert (record.status, record.commit, record.rejections) == (TaskStatus.IN_PROGRESS, "", 1)
    assert not record.unfinished
    last = record.attempts[-1]
    assert (last.outcome, last.stage, last.failures, last.commit) == (Outcome.REJECTED, "tests", ("test_a",), "c0ffee")
    done = play(after, *passing("1.1", 2), *passing("1.2", 2))  # a rejection is looked at again
    assert next_step(done) is Step.TEST_PHASE
    assert legal(done, by_tests(round=2))
    assert not legal(done, by_tests())


def test_what_was_opened_again_is_undone_commit_by_commit_or_overruled_and_holds_no_unattended_run_up() -> None:
    opened = play(play(both(), by_tests(NO)), regressed(both(), "1.1"))
    assert legal(opened, ev.RejectionOverridden(task="1.1", stage="tests", reason="the test is wrong"))
    again = [event.model_copy(update={"commit": "beef"}) if event.type == "task_completed" else event
             for event in passing("1.1", 2)]  # fmt: skip
    done = play(opened, *again)
    assert done.task("1.1").commits == ("c0ffee", "beef")
    back = [ev.TaskUndone(task="1.1", commit=commit, revert="a1") for commit in ("beef", "c0ffee")]
    assert legal(opened, back[1])
    undone = play(done, *back)
    assert (undone.task("1.1").commits, undone.task("1.1").status) == ((), TaskStatus.PENDING)
    assert [each.outcome for each in undone.task("1.1").attempts] == [Outcome.UNDONE, Outcome.UNDONE]
    assert not legal(undone, back[1])
    closed = play(done, by_tests(round=2), CLOSED)
    assert legal(closed, ev.PhaseApproved(phase=1, by="[approve] auto"))
    overruled = play(done, by_tests(NO, round=2), ev.PhaseOverridden(phase=1, stage="tests", reason="known"), CLOSED)
    assert not legal(overruled, ev.PhaseApproved(phase=1, by="[approve] auto"))
    assert legal(overruled, ev.PhaseApproved(phase=1))


@pytest.mark.parametrize(("whole", "left"), [(False, ("tests/test_a.py::test_a",)), (True, ())])
def test_a_test_that_the_user_let_fail_stays_known_when_a_later_task_is_undone(
    *, whole: bool, left: tuple[str, ...]
) -> None:
    """Those that ran related tests alone say nothing of it; where all ran, the newest run that is left does."""
    three = make_plan([make_task("1.1"), make_task("1.2"), make_task("1.3")])
    known = "tests/test_a.py::test_a"
    red = RED.model_copy(update={"failures": (known,), "related": not whole})
    first = [event.model_copy(update={"run": red}) if event.type == "tests_run" else event for event in related("1.1")]
    state = replace(play(State(), *started(three)), known_red=(known,))
    state = play(state, *first, *((passing if whole else related)("1.2")), *related("1.3"))
    assert state.known_red == left
    assert play(state, ev.TaskUndone(task="1.3", commit="c0ffee", revert="a1")).known_red == left


def test_no_task_is_opened_again_that_its_phase_did_not_fail_by() -> None:
    state = play(both(), by_tests(NO))
    wrong = ev.Culprit(task="1.1", commit="other", failures=("test_a",), reason="x")
    assert not legal(state, ev.PhaseRegressed(phase=1, culprits=(wrong,)))
    assert not legal(state, ev.PhaseRegressed(phase=1, culprits=()))
    assert not legal(both(), regressed(state, "1.1"))
    reviewed = play(built(validators=1), said(1, NO, of=1))
    assert not legal(reviewed, regressed(reviewed, "1.1"))


def test_a_failure_of_nobodys_is_overruled_or_looked_at_again() -> None:
    state = play(one(), by_tests(NO))
    overruled = play(state, ev.PhaseOverridden(phase=1, stage="tests", reason="known"))
    assert next_step(overruled) is Step.CLOSE_PHASE
    again = play(state, ev.PhaseRetried(phase=1))
    assert next_step(again) is Step.TEST_PHASE
    assert legal(again, by_tests(round=2))


def test_a_closed_phase_is_tested_again_where_the_branch_moved_on_and_no_other_is() -> None:
    closed = play(one(), by_tests(), CLOSED)
    assert next_step(play(closed, ev.PhaseRetried(phase=1))) is Step.TEST_PHASE
    assert not legal(play(built(), CLOSED), ev.PhaseRetried(phase=1))
    approved = play(closed, ev.PhaseApproved(phase=1))
    assert not legal(approved, ev.PhaseRetried(phase=1))

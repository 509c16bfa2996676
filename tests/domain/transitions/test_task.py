from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.domain.story import (
    GREEN,
    NO,
    PLAN,
    RED,
    YES,
    blocked,
    delegated,
    legal,
    make_plan,
    make_task,
    passing,
    planned,
    play,
    rejected,
    rejection,
    started,
)

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind, Event
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.next_step import Step, next_step, worked_on
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.review.stage import Stage
from swarmgate.domain.state.state import Outcome, State, TaskStatus
from swarmgate.domain.task.remedies import NEVER_OVERRIDDEN, firm_gates
from swarmgate.domain.transitions.task import overruled, weighed
from swarmgate.errors import IllegalMove, InvalidTaskStateTransition

# --- delegation ---


@pytest.mark.parametrize(
    ("before", "event", "told"),
    [
        ([], delegated("1.1"), "the user has not approved the plan"),
        (planned(), delegated("1.1"), "the user has not approved the plan"),
        ([*started(), ev.RevisionRequested(text="x")], delegated("1.1"), "the user has not approved the plan"),
        (started(), delegated("1.9"), "the plan has no such task"),
        ([*started(), delegated("1.1")], delegated("1.3"), "task 1.1 is open, and work goes one task at a time"),
        (
            [*started(), *rejected("1.1", 1)],
            delegated("1.3"),
            "task 1.1 is unfinished, and its change lies in the tree",
        ),
        ([*started(), *blocked()], delegated("1.3"), "task 1.1 is unfinished, and its change lies in the tree"),
        ([*started(), *blocked()], delegated("1.1", 4), "it is blocked"),
        ([*started(), ev.TaskSkipped(task="1.1", reason="x")], delegated("1.1"), "it is skipped"),
        (started(), delegated("2.1"), "phase 1 is the current one"),
        (started(), delegated("1.2"), "it depends on 1.1"),
        (started(), delegated("1.1", 2), "the next attempt is number 1"),
        ([*started(), *rejected("1.1", 1)], delegated("1.1", 1), "the next attempt is number 2"),
        (started(), delegated("1.1", 1, AttemptKind.ESCALATED), "the next attempt is of the kind 'coder'"),
        (started(), delegated("1.1", 1, AttemptKind.OVERRIDE), "the next attempt is of the kind 'coder'"),
        (
            [*started(), *rejected("1.1", 1), *rejected("1.1", 2)],
            delegated("1.1", 3),
            "the next attempt is of the kind 'escalated'",
        ),
    ],
)
def test_a_delegation_against_the_rules_is_refused_with_the_reason(
    before: list[Event], event: Event, told: str
) -> None:
    with pytest.raises(IllegalMove) as caught:
        play(play(State(), *before), event)
    assert told in caught.value.message


def test_a_task_that_was_taken_out_of_the_plan_does_not_stand_in_the_way() -> None:
    state = play(State(), *started(), *rejected("1.1", 1))
    state = play(state, ev.PlanAmended(plan=make_plan([make_task("1.3")]), source="plan.md"))
    assert legal(state, delegated("1.3"))


def test_a_delegation_opens_the_attempt_on_its_tree() -> None:
    state = play(State(), *started(), delegated("1.1"))
    record = state.task("1.1")
    assert (state.open, state.tree, record.status) == ("1.1", "t1", TaskStatus.IN_PROGRESS)
    assert record.running is not None
    assert record.running.instructions == "Write it."


# --- verdicts are evidence ---


def _at(done: int) -> State:
    return play(State(), *started(), *passing("1.1")[:done])


@pytest.mark.parametrize(
    ("done", "event"),
    [
        (2, ev.GatesRun(task="1.1", attempt=1, tree="g", passed=True, statuses={"ruff": GateStatus.FAIL})),
        (2, ev.GatesRun(task="1.1", attempt=1, tree="g", passed=True, statuses={}, overridden=("ruff",))),
        (3, ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=True)),
        (5, ev.TestsRun(task="1.1", attempt=1, tree="r", run=RED, passed=True)),
        (5, ev.TestsRun(task="1.1", attempt=1, tree="r", run=TestRun(command="x", exit_code=0), passed=True)),
    ],
)
def test_what_did_not_pass_cannot_be_recorded_as_passed(done: int, event: Event) -> None:
    with pytest.raises(IllegalMove, match="it cannot pass"):
        play(_at(done), event)


def test_tests_cannot_pass_over_the_test_engineers_rejection() -> None:
    written = ev.TestsWritten(task="1.1", attempt=1, tree="w", review=NO)
    run = ev.TestsRun(task="1.1", attempt=1, tree="r", run=GREEN, passed=True)
    assert not legal(_at(4), written, run)
    assert legal(_at(4), written, rejection("1.1", 1, "test_engineer"))


@pytest.mark.parametrize(
    ("done", "event"),
    [
        (2, ev.GatesRun(task="1.1", attempt=1, tree="g", passed=False, statuses={"ruff": GateStatus.FAIL})),
        (3, ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=False)),
        (5, ev.TestsRun(task="1.1", attempt=1, tree="r", run=RED, passed=False)),
    ],
)
def test_what_did_not_pass_leaves_the_task_where_it_was(done: int, event: Event) -> None:
    before = _at(done)
    assert play(before, event).task("1.1").state is before.task("1.1").state


@pytest.mark.parametrize("index", [1, 2, 3, 4, 5, 6])
def test_an_event_of_another_attempt_is_refused(index: int) -> None:
    with pytest.raises(InvalidTaskStateTransition):
        play(_at(index), passing("1.1", 2)[index])


def test_a_stage_that_plan_md_could_not_show_is_no_stage() -> None:
    with pytest.raises(ValueError, match="stage"):
        rejection("1.1", 1, "gates (ruff)")


# --- override ---


def test_an_override_opens_an_attempt_on_the_tree_where_that_stage_cannot_reject() -> None:
    state = play(State(), *started(), *blocked(), ev.RejectionOverridden(task="1.1", stage="reviewer", reason="fine"))
    assert state.overrides[0].reason == "fine"
    assert next_step(state) is Step.OPEN_OVERRIDE
    story = passing("1.1", 4, AttemptKind.OVERRIDE)
    story[3] = ev.ReviewGiven(task="1.1", attempt=4, review=NO, passed=True)
    state = play(state, story[0])
    assert next_step(state) is Step.CAPTURE
    assert play(state, *story[1:]).task("1.1").status is TaskStatus.COMPLETE
    red = ev.TestsRun(task="1.1", attempt=4, tree="r", run=RED, passed=True)
    assert not legal(state, *story[1:5], red)


def test_the_architect_weighs_a_rejection_for_cost_alone_once_and_only_where_it_may() -> None:
    budget = "gates: quality_budget"
    lets, other = ev.RunStarted(pid=1, host="h", architect_overrides_budget=True), [*started(), *rejected("1.1", 1)]
    over = play(State(), *started(), lets, *rejected("1.1", 1, budget))
    assert next_step(over) is Step.WEIGH
    assert worked_on(over) == "1.1"
    note = GuardNote(rule="budget-weighed", effect=Effect.NOTED, detail="use a table", role="architect", attempt=1)
    held = play(over, ev.GuardActed(task="1.1", note=note))
    assert next_step(held) is Step.DELEGATE
    assert weighed(held.task("1.1")) == "use a table"
    assert next_step(play(held, *rejected("1.1", 2, budget))) is Step.WEIGH
    assert (
        next_step(play(State(), *started(), *rejected("1.1", 1, budget), ev.RunStarted(pid=1, host="h")))
        is Step.DELEGATE
    )
    assert next_step(play(State(), *other, lets)) is Step.DELEGATE
    assert next_step(play(over, ev.TaskRetried(task="1.1"))) is Step.DELEGATE


def test_a_rejected_override_blocks_and_two_overrides_add_up() -> None:
    first = ev.RejectionOverridden(task="1.1", stage="reviewer", reason="a")
    state = play(State(), *started(), *rejected("1.1", 1), first, *rejected("1.1", 2, "tests", AttemptKind.OVERRIDE))
    assert next_step(state) is Step.BLOCK
    state = play(state, ev.RejectionOverridden(task="1.1", stage="tests", reason="b"))
    state = play(state, delegated("1.1", 3, AttemptKind.OVERRIDE))
    record = state.task("1.1")
    assert record.running is not None
    assert overruled(record, record.running, "reviewer")
    assert overruled(record, record.running, "tests")
    assert not overruled(record, record.running, "test_engineer")


def test_only_the_last_rejections_stage_can_be_overridden() -> None:
    state = play(State(), *started(), *rejected("1.1", 1), *rejected("1.1", 2, "tests"))
    with pytest.raises(IllegalMove, match="was rejected by tests, not reviewer"):
        play(state, ev.RejectionOverridden(task="1.1", stage="reviewer", reason="x"))


def test_without_a_rejection_there_is_nothing_to_override() -> None:
    event = ev.RejectionOverridden(task="1.1", stage="", reason="x")
    with pytest.raises(IllegalMove, match="has no rejection"):
        play(State(), *started(), event)
    died = ev.AttemptInterrupted(task="1.1", attempt=1, reason="crash")
    with pytest.raises(IllegalMove, match="has no rejection"):
        play(State(), *started(), delegated("1.1"), died, event)


@pytest.mark.parametrize("gate", sorted(NEVER_OVERRIDDEN))
@pytest.mark.parametrize("stage", ["gates: {}", "gates: ruff, {}", "gates: {}, ruff"])
def test_secrets_sast_and_syntax_are_never_overridden(gate: str, stage: str) -> None:
    named = stage.format(gate)
    state = play(State(), *started(), *blocked(stage=named))
    with pytest.raises(IllegalMove, match=f"{gate} cannot be overridden") as caught:
        play(state, ev.RejectionOverridden(task="1.1", stage=named, reason="x"))
    assert "swarm retry 1.1" in caught.value.hint
    assert firm_gates(Stage(named)) == {gate}


def test_an_interrupted_override_stays_due() -> None:
    state = play(
        State(), *started(), *rejected("1.1", 1), ev.RejectionOverridden(task="1.1", stage="reviewer", reason="x")
    )
    state = play(state, delegated("1.1", 2, AttemptKind.OVERRIDE))
    state = play(state, ev.AttemptInterrupted(task="1.1", attempt=2, reason="crash"))
    assert next_step(state) is Step.OPEN_OVERRIDE


def test_a_retry_forgets_the_overrides() -> None:
    state = play(
        State(), *started(), *rejected("1.1", 1), ev.RejectionOverridden(task="1.1", stage="reviewer", reason="x")
    )
    state = play(state, ev.TaskRetried(task="1.1"))
    assert not state.task("1.1").overrides
    assert next_step(state) is Step.DELEGATE


def test_a_changed_task_forgets_what_was_overridden_for_the_old_one() -> None:
    state = play(State(), *started(), *blocked(), ev.RejectionOverridden(task="1.1", stage="reviewer", reason="x"))
    plan = make_plan([make_task("1.1", title="Another thing"), make_task("1.2", "1.1")])
    record = play(state, ev.PlanAmended(plan=plan, source="plan.md")).task("1.1")
    assert (len(record.overrides), record.override_pending, record.rejections) == (0, False, 0)
    assert record.status is TaskStatus.IN_PROGRESS
    assert len(record.attempts) == 3


# --- what the user decides about one task ---


@pytest.mark.parametrize(
    "event",
    [
        ev.TaskRetried(task="1.1"),
        ev.TaskSkipped(task="1.1", reason="x"),
        ev.TaskBlocked(task="1.1", stage="x", reason="y"),
        ev.RejectionOverridden(task="1.1", stage="reviewer", reason="x"),
    ],
)
def test_a_running_a_settled_and_an_unknown_task_cannot_be_decided_about(event: Event) -> None:
    stories: dict[str, Sequence[Event]] = {
        "": [delegated("1.1")],
        "Take it back with: swarm undo 1.1; or ask for more": passing("1.1"),
        "What is settled stays; ask for more": [ev.TaskSkipped(task="1.1", reason="x")],
    }
    for hint, story in stories.items():
        with pytest.raises(IllegalMove, match=r"Task 1\.1 cannot be changed now") as refused:
            play(play(State(), *started(), *story), event)
        assert (refused.value.hint or "").startswith(hint)
    with pytest.raises(IllegalMove, match=r"The plan has no task 7\.7"):
        play(play(State(), *started()), event.model_copy(update={"task": "7.7"}))


def test_a_rejection_keeps_stage_reason_and_feedback() -> None:
    state = play(State(), *started(), *rejected("1.1", 1, "gates: ruff"))
    last = state.task("1.1").attempts[0]
    assert (last.outcome, last.stage, last.reason) == (Outcome.REJECTED, "gates: ruff", "Missing expiration claim")
    assert state.open == ""
    assert state.tree == "c"


def test_completion_ends_the_tasks_hold_on_the_tree() -> None:
    state = play(State(), *started(), *passing("1.1"))
    assert (state.open, state.tree, state.task("1.1").commit) == ("", "", "c0ffee")
    assert state.task("1.1").attempts[0].review == YES
    assert PLAN.tasks["1.1"].files == state.task("1.1").attempts[0].files


# --- tests that an override left red ---


def red_run(*failures: str, **more: Any) -> TestRun:
    """A run of which these tests failed."""
    return TestRun(command="pytest", exit_code=1, **{"passed": 2, "failed": len(failures), "failures": failures} | more)


def left_red(*failures: str) -> State:
    """1.1 is committed with these failing tests, by an override."""
    first = passing("1.1")[:5]
    run = ev.TestsRun(task="1.1", attempt=1, tree="r", run=red_run(*failures), passed=False)
    story = passing("1.1", 2, AttemptKind.OVERRIDE)
    story[5] = ev.TestsRun(task="1.1", attempt=2, tree="r", run=red_run(*failures), passed=True)
    override = ev.RejectionOverridden(task="1.1", stage="tests", reason="x")
    return play(State(), *started(), *first, run, rejection("1.1", 1, "tests"), override, *story)


A, B = "tests/test_a.py::test_a", "tests/test_b.py::test_b"


@pytest.mark.parametrize(
    ("run", "passes"),
    [
        (red_run(A), True),
        (red_run(B), False),
        (red_run(A, B), False),
        (red_run(A, failed=2), False),  # one of them has no name
        (red_run(A, passed=0), False),
        (red_run(A, problem="the tests did not end within 3 s"), False),
        (red_run(A, output="!!!!!! stopping after 1 failures !!!!!!\n"), False),
        (red_run(A, output="E  assert '!! stopping after 1 failures'\n1 failed, 2 passed"), True),
    ],
)
def test_a_test_that_an_override_left_red_rejects_no_later_task(run: TestRun, passes: bool) -> None:  # noqa: FBT001 - a parameter
    state = left_red(A)
    assert state.known_red == (A,)
    story = passing("1.2")[:5]
    assert legal(state, *story, ev.TestsRun(task="1.2", attempt=1, tree="r", run=run, passed=True)) is passes


def test_what_is_green_again_is_no_longer_known_as_red() -> None:
    assert play(left_red(A), *passing("1.2")).known_red == ()
    unnamed = "com.example.SomeTest::fails"  # a runner whose run may end at a failure
    run = ev.TestsRun(task="1.2", attempt=1, tree="r", run=red_run(unnamed), passed=True)
    assert not legal(left_red(unnamed), *passing("1.2")[:5], run)


# --- commits that are gone from the history ---


def reopened(task: str) -> Event:
    return ev.TaskReopened(task=task, commit="c0ffee")


def test_a_task_whose_commit_is_gone_is_open_again_and_begins_afresh() -> None:
    state = play(State(), *started(), *passing("1.1"), *passing("1.3"), reopened("1.1"))
    record = state.task("1.1")
    assert (record.status, record.commit, record.unfinished) == (TaskStatus.PENDING, "", False)
    assert next_step(state) is Step.DELEGATE
    assert not legal(state, delegated("1.2"))  # it depends on what is gone
    again = play(state, *passing("1.1", 2), *passing("1.2"))
    assert again.task("1.1").status is TaskStatus.COMPLETE


def test_what_is_under_way_is_finished_before_what_is_open_again() -> None:
    """Also where it depends on that: its change lies in the tree."""
    state = play(State(), *started(), *passing("1.1"), *rejected("1.2", 1), reopened("1.1"))
    assert not legal(state, delegated("1.1", 2))
    assert legal(state, delegated("1.2", 2))
    assert next_step(state) is Step.DELEGATE


def test_only_a_task_that_this_commit_completed_is_opened_again_and_in_no_approved_phase() -> None:
    state = play(State(), *started(), *passing("1.1"))
    assert not legal(state, ev.TaskReopened(task="1.1", commit="another"))
    assert not legal(state, reopened("1.2"))
    assert not legal(state, reopened("9.9"))
    rest = [*passing("1.2"), *passing("1.3"), ev.PhaseClosed(phase=1, summary="Done.")]
    closed = play(state, *rest)
    assert not play(closed, reopened("1.3")).phase(1).closed
    approved = play(closed, ev.PhaseApproved(phase=1))
    assert not legal(approved, reopened("1.3"))
    assert legal(approved, ev.CommitMoved(task="1.3", was="c0ffee", commit="beef"))


def test_a_commit_that_moved_counts_from_then_on() -> None:
    state = play(State(), *started(), *passing("1.1"), ev.CommitMoved(task="1.1", was="c0ffee", commit="beef"))
    assert state.task("1.1").commit == "beef"
    assert not legal(state, ev.CommitMoved(task="1.1", was="c0ffee", commit="dead"))
    assert not legal(state, ev.CommitMoved(task="1.2", was="", commit="dead"))

"""A task is undone where nothing builds on it; a goal is abandoned where its work is not done."""

from __future__ import annotations

import pytest
from tests.domain.story import RED, delegated, legal, passing, play, rejected, rejection, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Step, Waiting, next_step, waiting_for
from swarmgate.domain.state.state import Outcome, State, TaskStatus
from swarmgate.domain.transitions.undo import dependents, undo_order

BEGUN = play(State(), *started())
CLOSED: list[ev.Event] = [ev.PhaseClosed(phase=1, summary="Done."), ev.PhaseApproved(phase=1)]


def undone(task: str, commit: str = "c0ffee", **more: str) -> ev.TaskUndone:
    return ev.TaskUndone(task=task, commit=commit, revert="beef" if commit else "", **more)


def test_an_undone_task_is_pending_with_its_attempts_and_without_its_commit() -> None:
    state = play(BEGUN, *passing("1.1"), undone("1.1", reason="too slow"))
    record = state.task("1.1")
    assert (record.status, record.commit, record.unfinished) == (TaskStatus.PENDING, "", False)
    assert [each.outcome for each in record.attempts] == [Outcome.UNDONE]
    assert record.notes == ("It was undone: too slow",)
    assert next_step(state) is Step.DELEGATE
    assert not legal(state, undone("1.1"))
    assert play(state, *passing("1.1", 2)).task("1.1").status is TaskStatus.COMPLETE


def test_what_is_complete_and_builds_on_it_goes_first() -> None:
    state = play(BEGUN, *passing("1.1"), *passing("1.2"), *passing("1.3"))
    assert dependents(state, "1.1") == ("1.2",)
    assert undo_order(state, "1.1") == ("1.2", "1.1")
    assert not legal(state, undone("1.1"))
    assert legal(state, undone("1.2"), undone("1.1"))


@pytest.mark.parametrize(
    "event",
    [undone("9.9"), undone("1.3"), undone("1.3", ""), undone("1.1", "other"), undone("1.1", "")],
    ids=["unknown", "pending", "pending-without-commit", "another-commit", "complete-without-commit"],
)
def test_nothing_else_is_undone(event: ev.TaskUndone) -> None:
    assert not legal(play(BEGUN, *passing("1.1")), event)


def test_an_unfinished_task_is_undone_without_a_commit_and_not_while_it_runs() -> None:
    state = play(BEGUN, *passing("1.1"), delegated("1.2"))
    assert not legal(state, undone("1.2", ""))
    assert not legal(state, undone("1.1"))
    state = play(state, rejection("1.2", 1))
    assert not legal(state, undone("1.1"))
    state = play(state, undone("1.2", ""), undone("1.1"))
    assert (state.task("1.2").status, state.tree) == (TaskStatus.PENDING, "")
    assert legal(state, delegated("1.1", 2))
    retried = play(state, ev.TaskRetried(task="1.2"))
    assert not retried.task("1.2").unfinished


def test_another_task_that_is_unfinished_comes_first() -> None:
    state = play(BEGUN, *passing("1.1"), *passing("1.2"), *rejected("1.3", 1))
    assert not legal(state, undone("1.2"))
    assert legal(state, undone("1.3", ""), undone("1.2"))


def test_an_approved_phase_is_open_again_until_a_later_one_has_work() -> None:
    state = play(BEGUN, *passing("1.1"), *passing("1.2"), *passing("1.3"), *CLOSED)
    assert state.current_phase == 2
    again = play(state, undone("1.3"))
    assert (again.current_phase, again.phase(1).closed) == (1, False)
    later = play(state, *passing("2.1"), ev.PhaseClosed(phase=2, summary="Done."))
    assert not legal(later, undone("1.3"))
    both = play(later, undone("2.1"), undone("1.3"))
    assert both.current_phase == 1
    assert play(both, *passing("1.3", 2), *CLOSED).current_phase == 2


def test_tests_that_failed_by_the_users_word_are_known_no_more_when_their_task_is_undone() -> None:
    override = ev.AttemptKind.OVERRIDE
    run = RED.model_copy(update={"failures": ("test_a",)})
    red = ev.TestsRun(task="1.1", attempt=2, tree="r", run=run, passed=True)
    steps = passing("1.1", 2, override)
    state = play(
        BEGUN,
        *rejected("1.1", 1, "tests"),
        ev.RejectionOverridden(task="1.1", stage="tests", reason="fine"),
        *steps[:5],
        red,
        steps[6],
    )
    assert state.known_red == ("test_a",)
    assert play(state, undone("1.1")).known_red == ()


def test_an_abandoned_goal_leaves_what_was_spent_and_makes_room_for_the_next() -> None:
    gone = ev.GoalAbandoned(reason="something else is wanted")
    state = play(BEGUN, *passing("1.1"))
    assert not legal(state, ev.GoalSet(goal="Next"))
    assert not legal(play(state, delegated("1.2")), gone)
    after = play(state, gone)
    assert (after.goal, after.plan, after.branch, after.goals) == ("", None, "", 1)
    assert waiting_for(after) is Waiting.GOAL
    assert not legal(after, gone)
    assert play(after, ev.GoalSet(goal="Next")).goals == 2

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import passing as attempt
from tests.domain.story import play, rejected, started, walk

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.lifecycle import MOVES, Move, TaskState, advance
from swarmgate.domain.state.state import State
from swarmgate.errors import InvalidTaskStateTransition

FORWARD = {
    (TaskState.IDLE, Move.DELEGATE): TaskState.CODER_DELEGATED,
    (TaskState.CODER_DELEGATED, Move.PASS_GATES): TaskState.PRE_CHECK_PASSED,
    (TaskState.PRE_CHECK_PASSED, Move.PASS_REVIEW): TaskState.REVIEWER_RUN,
    (TaskState.REVIEWER_RUN, Move.PASS_TESTS): TaskState.TESTS_RUN,
    (TaskState.TESTS_RUN, Move.COMPLETE): TaskState.COMPLETE,
}
RUNNING = list(TaskState)[1:5]
ENDINGS = (Move.REJECT, Move.INTERRUPT)


@pytest.mark.parametrize(("state", "move"), list(itertools.product(TaskState, Move)))
def test_the_whole_table_goes_one_step_forward_or_ends_the_attempt_and_knows_nothing_else(
    state: TaskState, move: Move
) -> None:
    if (state, move) in FORWARD:
        assert advance("1.1", state, move) is FORWARD[state, move]
        assert list(TaskState).index(FORWARD[state, move]) == list(TaskState).index(state) + 1
    elif state in RUNNING and move in ENDINGS:
        assert advance("1.1", state, move) is TaskState.IDLE
    else:
        with pytest.raises(InvalidTaskStateTransition, match=r"INVALID_TASK_STATE_TRANSITION: task 1\.1 ") as caught:
            advance("1.1", state, move)
        assert caught.value.code == "INVALID_TASK_STATE_TRANSITION"
        assert f"in state {state.value} and cannot {move.value}" in caught.value.message


def test_every_state_but_complete_has_a_legal_move() -> None:
    assert {state for state, _ in MOVES} == set(TaskState) - {TaskState.COMPLETE}


@pytest.mark.parametrize("done", range(6))
def test_completing_a_task_that_is_not_in_tests_run_is_refused(done: int) -> None:
    state = play(State(), *started(), *attempt("1.1")[:done])
    with pytest.raises(InvalidTaskStateTransition) as caught:
        play(state, attempt("1.1")[6])
    assert caught.value.code == "INVALID_TASK_STATE_TRANSITION"
    assert caught.value.exit_code == 2


def test_a_complete_task_stays_complete() -> None:
    state = play(State(), *started(), *attempt("1.1"))
    for event in attempt("1.1"):
        with pytest.raises(InvalidTaskStateTransition):
            play(state, event)


@pytest.mark.parametrize("first", range(7))
@pytest.mark.parametrize("then", range(7))
def test_no_event_of_an_attempt_can_be_skipped_or_told_twice(first: int, then: int) -> None:
    story = attempt("1.1")
    state = play(State(), *started(), *story[: first + 1])
    if then == first + 1:
        assert play(state, story[then]).seq == state.seq + 1
    else:
        with pytest.raises(InvalidTaskStateTransition):
            play(state, story[then])


def test_a_rejected_attempt_is_over_and_the_next_begins_at_the_beginning() -> None:
    state = play(State(), *started(), *rejected("1.1", 1))
    assert state.task("1.1").state is TaskState.IDLE
    for event in attempt("1.1", 1)[1:]:
        with pytest.raises(InvalidTaskStateTransition):
            play(state, event)
    assert play(state, attempt("1.1", 2)[0]).task("1.1").state is TaskState.CODER_DELEGATED


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32))
def test_attempt_and_state_only_ever_grow(seed: int) -> None:
    for before, event, after in walk(seed):
        for task_id in before.tasks:
            if isinstance(event, ev.GoalSet) or after.plan is None or task_id not in after.plan.tasks:
                continue
            assert _order(before, task_id) <= _order(after, task_id)


def _order(state: State, task_id: str) -> tuple[int, int]:
    """(attempt, state); an attempt that ended stands behind every state of its own and before the next attempt."""
    record = state.task(task_id)
    if record.last is None:
        return 0, 0
    running = record.running is not None
    return record.last.number, list(TaskState).index(record.last.state) if running else len(TaskState)

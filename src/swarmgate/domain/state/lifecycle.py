"""The life cycle of a task: a forward-only state machine, written as one table.

    idle -> coder_delegated -> pre_check_passed -> reviewer_run -> tests_run -> complete

The order is (attempt, state). A rejection or an interruption ends the attempt, and the task is idle in the next one;
nothing walks back and nothing is skipped.
"""

from __future__ import annotations

from enum import StrEnum

from swarmgate.errors import InvalidTaskStateTransition


class TaskState(StrEnum):
    """How far the running attempt of a task has come, in rising order."""

    IDLE = "idle"
    CODER_DELEGATED = "coder_delegated"
    PRE_CHECK_PASSED = "pre_check_passed"
    REVIEWER_RUN = "reviewer_run"
    TESTS_RUN = "tests_run"
    COMPLETE = "complete"


class Move(StrEnum):
    """What can happen to a task; each event of an attempt has at most one of these moves as its effect."""

    DELEGATE = "delegate"
    PASS_GATES = "pass the gates"  # noqa: S105 - a move, not a password
    PASS_REVIEW = "pass the review"  # noqa: S105 - a move, not a password
    PASS_TESTS = "pass the tests"  # noqa: S105 - a move, not a password
    COMPLETE = "be completed"
    REJECT = "be rejected"
    INTERRUPT = "be interrupted"


MOVES: dict[tuple[TaskState, Move], TaskState] = {
    (TaskState.IDLE, Move.DELEGATE): TaskState.CODER_DELEGATED,
    (TaskState.CODER_DELEGATED, Move.PASS_GATES): TaskState.PRE_CHECK_PASSED,
    (TaskState.PRE_CHECK_PASSED, Move.PASS_REVIEW): TaskState.REVIEWER_RUN,
    (TaskState.REVIEWER_RUN, Move.PASS_TESTS): TaskState.TESTS_RUN,
    (TaskState.TESTS_RUN, Move.COMPLETE): TaskState.COMPLETE,
    **{
        (state, move): TaskState.IDLE
        for state in TaskState
        if state not in (TaskState.IDLE, TaskState.COMPLETE)
        for move in (Move.REJECT, Move.INTERRUPT)
    },
}
"""All legal moves: a pair that is not in this table is illegal. IDLE after a move means idle in the next attempt."""


def advance(task_id: str, state: TaskState, move: Move) -> TaskState:
    """The state after a move.

    Raises:
        InvalidTaskStateTransition: the table does not know the move from this state.
    """
    after = MOVES.get((state, move))
    if after is None:
        legal = ", ".join(sorted(m.value for s, m in MOVES if s is state)) or "nothing: it is complete"
        raise InvalidTaskStateTransition(
            f"INVALID_TASK_STATE_TRANSITION: task {task_id} is in state {state.value} and cannot {move.value}; "
            f"from here it can {legal}."
        )
    return after

"""The fold: applies events to the state one by one, through the table of transitions.

    state = fold(State(), entries)

An illegal event raises here, so the ledger can never hold one: `ledger.append` folds before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swarmgate.domain.events.event import Entry, PauseReason
from swarmgate.domain.state.state import State, replace
from swarmgate.domain.transitions import debate, guard, lease, phase, planning, review, task, undo


def fold(state: State, entries: Iterable[Entry]) -> State:
    """The state after the entries, in order.

    Raises:
        IllegalMove: an event does not fit the state that it meets (`InvalidTaskStateTransition` for the life cycle).
        PlanError: a plan that breaks the rules, or that rewrites what is settled.
    """
    entry, began, deaths = None, (state.step_seq, state.step_time), state.step_deaths
    for entry in entries:
        if entry.event.type == "run_started" and state.running:
            deaths = (*deaths, entry.seq)
        state = TRANSITIONS[entry.event.type](state, entry.event, entry)
        if not _is_bookkeeping(entry.event):
            began, deaths = (entry.seq, entry.time), ()
    if entry is None:
        return state
    seq, time = began
    return replace(state, seq=entry.seq, time=entry.time, step_seq=seq, step_time=time, step_deaths=deaths)


def _is_bookkeeping(event: Any) -> bool:
    """Whether an event leaves the running step what it was, also for a run that takes it up again.

    A step that ended in an error of its own (a breaker that tripped) is over: the same answers would end it again.
    """
    if event.type == "run_paused":
        return event.reason is not PauseReason.ERROR
    return event.type in _BOOKKEEPING


_BOOKKEEPING = frozenset(
    {"debate_kept", "edit_refused", "guard_acted", "guidance_given", "ledger_repaired", "run_started", "tree_restored"}
    | {"budget_reserved", "lease_taken", "record_sealed", "turn_ended", "usage_recorded"}
)
"""What goes on record around a step, and while it is taken up again."""


def _unchanged(state: State, _event: Any, _: Entry) -> State:
    """The transition of events that do not change the state."""
    return state


TRANSITIONS: dict[str, Callable[[State, Any, Entry], State]] = {
    "project_initialised": planning.initialised,
    "goal_set": planning.goal_set,
    "goal_abandoned": planning.goal_abandoned,
    "questions_asked": planning.questions_asked,
    "question_answered": planning.question_answered,
    "plan_saved": planning.plan_saved,
    "planning_failed": planning.planning_failed,
    "plan_reviewed": planning.plan_reviewed,
    "plan_approved": planning.plan_approved,
    "revision_requested": planning.revision_requested,
    "plan_amended": planning.plan_amended,
    "edit_refused": _unchanged,
    "work_started": planning.work_started,
    "run_started": planning.run_started,
    "run_paused": planning.run_paused,
    "tree_restored": planning.tree_restored,
    "task_delegated": task.task_delegated,
    "task_question_asked": task.task_question_asked,
    "change_captured": task.change_captured,
    "gates_run": review.gates_run,
    "review_given": review.review_given,
    "security_review_given": review.security_review_given,
    "tests_written": review.tests_written,
    "adversarial_tests_written": review.adversarial_tests_written,
    "tests_reviewed": review.tests_reviewed,
    "tests_run": review.tests_run,
    "attempt_rejected": task.attempt_rejected,
    "attempt_interrupted": task.attempt_interrupted,
    "task_completed": task.task_completed,
    "commit_moved": task.commit_moved,
    "task_reopened": task.task_reopened,
    "task_undone": undo.task_undone,
    "task_blocked": task.task_blocked,
    "task_retried": task.task_retried,
    "task_skipped": task.task_skipped,
    "rejection_overridden": task.rejection_overridden,
    "phase_reviewed": phase.phase_reviewed,
    "phase_regressed": phase.phase_regressed,
    "phase_retried": phase.phase_retried,
    "phase_overridden": phase.phase_overridden,
    "phase_closed": phase.phase_closed,
    "phase_approved": phase.phase_approved,
    "usage_recorded": planning.usage_recorded,
    "guard_acted": guard.guard_acted,
    "turn_ended": guard.turn_ended,
    "guidance_given": guard.guidance_given,
    "phase_estimated": guard.phase_estimated,
    "debate_kept": debate.debate_kept,
    "debate_weighed": debate.debate_weighed,
    "evidence_kept": _unchanged,
    "evidence_set_aside": _unchanged,
    "ledger_repaired": _unchanged,
    "record_sealed": _unchanged,
    "ledger_restored": _unchanged,
    "ledger_adopted": _unchanged,
    "locks_removed": _unchanged,
    "lease_taken": lease.lease_taken,
    "budget_reserved": lease.budget_reserved,
}
"""One transition an event. A test asserts that this dict and the union name the same types."""

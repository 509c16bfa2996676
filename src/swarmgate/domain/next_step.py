"""Decides the next step of the loop as a pure function of the state, and what the loop waits for the user for.

    while step := next_step(state): ...

`next_step` returns None exactly when `waiting_for` has an answer: there are no dead ends.
"""

from __future__ import annotations

from enum import StrEnum

from swarmgate.domain.events.event import AttemptKind, PhaseApproved, PhaseStage, PlanApproved
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.spending.estimate import estimate_due
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.phase_verdict import Standing, judged_stage, standing
from swarmgate.domain.state.state import (
    Attempt,
    Outcome,
    Planning,
    Question,
    Recovery,
    State,
    TaskRecord,
    TaskStatus,
)
from swarmgate.domain.state.unattended import Unattended, phase_needs_person, plan_needs_person, too_many
from swarmgate.domain.task.failure_patterns import stopping
from swarmgate.domain.transitions.review import adversarial_due, tests_review_due
from swarmgate.domain.transitions.task import attempt_kind, to_weigh


class Step(StrEnum):
    """One thing that the engine can do. Each ends in events."""

    RECOVER = "recover"
    """Bring the files back to what the last step left, after a run that died or stopped at once."""
    PLAN = "plan"
    REVISE = "revise"
    REVIEW_PLAN = "review_plan"
    START_WORK = "start_work"
    """Make the branch of the work."""
    ESTIMATE = "estimate"
    """Say what the phase that begins is expected to use."""
    WEIGH = "weigh"
    """The architect weighs a change that only the quality budget is against."""
    DELEGATE = "delegate"
    OPEN_OVERRIDE = "open_override"
    """Open an attempt on the tree as it stands, because the user overruled a rejection."""
    CODE = "code"
    DECLINE = "decline"
    """Leave an agent's question to its own judgement, because nobody is there to answer."""
    IMPLEMENT = "implement"
    """The architect writes the code itself (ESCALATED)."""
    CAPTURE = "capture"
    """Take the tree as it stands for the change (OVERRIDE)."""
    GATES = "gates"
    REVIEW = "review"
    SECURITY_REVIEW = "security_review"
    TEST = "test"
    ADVERSARIAL_TEST = "adversarial_test"
    REVIEW_TESTS = "review_tests"
    """The reviewer looks again, where the test engineer wrote files since its review."""
    RUN_TESTS = "run_tests"
    COMMIT = "commit"
    BLOCK = "block"
    EVALUATE_PHASE = "evaluate_phase"
    """The critic judges the phase before its first task."""
    TEST_PHASE = "test_phase"
    """The tests run over the tree that the phase leaves."""
    VALIDATE_PHASE = "validate_phase"
    """One of several reviewers judges the phase after its last task."""
    CLOSE_PHASE = "close_phase"


class Waiting(StrEnum):
    """The actions that only the user can take."""

    GOAL = "goal"
    ANSWERS = "answers"
    """The architect needs answers before it plans, or an agent asks in the middle of a task."""
    PLAN_APPROVAL = "plan_approval"
    PLANNING_FAILED = "planning_failed"
    BLOCKED_TASK = "blocked_task"
    PHASE_REJECTED = "phase_rejected"
    """The tests or the reviewers of a whole phase rejected it."""
    PHASE_APPROVAL = "phase_approval"
    NOTHING = "nothing"
    """Every phase is approved: the work is done."""


def next_step(state: State) -> Step | None:
    """Decides the engine's next step; None when the user has to act or the work is done."""
    if state.recovery is not Recovery.NONE:
        return Step.RECOVER
    if state.planning is not Planning.APPROVED:
        return _planning_step(state)
    if not state.branch:
        return None if state.finished else Step.START_WORK
    if state.open:
        return _unanswered_step(state) if state.task(state.open).waits else _attempt_step(state)
    if state.finished:
        return None
    settled = state.phase_settled(state.current_phase)
    match standing(state):
        case Standing.DUE:
            return _JUDGING[judged_stage(state) or "validation"]
        case Standing.REJECTED:
            return None
    if settled:
        return None if state.phase(state.current_phase).closed else Step.CLOSE_PHASE
    return _task_step(state)


_JUDGING: dict[PhaseStage, Step] = {
    "gate": Step.EVALUATE_PHASE,
    "tests": Step.TEST_PHASE,
    "validation": Step.VALIDATE_PHASE,
}


def waiting_for(state: State) -> Waiting | None:
    """Decides what the user has to do next; None while the engine has a next step."""
    if next_step(state) is not None:
        return None
    if state.planning is not Planning.APPROVED:
        return {
            Planning.NONE: Waiting.GOAL,
            Planning.ASKED: Waiting.ANSWERS,
            Planning.OBJECTED: Waiting.ANSWERS,
            Planning.REVIEWED: Waiting.PLAN_APPROVAL,
            Planning.FAILED: Waiting.PLANNING_FAILED,
        }[state.planning]
    if state.finished:
        return Waiting.NOTHING
    if question_at_work(state):
        return Waiting.ANSWERS
    if standing(state) is Standing.REJECTED:
        return Waiting.PHASE_REJECTED
    return Waiting.PHASE_APPROVAL if state.phase_settled(state.current_phase) else Waiting.BLOCKED_TASK


def approval_due(state: State, rules: Unattended) -> PlanApproved | PhaseApproved | None:
    """The approval that is given now in the user's place; None where nothing waits for one, or only the user can."""
    match waiting_for(state):
        case Waiting.PLAN_APPROVAL if (by := rules.by.get("plan")) and not needs_person(state, rules):
            return PlanApproved(by=by)
        case Waiting.PHASE_APPROVAL if (by := rules.by.get("phase")) and not needs_person(state, rules):
            return PhaseApproved(phase=state.current_phase, by=by)
        case _:
            return None


def needs_person(state: State, rules: Unattended) -> str:
    """Why an approval waits for the user though it is among those given in the user's place; empty: it does not."""
    match waiting_for(state):
        case Waiting.PLAN_APPROVAL if "plan" in rules.by:
            return plan_needs_person(state)
        case Waiting.PHASE_APPROVAL if "phase" in rules.by:
            return phase_needs_person(state.phase(state.current_phase)) or too_many(state, rules)
        case _:
            return ""


def next_task(state: State) -> Task | None:
    """The task that the next delegation is for: an unfinished one first, else the first ready one in plan order.

    A task is ready when it stands in the current phase and all it depends on is complete or skipped. While a task is
    blocked there is none: its change lies in the tree.
    """
    if state.plan is None or state.finished:
        return None
    unfinished: Task | None = None
    ready: Task | None = None
    for task in state.plan.phase(state.current_phase).tasks:  # once over all of them: a plan may have thousands
        record = state.task(task.id)
        if record.status is TaskStatus.BLOCKED:
            return None
        if record.settled:
            continue
        if record.unfinished:
            unfinished = unfinished or task
        elif ready is None and all(state.task(other).settled for other in task.depends):
            ready = task
    return unfinished or ready


def question_at_work(state: State) -> Question | None:
    """The question that the work at a task waits for; None where there is none."""
    due = next_task(state)
    record = state.task(state.open or (due.id if due else ""))
    return record.question if record.waits else None


def open_questions(state: State) -> tuple[Question, ...]:
    """The questions that wait for the user now: those of planning while a plan is made, else that of a task."""
    if state.planning is Planning.APPROVED:
        asked = question_at_work(state)
        return (asked,) if asked else ()
    return tuple(question for question in state.questions if not question.task and not question.settled)


def worked_on(state: State) -> str:
    """The task that the next step is for: a delegation is for the one that it opens; empty outside of tasks."""
    if state.open:
        return state.open
    step = next_step(state)
    if step not in (Step.WEIGH, Step.DELEGATE, Step.DECLINE, None):
        return ""
    due = next_task(state) if step in (Step.WEIGH, Step.DELEGATE) else None
    return due.id if due else "".join(question.task for question in open_questions(state))


def begins_phase(state: State) -> int:
    """The phase that the next step begins: none of its tasks was ever attempted. 0 where no phase begins."""
    if state.plan is None or next_step(state) not in (Step.EVALUATE_PHASE, Step.ESTIMATE, Step.DELEGATE):
        return 0
    number = state.current_phase
    return 0 if any(state.task(task.id).attempts for task in state.plan.phase(number).tasks) else number


def blocked_task(state: State) -> Task | None:
    """The task of the current phase that waits for the user's decision, if there is one."""
    if state.plan is None or state.finished:
        return None
    tasks = state.plan.phase(state.current_phase).tasks
    return next((task for task in tasks if state.task(task.id).status is TaskStatus.BLOCKED), None)


def _unanswered_step(state: State) -> Step | None:
    """What is due while an agent's question has no answer."""
    return Step.DECLINE if state.rules.decline else None


def _planning_step(state: State) -> Step | None:
    if state.planning is Planning.SAVED:
        return Step.REVIEW_PLAN
    if state.planning not in (Planning.ASKED, Planning.OBJECTED):
        return None
    if open_questions(state):
        return None
    return Step.REVISE if state.plan else Step.PLAN


def _task_step(state: State) -> Step | None:
    task = next_task(state)
    if task is None:
        return None
    record = state.task(task.id)
    if record.waits:
        return _unanswered_step(state)
    if _is_exhausted(record) or _is_unjudged(record) or stopping(record):
        return Step.BLOCK
    if attempt_kind(state, task.id) is AttemptKind.OVERRIDE:
        return Step.OPEN_OVERRIDE
    if to_weigh(state, record):
        return Step.WEIGH
    return Step.ESTIMATE if estimate_due(state) else Step.DELEGATE


def _is_exhausted(record: TaskRecord) -> bool:
    """Whether the last word was a rejection that no further attempt may follow without the user."""
    last = record.last
    return (
        last is not None
        and last.outcome is Outcome.REJECTED
        and last.kind is not AttemptKind.CODER
        and record.rejections > 0
        and not record.override_pending
    )


def _is_unjudged(record: TaskRecord) -> bool:
    """Whether nobody could judge: a breaker stopped the role, or the tools are not what they were.

    Another attempt of the coder's mends neither.
    """
    last = record.last
    return (
        last is not None
        and last.outcome is Outcome.REJECTED
        and (last.stage.judge is Judge.INSTALLED or _is_stopped_judge(last))
        and record.rejections > 0
        and not record.override_pending
    )


def _is_stopped_judge(attempt: Attempt) -> bool:
    return attempt.stage.judge is Judge.BREAKER and attempt.state is not TaskState.CODER_DELEGATED


_TURN_OF = {AttemptKind.CODER: Step.CODE, AttemptKind.ESCALATED: Step.IMPLEMENT, AttemptKind.OVERRIDE: Step.CAPTURE}


def _attempt_step(state: State) -> Step:
    attempt = state.task(state.open).attempts[-1]
    match attempt.state:
        case TaskState.CODER_DELEGATED:
            return Step.GATES if attempt.captured else _TURN_OF[attempt.kind]
        case TaskState.PRE_CHECK_PASSED:
            return Step.SECURITY_REVIEW if attempt.reviewed else Step.REVIEW
        case TaskState.REVIEWER_RUN if not attempt.tested:
            return Step.TEST
        case TaskState.REVIEWER_RUN:
            if adversarial_due(state, state.open):
                return Step.ADVERSARIAL_TEST
            return Step.REVIEW_TESTS if tests_review_due(state, state.open) else Step.RUN_TESTS
        case _:
            return Step.COMMIT

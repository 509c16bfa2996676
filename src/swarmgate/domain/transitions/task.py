"""Transitions of task events: how each changes an attempt, and when it is illegal.

Each transition is a function `(state, event, entry) -> state`; `fold` looks it up by the event's type. The moves
themselves are the table in `lifecycle`; what stands here is who may make them when.
"""

from __future__ import annotations

from typing import Any

from immutables import Map

from swarmgate.domain.actor import decider
from swarmgate.domain.events import event as ev
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.lifecycle import Move, TaskState, advance
from swarmgate.domain.state.state import (
    UNUSED,
    Attempt,
    Block,
    Outcome,
    Override,
    Planning,
    Question,
    Recovery,
    State,
    TaskRecord,
    TaskStatus,
    replace,
)
from swarmgate.domain.task.remedies import BUDGET, NEVER_OVERRIDDEN, firm_gates, settings_for
from swarmgate.errors import IllegalMove, InvalidTaskStateTransition

WEIGHED = "budget-weighed"
"""The rule of the note in which the architect's verdict on the cost of an attempt stands."""

_REMEMBERED = 50
"""As many completed tasks are the basis of an estimate: the newest ones."""


def task_delegated(state: State, event: ev.TaskDelegated, entry: ev.Entry) -> State:
    record = state.task(event.task)
    after = advance(event.task, record.state, Move.DELEGATE)
    if reason := delegation_problem(state, event):
        raise IllegalMove(f"Task {event.task} cannot be delegated: {reason}.")
    attempt = Attempt(
        number=event.attempt,
        kind=event.kind,
        scope=event.scope,
        instructions=event.instructions,
        tree=event.tree,
        seq=entry.seq,
        started=entry.time,
        base=event.base,
        state=after,
        captured=False,
    )
    record = replace(
        record,
        attempts=(*record.attempts, attempt),
        status=TaskStatus.IN_PROGRESS,
        reason="",
        block=None,
        override_pending=False,
        question=None,
    )
    return replace(state, tasks=state.tasks.set(event.task, record), open=event.task, last=event.task, tree=event.tree)


def delegation_problem(state: State, event: ev.TaskDelegated) -> str:
    """Why this delegation is illegal; empty when it is legal."""
    record = state.task(event.task)
    if state.plan is None or state.planning is not Planning.APPROVED:
        return "the user has not approved the plan"
    if event.task not in state.plan.tasks:
        return "the plan has no such task"
    if state.open:
        return f"task {state.open} is open, and work goes one task at a time"
    if event.task != state.last and state.task(state.last).unfinished:
        return f"task {state.last} is unfinished, and its change lies in the tree"
    if record.status in (TaskStatus.BLOCKED, TaskStatus.SKIPPED):
        return f"it is {record.status.value}"
    if record.waits:
        return "it waits for the answer to a question"
    if state.plan.phase_numbers[event.task] != state.current_phase:
        return f"phase {state.current_phase} is the current one"
    waiting = [other for other in state.plan.tasks[event.task].depends if not state.task(other).settled]
    if waiting and not record.unfinished:
        return f"it depends on {', '.join(waiting)}"
    if event.attempt != len(record.attempts) + 1:
        return f"the next attempt is number {len(record.attempts) + 1}"
    due = attempt_kind(state, event.task)
    return "" if event.kind is due else f"the next attempt is of the kind {due.value!r}"


def attempt_kind(state: State, task_id: str) -> ev.AttemptKind:
    """Who does the next attempt: the architect after `max_rejections` rejections, nobody when the user overrode one."""
    record = state.task(task_id)
    if record.override_pending:
        return ev.AttemptKind.OVERRIDE
    return ev.AttemptKind.ESCALATED if record.rejections >= state.rules.max_rejections else ev.AttemptKind.CODER


def overruled(record: TaskRecord, attempt: Attempt, who: str) -> bool:
    """Whether the user overruled this judge, or the gate of this id, for this attempt."""
    if attempt.kind is not ev.AttemptKind.OVERRIDE:
        return False
    parts = {part for known in record.overrides for part in known.parts}
    return who in parts and who not in NEVER_OVERRIDDEN


def task_question_asked(state: State, event: ev.TaskQuestionAsked, _: ev.Entry) -> State:
    record = state.task(event.task)
    if event.step == "delegate":
        _require_idle(state, event)
    else:
        attempt = running(state, event.task, event.attempt)
        if attempt.state is not TaskState.CODER_DELEGATED or attempt.captured:
            raise out_of_turn(event.task, attempt, "ask the user")
    if record.waits:
        raise IllegalMove(f"Task {event.task} waits for an answer already.")
    number = len(state.questions) + 1
    fields = ("task", "attempt", "role", "step", "options", "why", "assumption", "conversation")
    asked = Question(number, event.question, **{name: getattr(event, name) for name in fields})
    after = updated(state, event.task, tree=event.tree) if event.tree and record.running else state
    record = replace(after.task(event.task), question=asked)
    return replace(after, questions=(*state.questions, asked), tasks=after.tasks.set(event.task, record))


def _past_question(state: State, task_id: str) -> State:
    """The state in which the turn that went on with an answer is over."""
    return replace(state, tasks=state.tasks.set(task_id, replace(state.task(task_id), question=None)))


def _require_idle(state: State, event: ev.TaskQuestionAsked) -> None:
    """Raises `IllegalMove` unless the attempt that a delegation is to open can be opened."""
    due = ev.TaskDelegated(
        task=event.task, attempt=event.attempt, kind=attempt_kind(state, event.task), tree=event.tree
    )
    if reason := delegation_problem(state, due):
        raise IllegalMove(f"Nothing can be asked for the delegation of task {event.task}: {reason}.")


def change_captured(state: State, event: ev.ChangeCaptured, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if attempt.state is not TaskState.CODER_DELEGATED or attempt.captured or state.task(event.task).waits:
        raise out_of_turn(event.task, attempt, "have its change captured")
    return updated(
        _past_question(state, event.task),
        event.task,
        captured=True,
        tree=event.tree,
        files=event.files,
        summary=event.summary,
        outside=event.outside,
        contents=tuple(event.contents.items()),
    )


def attempt_rejected(state: State, event: ev.AttemptRejected, entry: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    advance(event.task, attempt.state, Move.REJECT)
    closed = updated(
        state,
        event.task,
        outcome=Outcome.REJECTED,
        stage=event.stage,
        reason=event.reason,
        feedback=event.feedback,
        findings=event.findings,
        ended=entry.time,
    )
    record = closed.task(event.task)
    record = replace(record, rejections=record.rejections + 1, question=None)
    return replace(closed, tasks=closed.tasks.set(event.task, record), open="")


def attempt_interrupted(state: State, event: ev.AttemptInterrupted, entry: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt, recovering=True)
    advance(event.task, attempt.state, Move.INTERRUPT)
    ended = {"outcome": Outcome.INTERRUPTED, "reason": event.reason, "kept": event.kept, "ended": entry.time}
    closed = updated(state, event.task, **ended)
    record = replace(closed.task(event.task), question=None, override_pending=attempt.kind is ev.AttemptKind.OVERRIDE)
    return replace(closed, tasks=closed.tasks.set(event.task, record), open="", recovery=Recovery.NONE)


def task_completed(state: State, event: ev.TaskCompleted, entry: ev.Entry) -> State:
    record = state.task(event.task)
    after = advance(event.task, record.state, Move.COMPLETE)
    running(state, event.task, event.attempt)
    closed = updated(
        state, event.task, state=after, outcome=Outcome.COMPLETE, tree=event.tree, ended=entry.time, commit=event.commit
    )
    record = replace(closed.task(event.task), status=TaskStatus.COMPLETE, reason="", block=None, commit=event.commit)
    done = replace(closed, tasks=closed.tasks.set(event.task, record), open="", tree="")
    red = record.attempts[-1].failures
    if record.attempts[-1].related or state.rules.phase_tests:  # what did not run is not mended by that
        red = tuple(dict.fromkeys((*state.known_red, *red)))
    done = replace(done, known_red=red)
    return _qa_counted(_experienced(done, event.task), event.task)


def _experienced(state: State, task_id: str) -> State:
    """The state that remembers what this task took, for the estimates of the phases to come."""
    used = state.task(task_id).usage
    if state.plan is None or not used.calls:
        return state
    took = (state.plan.tasks[task_id].complexity, used)
    return replace(state, experience=(*state.experience, took)[-_REMEMBERED:])


def _qa_counted(state: State, task_id: str) -> State:
    """The count of tasks that skipped QA: up by one, or back to 0 once both roles were seen on a task since."""
    attempt = state.task(task_id).attempts[-1]
    both = all(review is not None and review.approved for review in (attempt.review, attempt.tests_review))
    return replace(state, qa_skipped=0 if both else state.qa_skipped + 1)


def commit_moved(state: State, event: ev.CommitMoved, _: ev.Entry) -> State:
    record = committed(state, event.task, event.was)
    attempts = tuple(replace(a, commit=event.commit) if a.commit == event.was else a for a in record.attempts)
    return replace(state, tasks=state.tasks.set(event.task, replace(record, attempts=attempts, commit=event.commit)))


def task_reopened(state: State, event: ev.TaskReopened, _: ev.Entry) -> State:
    record = committed(state, event.task, event.commit)
    number = state.plan.phase_numbers.get(event.task, 0) if state.plan else 0
    if state.phase(number).approved:
        raise IllegalMove(
            f"Phase {number} is approved, so task {event.task} is not opened again.",
            hint=f'Have it done by a new task: swarm revise "..."; accept the history as it is: swarm override '
            f'{event.task} --reason "..."',
        )
    reopened = replace(
        record,
        status=TaskStatus.PENDING,
        commit="",
        undone=event.commit,
        rejections=0,
        renewed=len(record.attempts),
    )
    return with_open_phase(replace(state, tasks=state.tasks.set(event.task, reopened)), number)


def with_open_phase(state: State, number: int) -> State:
    """The state with a phase open again: its summary, its verdicts and its approval told of work that is not there."""
    if number not in state.phases:
        return state
    return replace(state, phases=state.phases.set(number, state.phase(number).renewed))


def committed(state: State, task_id: str, commit: str) -> TaskRecord:
    """The record of a task that was completed by this commit."""
    record = state.task(task_id)
    if record.status is not TaskStatus.COMPLETE or record.commit != commit:
        raise IllegalMove(f"Task {task_id} was not completed by commit {commit[:12]}.")
    return record


def task_blocked(state: State, event: ev.TaskBlocked, _: ev.Entry) -> State:
    record = _idle(state, event.task)
    if event.task != state.last and state.task(state.last).unfinished:
        raise IllegalMove(f"Task {state.last} is unfinished, and comes before task {event.task}.")
    reason = f"({event.stage}) {event.reason}".strip()
    block = Block(event.stage, event.reason)
    blocked = replace(record, status=TaskStatus.BLOCKED, reason=reason, block=block, question=None)
    return replace(state, tasks=state.tasks.set(event.task, blocked))


def task_retried(state: State, event: ev.TaskRetried, _: ev.Entry) -> State:
    record = _idle(state, event.task)
    retried = replace(
        record,
        rejections=0,
        status=TaskStatus.IN_PROGRESS if record.unfinished else TaskStatus.PENDING,
        reason="",
        block=None,
        question=None,
        notes=(*record.notes, event.note) if event.note else record.notes,
        overrides=Map(),
        override_pending=False,
        renewed=len(record.attempts),
        spent=UNUSED,
    )
    return replace(state, tasks=state.tasks.set(event.task, retried))


def task_skipped(state: State, event: ev.TaskSkipped, _: ev.Entry) -> State:
    record = replace(
        _idle(state, event.task), status=TaskStatus.SKIPPED, reason=event.reason, block=None, question=None
    )
    return replace(state, tasks=state.tasks.set(event.task, record))


def rejection_overridden(state: State, event: ev.RejectionOverridden, entry: ev.Entry) -> State:
    record = _idle(state, event.task)
    last = record.last
    there = record.unfinished or (last and last.commit)  # an undone change is not
    if last is None or last.outcome is not Outcome.REJECTED or not there:
        raise IllegalMove(
            f"Task {event.task} has no rejection that could be overridden.",
            hint=f"See where it stands: swarm show {event.task}",
        )
    if event.stage != last.stage:
        raise IllegalMove(f"The last attempt at task {event.task} was rejected by {last.stage}, not {event.stage}.")
    if firm := firm_gates(event.stage):
        raise IllegalMove(
            f"A rejection by {', '.join(sorted(firm))} cannot be overridden.",
            hint=f"Mend the cause, then: swarm retry {event.task}",
        )
    if event.by == "architect" and not over_budget(last):
        raise IllegalMove(f"The architect overrules {BUDGET} and nothing else, not {event.stage}.")
    if event.stage.judge is Judge.BREAKER:
        raise IllegalMove(
            f"The last attempt at task {event.task} ended by {event.stage}, and nobody judged it: "
            "an override would ask the same role again.",
            hint=f"Set {settings_for(event.task, last.stage, last.reason)[0]}",
        )
    given = Override(event.task, event.stage, event.reason, entry.time, decider(event.by, entry.actor))
    record = replace(record, reason="", block=None, overrides=record.overrides.set(event.stage, given))
    if last.commit:  # the tests of its phase opened it again, and its work stands as it was committed
        attempts = (*record.attempts[:-1], replace(last, outcome=Outcome.COMPLETE))
        record = replace(record, status=TaskStatus.COMPLETE, commit=last.commit, attempts=attempts)
        state = replace(state, known_red=tuple(dict.fromkeys((*state.known_red, *last.failures))))
    else:
        record = replace(record, status=TaskStatus.IN_PROGRESS, override_pending=True)
    return replace(
        state,
        tasks=state.tasks.set(event.task, record),
        overrides=(*state.overrides, given),
    )


def over_budget(last: Attempt | None) -> bool:
    """Whether an attempt was rejected for its cost, and for nothing else."""
    return last is not None and last.outcome is Outcome.REJECTED and last.stage.parts == {BUDGET}


def to_weigh(state: State, record: TaskRecord) -> bool:
    """Whether the architect may still say that what was rejected for its cost alone stays.

    An attempt that it implemented itself, or that the user's word opened, is the user's to decide.
    """
    last = record.last
    open_to_it = last is not None and last.kind is ev.AttemptKind.CODER and record.rejections > 0
    return bool(state.rules.architect_overrides_budget and open_to_it and over_budget(last) and not weighed(record))


def weighed(record: TaskRecord) -> str:
    """What the architect said of the last rejection for cost, where it held to the budget; empty where it did not."""
    judged = next((each.number for each in reversed(record.attempts) if each.outcome is Outcome.REJECTED), 0)
    notes = (note.detail for note in record.guards if (note.rule, note.attempt) == (WEIGHED, judged))
    return next(notes, "")


def out_of_turn(task_id: str, attempt: Attempt, what: str) -> InvalidTaskStateTransition:
    return InvalidTaskStateTransition(
        f"INVALID_TASK_STATE_TRANSITION: attempt {attempt.number} at task {task_id} is in state {attempt.state.value} "
        f"and cannot {what}."
    )


def running(state: State, task_id: str, number: int, *, recovering: bool = False) -> Attempt:
    attempt = state.task(task_id).running
    if attempt is None or attempt.number != number:
        raise InvalidTaskStateTransition(
            f"INVALID_TASK_STATE_TRANSITION: attempt {number} at task {task_id} is not running."
        )
    if state.recovery is not Recovery.NONE and not recovering:
        raise IllegalMove(f"The run before died in attempt {number} at task {task_id}: its files come first.")
    return attempt


def _idle(state: State, task_id: str) -> TaskRecord:
    """The record of a task that the user may decide about now: in the plan, no running attempt, not settled."""
    record = state.task(task_id)
    if state.plan is None or task_id not in state.plan.tasks:
        raise IllegalMove(f"The plan has no task {task_id}.", hint="See the tasks with: swarm status")
    if record.running or record.settled:
        what = "an attempt is running" if record.running else f"it is {record.status.value}"
        done = record.status is TaskStatus.COMPLETE
        kept = f"Take it back with: swarm undo {task_id}; or" if done else "What is settled stays;"
        raise IllegalMove(
            f"Task {task_id} cannot be changed now: {what}.",
            hint=f'{kept} ask for more with: swarm revise "..."' if record.settled else "",
        )
    return record


def updated(before: State, task_id: str, /, **changes: Any) -> State:
    """The state with the task's newest attempt changed; a new tree becomes what the work tree should hold."""
    record = before.task(task_id)
    attempts = (*record.attempts[:-1], replace(record.attempts[-1], **changes))
    tasks = before.tasks.set(task_id, replace(record, attempts=attempts))
    return replace(before, tasks=tasks, tree=changes.get("tree", before.tree))

"""The plan view that plan.md and plan.json contain: a read-only projection of the state."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import FailFast, Field, model_validator

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.events.event import AttemptKind, PhaseStage
from swarmgate.domain.plan.plan import Complexity, Phase, Plan, Task
from swarmgate.domain.state.phase_verdict import Standing, standing
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskRecord, TaskStatus

RELATED = "completed on the tests that are related to its files"
_REASON = 400
"""Characters of a reason that are shown: a model may write a page where a sentence is asked for."""


class PhaseStatus(StrEnum):
    """The status of a phase, as plan.md writes it behind the heading."""

    PENDING = "PENDING"
    IN_PROGRESS = "IN PROGRESS"
    REJECTED = "REJECTED"
    """By the reviewers of the phase as a whole."""
    AWAITING_APPROVAL = "AWAITING APPROVAL"
    COMPLETE = "COMPLETE"


class AttemptMark(StrEnum):
    """How plan.md names an attempt. A plain attempt that succeeded is not listed; the ticked box says it."""

    RUNNING = "RUNNING"
    REJECTED = "REJECTED"
    INTERRUPTED = "INTERRUPTED"
    ESCALATED = "ESCALATED"
    ESCALATED_REJECTED = "ESCALATED, REJECTED"
    OVERRIDDEN = "OVERRIDDEN"
    UNDONE = "UNDONE"


def without_usage(data: Any) -> Any:
    """The data of a plan or a task without its usage."""
    return {key: value for key, value in data.items() if key != "usage"} if isinstance(data, dict) else data


class AttemptLine(Frozen):
    """One attempt line: `Attempt 1: REJECTED (reviewer) - Missing expiration claim`."""

    number: int
    mark: AttemptMark
    stage: Annotated[Line, Field(pattern=r"^[^()]*$")] = ""
    reason: Line = ""


class TaskView(Task):
    """A task, its status and its attempts. `note`: why it is blocked or skipped, what it waits for, which tests ran."""

    status: TaskStatus = TaskStatus.PENDING
    attempts: Annotated[tuple[AttemptLine, ...], FailFast()] = ()
    note: Line = ""

    @model_validator(mode="before")
    @classmethod
    def _unused(cls, data: Any) -> Any:
        """What plan.json tells of tokens and money is read by nobody here: an edit of it is written over."""
        return without_usage(data)

    @property
    def task(self) -> Task:
        """The definition alone: what the user may edit."""
        return Task.model_construct(**{name: getattr(self, name) for name in Task.model_fields})


class VerdictMark(StrEnum):
    """How plan.md names the verdict of one reviewer on a whole phase."""

    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    NONE = "NO VERDICT"


class VerdictLine(Frozen):
    """One verdict on a whole phase: `Validation 1.2: REJECTED - nothing calls total()`."""

    stage: PhaseStage
    round: int
    number: int
    mark: VerdictMark
    reason: Line = ""


class PhaseView(Frozen):
    """A phase and its status. `number` counts from 1; `verdicts` are those of all rounds.

    `approved_by` names what approved it in the user's place; empty: the user did, or nobody yet.
    """

    number: int
    name: Line
    status: PhaseStatus = PhaseStatus.PENDING
    approved_by: Line = ""
    verdicts: Annotated[tuple[VerdictLine, ...], FailFast()] = ()
    tasks: Annotated[tuple[TaskView, ...], FailFast()] = ()

    @property
    def size(self) -> Complexity:
        """The complexity of its biggest task."""
        order = list(Complexity)
        return max((view.complexity for view in self.tasks), key=order.index, default=Complexity.SMALL)


class PlanView(Frozen):
    """The whole plan at ledger position `seq`. `approved_by` is as of a phase."""

    title: Line
    seq: int
    approved_by: Line = ""
    phases: Annotated[tuple[PhaseView, ...], FailFast()] = ()

    @model_validator(mode="before")
    @classmethod
    def _unused(cls, data: Any) -> Any:
        """As that of a task."""
        return without_usage(data)

    @property
    def plan(self) -> Plan:
        """The structure alone: what the user may edit."""
        phases = (Phase(name=view.name, tasks=tuple(t.task for t in view.tasks)) for view in self.phases)
        return Plan(title=self.title, phases=tuple(phases))


def view_of(state: State) -> PlanView | None:
    """The plan as it is shown at this state; None while there is no plan."""
    if state.plan is None:
        return None
    phases = tuple(_phase_view(state, number, phase) for number, phase in state.plan.numbered)
    return PlanView.model_construct(
        title=state.plan.title, seq=state.seq, approved_by=state.plan_approved_by, phases=phases
    )


def phase_status(state: State, number: int) -> PhaseStatus:
    """The status of the phase with that number."""
    record = state.phase(number)
    if record.approved:
        return PhaseStatus.COMPLETE
    if record.closed:
        return PhaseStatus.AWAITING_APPROVAL
    if number == state.current_phase and standing(state) is Standing.REJECTED:
        return PhaseStatus.REJECTED
    begun = state.plan is not None and any(
        state.task(task.id).status is not TaskStatus.PENDING for task in state.plan.phase(number).tasks
    )
    return PhaseStatus.IN_PROGRESS if begun else PhaseStatus.PENDING


def _phase_view(state: State, number: int, phase: Phase) -> PhaseView:
    tasks = tuple(task_view(state, task) for task in phase.tasks)
    return PhaseView.model_construct(
        number=number,
        name=phase.name,
        status=phase_status(state, number),
        approved_by=state.phase(number).approved_by,
        verdicts=verdict_lines(state, number),
        tasks=tasks,
    )


def verdict_lines(state: State, number: int) -> tuple[VerdictLine, ...]:
    """The verdicts on a phase as a whole, as they are shown."""
    return tuple(
        VerdictLine(
            stage=each.stage,
            round=each.round,
            number=each.number,
            mark=VerdictMark.NONE if each.failed else VerdictMark(each.review.verdict.value),
            reason=_short(" ".join(each.review.summary.split())),
        )
        for each in state.phase(number).reviews
    )


def task_view(state: State, task: Task) -> TaskView:
    """One task as it is shown."""
    record = state.task(task.id)
    lines = tuple(line for attempt in record.attempts if (line := attempt_line(attempt)))
    note = _short(record.reason) if record.status in (TaskStatus.BLOCKED, TaskStatus.SKIPPED) else _asked(record)
    if record.status is TaskStatus.COMPLETE and record.last and record.last.related:
        note = RELATED
    status = record.status
    if status in (TaskStatus.PENDING, TaskStatus.IN_PROGRESS):  # one that was opened again has attempts, shown or not
        begun = lines and lines[-1].mark is not AttemptMark.UNDONE
        status = TaskStatus.IN_PROGRESS if begun else TaskStatus.PENDING
    return TaskView.model_construct(
        **{name: getattr(task, name) for name in Task.model_fields}, status=status, attempts=lines, note=note
    )


def _asked(record: TaskRecord) -> str:
    """The question that the work waits for: `question 3 of the coder: Which unit?`; empty where there is none."""
    asked = record.question if record.waits else None
    return _short(f"question {asked.number} of the {asked.role}: {' '.join(asked.text.split())}") if asked else ""


def _short(reason: str) -> str:
    """A reason as it is shown; `swarm show` has the whole."""
    return reason if len(reason) <= _REASON else f"{reason[:_REASON].rstrip()}..."


def attempt_line(attempt: Attempt) -> AttemptLine | None:
    """How an attempt is shown; None for a plain one that succeeded."""
    escalated = attempt.kind is AttemptKind.ESCALATED
    if attempt.outcome is Outcome.REJECTED:
        mark = AttemptMark.ESCALATED_REJECTED if escalated else AttemptMark.REJECTED
        return AttemptLine(number=attempt.number, mark=mark, stage=attempt.stage, reason=_short(attempt.reason))
    if attempt.outcome is Outcome.INTERRUPTED:
        return AttemptLine(number=attempt.number, mark=AttemptMark.INTERRUPTED, reason=attempt.reason)
    if attempt.outcome is Outcome.UNDONE:
        return AttemptLine(number=attempt.number, mark=AttemptMark.UNDONE, reason=_short(attempt.reason))
    if escalated:
        reason = "Architect implementing directly"
        return AttemptLine(number=attempt.number, mark=AttemptMark.ESCALATED, reason=reason)
    if attempt.kind is AttemptKind.OVERRIDE:
        return AttemptLine(number=attempt.number, mark=AttemptMark.OVERRIDDEN, reason=_short(attempt.instructions))
    if attempt.outcome is Outcome.COMPLETE:
        return None
    return AttemptLine(number=attempt.number, mark=AttemptMark.RUNNING, stage=attempt.state.value)

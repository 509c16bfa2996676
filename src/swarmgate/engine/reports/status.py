"""The reports of `status`, `show` and `history`: typed views over the state, for printing and for `--json`."""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` reads no evidence, and seldom warns of the sandbox

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import Field

from swarmgate.domain.actor import name_of
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import Entry, PhaseEstimated
from swarmgate.domain.guard import GuardNote, LiveTurn
from swarmgate.domain.next_step import Waiting, next_step, waiting_for, worked_on
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Mutants, Proof, Review
from swarmgate.domain.review.finding import GateReport, GateResult
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.state.debate_count import DebateCount
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.plan_view import PhaseStatus, phase_status
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.checkpoint import Checkpoint, checkpoint
from swarmgate.engine.reports.outcome import AskedQuestion, actions, asked_about_task, overruled_lines, verdicts
from swarmgate.errors import UsageError
from swarmgate.ledger.views.describe import debate_in_words, describe, verdict_in_words

if TYPE_CHECKING:
    from swarmgate.ledger.evidence.evidence import EvidenceStore

_WORDED = ("kind", "feedback", "debate", "gates")
"""Of an attempt, what the report has in words, or from the evidence."""


class PhaseSummary(Frozen):
    """One phase in `swarm status`."""

    number: int
    name: str
    status: PhaseStatus
    tasks: dict[TaskStatus, int]
    verdicts: tuple[str, ...] = ()
    """Of the phase as a whole, those that count now."""
    usage: Usage = Usage()
    approved_by: str = ""
    """What approved it in the user's place; empty: the user did, or nobody yet."""
    approver: str = ""
    """The person who approved it, where they are known by name."""


class BudgetReport(Frozen):
    """One limit in `swarm status`: `owner` is empty for the project, `key` is `usd`, `tokens` or `seconds`."""

    owner: str
    section: str
    key: str
    spent: float
    limit: float
    text: str


class RoleModel(Frozen):
    """Which model a role speaks with first, and of which family it is."""

    model: str
    family: str


class DebateReport(Frozen):
    """How many reviews were contested and debated in this project, and what that took and spared, in tokens."""

    weighed: int
    contested: int
    held: int
    skipped: int
    tokens: int
    saved: int
    deferral: str = ""


class StatusReport(Frozen):
    """`swarm status`: where the work stands, and what can be done next."""

    goal: str
    title: str
    branch: str
    seq: int
    phases: tuple[PhaseSummary, ...]
    task: str
    attempt: int
    state: TaskState
    step: str
    waiting: str
    paused: str
    paused_until: str
    """When the limit ends that paused the last run, or that it waited for (UTC, ISO 8601); empty: there was none."""
    working: str
    usage: Usage
    """All that is on record, of all goals."""
    usage_by_role: dict[str, Usage]
    usage_of_task: Usage
    """Of the task that the next step is for."""
    budget_usd: float | None
    budget_tokens: int | None
    budgets: tuple[BudgetReport, ...]
    estimate: PhaseEstimated | None
    sandbox: str
    sandbox_warning: str
    qa_skipped: int
    actions: tuple[str, ...]
    asked: AskedQuestion | None = None
    """What an agent asks in the middle of a task; None where it waits for no answer."""
    plan_approved_by: str = ""
    """What approved the plan in the user's place; empty: the user did, or nobody yet."""
    plan_approver: str = ""
    """The person who approved the plan, where they are known by name."""
    checkpoint: Checkpoint | None = None
    """The phase that waits for approval; None where none does."""
    breakers: LiveTurn | None = None
    models: dict[str, RoleModel] = Field(default_factory=dict)
    debates: DebateReport | None = None
    """None: no review was ever weighed."""
    settings_problem: str = ""
    """Why the settings cannot be read; no command that works can begin then."""
    ledger_problem: str = ""
    """What the ledger has lost of what was recorded; no command that writes can begin then."""
    unsettled: Usage = Usage()
    """What the step that goes on, or died, used beside that and is not on record yet."""
    history_problem: str = ""
    """Which completed work the branch has no more, or had reverted by hand, and the way back into step."""
    edited: tuple[str, ...] = ()
    """Plan files that are not what the ledger says: the next command that works takes the edit in, and so does sync."""


class AttemptReport(Frozen):
    """One attempt in `swarm show`."""

    number: int
    kind: str
    outcome: Outcome
    state: TaskState
    stage: Stage
    reason: str
    scope: tuple[str, ...]
    instructions: str
    files: tuple[str, ...]
    outside: tuple[str, ...]
    tests: tuple[str, ...]
    summary: str
    debate: str
    """How its review was weighed; empty: nobody thought of a debate."""
    review: Review | None
    sensitive: tuple[str, ...]
    security_review: Review | None
    tests_review: Review | None
    adversarial_review: Review | None
    second_review: Review | None
    proof: Proof | None
    mutants: Mutants | None
    feedback: tuple[str, ...]
    gates: tuple[GateResult, ...] = ()
    """The results that rejected it, whole, as long as their evidence is kept."""
    kept: str
    started: str
    ended: str


class TaskReport(Frozen):
    """`swarm show TASK`: the task, each attempt, why it stands where it stands, and what the user may do."""

    task: Task
    phase: int
    status: TaskStatus
    state: TaskState
    reason: str
    commit: str
    notes: tuple[str, ...]
    asked: tuple[str, ...]
    """What agents asked the user about it, with the answers."""
    overrides: dict[str, str]
    overridden_by: dict[str, str]
    attempts: tuple[AttemptReport, ...]
    guards: tuple[GuardNote, ...]
    usage: Usage
    actions: tuple[str, ...]


class HistoryLine(Frozen):
    """`swarm history`: one recorded event in words."""

    seq: int
    time: str
    actor: str
    type: str
    text: str


def status_report(
    state: State, *, working: str, turn: LiveTurn | None = None, models: dict[str, RoleModel] | None = None
) -> StatusReport:
    """The report.

    Args:
        state: the fold.
        working: names the process that is at work now, empty if there is none.
        turn: what goes on in it.
        models: by role.
    """
    record = state.task(state.open)
    waiting, step = waiting_for(state), next_step(state)
    pause = state.pause
    return StatusReport(
        goal=state.goal,
        title=state.plan.title if state.plan else "",
        branch=state.branch,
        seq=state.seq,
        phases=_phases(state),
        task=state.open,
        attempt=record.running.number if record.running else 0,
        state=record.state,
        step=step or "",
        waiting=waiting or "",
        paused=f"{pause.reason}: {pause.detail}" if pause and not working else "",
        paused_until=pause.until if pause and not working else "",
        working=working,
        usage=state.usage,
        usage_of_task=state.task(worked_on(state)).usage,
        usage_by_role={role: state.usage_by_role[role] for role in sorted(state.usage_by_role)},
        budget_usd=state.rules.budget_usd,
        budget_tokens=state.rules.budget_tokens,
        budgets=_budgets(state),
        estimate=estimate if (estimate := state.estimates.get(state.current_phase)) and estimate.basis else None,
        sandbox=state.sandbox,
        sandbox_warning=_sandbox_warning(state.sandbox),
        qa_skipped=state.qa_skipped,
        actions=() if working else actions(state, waiting),
        asked=None if working else asked_about_task(state),
        plan_approved_by=state.plan_approved_by,
        plan_approver=name_of(state.plan_approver),
        checkpoint=checkpoint(state) if waiting is Waiting.PHASE_APPROVAL and not working else None,
        breakers=turn,
        models=models or {},
        debates=_debates(state),
    )


def _debates(state: State) -> DebateReport | None:
    count = state.debates
    if count == DebateCount():
        return None
    return DebateReport(**{name: getattr(count, name) for name in DebateReport.model_fields})


def _sandbox_warning(name: str) -> str:
    """What is told at every start of a run that nothing confines; empty where something does."""
    if name != "none":
        return ""
    from swarmgate.workspace.sandbox.choice import choose, notice

    return notice(choose("none"))


def _budgets(state: State) -> tuple[BudgetReport, ...]:
    return tuple(
        BudgetReport(
            owner=account.owner_text,
            section=account.section,
            key=measure.key,
            spent=measure.spent,
            limit=measure.limit,
            text=measure.text,
        )
        for account in accounts(state, worked_on(state))
        for measure in account.measures()
    )


def _phases(state: State) -> tuple[PhaseSummary, ...]:
    if state.plan is None:
        return ()
    found = []
    for number, phase in state.plan.numbered:
        counts: dict[TaskStatus, int] = defaultdict(int)
        for task in phase.tasks:
            counts[state.task(task.id).status] += 1
        found.append(
            PhaseSummary(
                number=number,
                name=phase.name,
                status=phase_status(state, number),
                tasks=dict(counts),
                verdicts=_verdicts(state, number),
                usage=state.usage_by_phase.get(number, Usage()),
                approved_by=state.phase(number).approved_by,
                approver=name_of(state.phase(number).approver),
            )
        )
    return tuple(found)


def _verdicts(state: State, number: int) -> tuple[str, ...]:
    """The verdicts on a phase as a whole that count now; of a rejected one with their findings."""
    if phase_status(state, number) is PhaseStatus.REJECTED:
        return verdicts(state)
    record = state.phase(number)
    return (*map(verdict_in_words, record.reviews[record.void :]), *overruled_lines(record))


def task_report(state: State, task_id: str, evidence: "EvidenceStore") -> TaskReport:
    """The report on one task.

    Args:
        state: the fold.
        task_id: the task.
        evidence: of the present goal.

    Raises:
        UsageError: the plan has no such task.
    """
    if state.plan is None or task_id not in state.plan.tasks:
        known = ", ".join(list(state.plan.tasks)[:10]) if state.plan else "there is no plan yet"
        raise UsageError(f"The plan has no task {task_id!r}.", hint=f"Tasks: {known}. See: swarm status")
    record = state.task(task_id)
    blocked = record.status is TaskStatus.BLOCKED
    return TaskReport(
        task=state.plan.tasks[task_id],
        phase=state.plan.phase_numbers[task_id],
        status=record.status,
        state=record.state,
        reason=record.reason,
        commit=record.commit,
        notes=record.notes,
        asked=tuple(each.in_words for each in state.asked_about(task_id)),
        overrides={stage: each.reason for stage, each in record.overrides.items()},
        overridden_by={stage: each.by for stage, each in record.overrides.items()},
        attempts=tuple(_attempt(attempt, _gates(evidence, task_id, attempt)) for attempt in record.attempts),
        guards=record.guards,
        usage=record.usage,
        actions=actions(state, waiting_for(state)) if blocked else (),
    )


def _gates(evidence: "EvidenceStore", task_id: str, attempt: Attempt) -> tuple[GateResult, ...]:
    """What the gates said that rejected an attempt; nothing where they passed it, or where the evidence is gone."""
    if attempt.stage.judge is not Judge.GATES:
        return ()
    from swarmgate.ledger.evidence.evidence import FINAL_GATES, GATES

    for name in (FINAL_GATES, GATES):
        with suppress(OSError, ValueError):
            report = GateReport.model_validate_json(evidence.place(task_id, attempt.number, name).read_bytes())
            return tuple(result for result in report.results if result.gate in attempt.stage.names and result.blocks)
    return ()


def _attempt(attempt: Attempt, gates: tuple[GateResult, ...]) -> AttemptReport:
    feedback = (
        f"{remark.severity}: {remark.file}{f':{remark.line}' if remark.line else ''} {remark.message}".replace(
            "  ", " "
        )
        for remark in attempt.feedback
    )
    same = {name: getattr(attempt, name) for name in AttemptReport.model_fields if name not in _WORDED}
    debate = debate_in_words(attempt.debate) if attempt.debate else ""
    return AttemptReport(**same, kind=attempt.kind.value, feedback=tuple(feedback), debate=debate, gates=gates)


def history_lines(entries: Iterable[Entry], *, task: str = "") -> tuple[HistoryLine, ...]:
    """The recorded events in words, in order; only those of one task when `task` is given."""
    return tuple(
        HistoryLine(seq=entry.seq, time=entry.time, actor=entry.actor, type=entry.event.type, text=text)
        for entry in entries
        if (not task or getattr(entry.event, "task", "") == task) and (text := describe(entry.event))
    )

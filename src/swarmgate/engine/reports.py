"""What `status`, `show`, `failures` and `history` tell: typed views over the state, for printing and for `--json`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from swarmgate.domain.base import Frozen
from swarmgate.domain.decide import next_step, waiting_for
from swarmgate.domain.events import Entry
from swarmgate.domain.evidence import Review
from swarmgate.domain.lifecycle import TaskState
from swarmgate.domain.plan import Task
from swarmgate.domain.state import Attempt, Outcome, State, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.domain.view import PhaseStatus, phase_status
from swarmgate.engine.describe import describe
from swarmgate.engine.outcome import actions
from swarmgate.errors import UsageError

_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?")
_QUOTED = re.compile(r"(['\"`])(?:(?!\1).)*\1|\S*/\S+|\b\w+\.\w+\b")


class PhaseSummary(Frozen):
    """One phase in `swarm status`."""

    number: int
    name: str
    status: PhaseStatus
    tasks: dict[TaskStatus, int]


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
    working: str
    usage: Usage
    usage_by_role: dict[str, Usage]
    budget_usd: float | None
    budget_tokens: int | None
    actions: tuple[str, ...]


class AttemptReport(Frozen):
    """One attempt in `swarm show`."""

    number: int
    kind: str
    outcome: Outcome
    state: TaskState
    stage: str
    reason: str
    scope: tuple[str, ...]
    instructions: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    summary: str
    review: Review | None
    tests_review: Review | None
    feedback: tuple[str, ...]
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
    overrides: dict[str, str]
    attempts: tuple[AttemptReport, ...]
    usage: Usage
    actions: tuple[str, ...]


class FailureGroup(Frozen):
    """`swarm failures`: rejections of one stage whose messages differ in names and numbers only."""

    stage: str
    message: str
    count: int
    tasks: tuple[str, ...]
    texts: tuple[str, ...]
    advice: str


class HistoryLine(Frozen):
    """`swarm history`: one recorded event in words."""

    seq: int
    time: str
    actor: str
    type: str
    text: str


def status_report(state: State, *, working: str) -> StatusReport:
    """The report; `working` names the process that is at work now, empty if there is none."""
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
        working=working,
        usage=state.usage,
        usage_by_role={role: state.usage_by_role[role] for role in sorted(state.usage_by_role)},
        budget_usd=state.rules.budget_usd,
        budget_tokens=state.rules.budget_tokens,
        actions=() if working else actions(state, waiting),
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
            PhaseSummary(number=number, name=phase.name, status=phase_status(state, number), tasks=dict(counts))
        )
    return tuple(found)


def task_report(state: State, task_id: str) -> TaskReport:
    """The report on one task.

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
        overrides=dict(record.overrides),
        attempts=tuple(_attempt(attempt) for attempt in record.attempts),
        usage=record.usage,
        actions=actions(state, waiting_for(state)) if blocked else (),
    )


def _attempt(attempt: Attempt) -> AttemptReport:
    feedback = (
        f"{remark.severity}: {remark.file}{f':{remark.line}' if remark.line else ''} {remark.message}".replace(
            "  ", " "
        )
        for remark in attempt.feedback
    )
    same = {name: getattr(attempt, name) for name in AttemptReport.model_fields if name not in ("kind", "feedback")}
    return AttemptReport(**same, kind=attempt.kind.value, feedback=tuple(feedback))


def failure_groups(state: State) -> tuple[FailureGroup, ...]:
    """Every rejection, grouped by stage and by message without names and numbers; the biggest group first."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for task_id in state.plan.tasks if state.plan else ():
        for attempt in state.task(task_id).attempts:
            if attempt.outcome is Outcome.REJECTED:
                groups[attempt.stage, normalised(attempt.reason)].append((task_id, attempt.reason))
    found = [_group(stage, message, members) for (stage, message), members in groups.items()]
    return tuple(sorted(found, key=lambda group: (-len(group.tasks), -group.count, group.stage)))


def normalised(message: str) -> str:
    """A message without what differs from task to task: quoted names, paths, dotted names, numbers."""
    return _NUMBERS.sub("N", _QUOTED.sub("X", message.lower()))


def _group(stage: str, message: str, members: list[tuple[str, str]]) -> FailureGroup:
    tasks = tuple(dict.fromkeys(task for task, _ in members))
    common = 3  # issue 4: the same failure in three tasks points at its cause outside the tasks
    advice = ""
    if len(tasks) >= common:
        cause = "a gate, or the coder's prompt" if stage.startswith("gates") else "the plan, or a prompt"
        advice = f"The same failure in {len(tasks)} tasks: look at {cause}, not at the tasks."
    return FailureGroup(
        stage=stage,
        message=message,
        count=len(members),
        tasks=tasks,
        texts=tuple(dict.fromkeys(text for _, text in members)),
        advice=advice,
    )


def history_lines(entries: Iterable[Entry], *, task: str = "") -> tuple[HistoryLine, ...]:
    """The recorded events in words, in order; only those of one task when `task` is given."""
    return tuple(
        HistoryLine(seq=entry.seq, time=entry.time, actor=entry.actor, type=entry.event.type, text=text)
        for entry in entries
        if (not task or getattr(entry.event, "task", "") == task) and (text := describe(entry.event))
    )

"""Finds what waits for approval, and gathers all that is to be known to decide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from swarmgate.domain.next_step import Waiting, waiting_for
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateReport
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.goal_page.page import ShownChange, goal_report
from swarmgate.engine.reports.outcome import outcome_of
from swarmgate.errors import SwarmError
from swarmgate.journal.lock import at_work
from swarmgate.ledger.evidence.evidence import FINAL_GATES, GATES, TESTS, EvidenceStore
from swarmgate.server.services.reading.ids import ApprovalId
from swarmgate.server.services.reading.readings import Reading
from swarmgate.server.services.views.decision import ApprovalSummary, ApprovalView, TaskProof


def due(goal: str, state: State) -> ApprovalId | None:
    """What of a goal waits for approval; None: nothing does.

    A plan that the architect could not revise waits, too: it can be approved as it stands.
    """
    match waiting_for(state):
        case Waiting.PLAN_APPROVAL:
            return ApprovalId(goal, 0, state.step_seq)
        case Waiting.PLANNING_FAILED if state.plan is not None:
            return ApprovalId(goal, 0, state.step_seq)
        case Waiting.PHASE_APPROVAL:
            return ApprovalId(goal, state.current_phase, state.step_seq)
        case _:
            return None


def approval_due(reading: Reading) -> ApprovalSummary | None:
    """The same in a list; None also while a process is at work, which may be about to change that."""
    state = reading.state
    if (found := due(reading.goal.id, state)) is None or at_work(reading.swarm.folder.lock):
        return None
    return cleaned(_summary(reading, found), reading.clean)


def approval_view(reading: Reading) -> ApprovalView | None:
    """All that is to be known of what waits; None: nothing does."""
    state = reading.state
    if (found := due(reading.goal.id, state)) is None or state.plan is None:
        return None
    outcome, phase = outcome_of(state), found.phase
    checkpoint = outcome.checkpoint
    view = ApprovalView(
        **_summary(reading, found).model_dump(),
        plan=state.plan,
        checkpoint=checkpoint,
        objections=outcome.verdicts if phase else outcome.objections,
        proofs=tuple(_proofs(reading, phase, state.plan.phase(phase).tasks)) if phase else (),
        usage=state.usage_by_phase.get(phase, Usage()),
        drift=_drift(reading) if phase else (),
    )
    return cleaned(view, reading.clean)


def _summary(reading: Reading, found: ApprovalId) -> ApprovalSummary:
    state = reading.state
    title = state.plan.title if state.plan else state.goal
    name = state.plan.phase(found.phase).name if state.plan and found.phase else ""
    return ApprovalSummary(
        id=str(found),
        goal=reading.goal.id,
        repo=reading.goal.repo,
        what=found.what,
        phase=found.phase,
        title=f"{title}: phase {found.phase}, {name}" if name else title,
        seq=state.seq,
        since=state.step_time,
        failed=state.planning is Planning.FAILED,
    )


def _proofs(reading: Reading, phase: int, tasks: Iterable[Task]) -> Iterator[TaskProof]:
    """The evidence of each task of a phase, in the order of the plan."""
    changes: dict[str, ShownChange] = {}
    with suppress(SwarmError):  # settings that cannot be read: no change is shown whose keys nobody knows
        report = goal_report(reading.swarm.project, phase=phase)
        changes = {each.task: each for each in report.changes}
    for task in tasks:
        yield _proof(reading, task, changes.get(task.id))


def _proof(reading: Reading, task: Task, change: ShownChange | None) -> TaskProof:
    record = reading.state.task(task.id)
    number = record.last.number if record.last else 0
    store = EvidenceStore(reading.swarm.folder)
    gates: GateReport | None = None
    for name in (FINAL_GATES, GATES):
        with suppress(OSError, ValueError):
            gates = gates or GateReport.model_validate_json(store.place(task.id, number, name).read_bytes())
    tests: TestRun | None = None
    with suppress(OSError, ValueError):
        tests = TestRun.model_validate_json(store.place(task.id, number, TESTS).read_bytes())
    nothing = ShownChange(task=task.id, attempt=number, problem="it changed nothing, or its evidence is gone")
    return TaskProof(
        task=task.id,
        title=task.title,
        attempt=number,
        commit=record.commit,
        change=change or nothing,
        gates=gates,
        tests=tests,
    )


def _drift(reading: Reading) -> tuple[str, ...]:
    """Where a phase contradicts decisions on record; nothing where nobody could compare."""
    with suppress(SwarmError):
        drift = reading.swarm.automation.drift()
        return tuple(signal.line for signal in drift.signals) if drift.drifted else ()
    return ()

"""Reports how complete the evidence of each attempt is, and applies its retention: `swarm evidence`."""

# ruff: noqa: PLC0415 - late, for start-up time: a worker is made cheaply, and a verb brings git, gates or models when it is at work

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.config import nearest
from swarmgate.domain.evidence.report import EvidenceReport, Pruned, TaskEvidence, recorded, task_evidence
from swarmgate.domain.evidence.summary import summary
from swarmgate.domain.plan.plan import id_key
from swarmgate.errors import UsageError
from swarmgate.ledger.evidence.index import EvidenceIndex, earlier_goals
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from swarmgate.project import Project

_NAMED = 5


def report(project: Project, task: str = "") -> EvidenceReport:
    """How complete the evidence of the newest goal is, of one task or of all; each task with its summary.

    Raises:
        UsageError: the plan has no such task.
        LedgerCorrupt: the ledger does not hold, so nothing can be proven by it.
    """
    ledger = Ledger.read(project.folder)
    state = ledger.state
    known = tuple(state.plan.tasks) if state.plan else ()
    if task and task not in known:
        raise UsageError(f"The plan has no task {task!r}.", hint=_near(task, known))
    claims = recorded(entry for entry, _ in ledger.entries())
    index = EvidenceIndex(project.folder, state, claims)
    found: list[TaskEvidence] = []
    for each in (task,) if task else known:
        row = task_evidence(state, each, index.pieces(each))
        found.append(row.model_copy(update={"summary": summary(state, row, claims)}))
    phases = () if task else tuple(index.phases())
    return EvidenceReport(
        goal=state.goals,
        complete=bool(found) and not any(row.blockers for row in found),
        proven=all(row.proven for row in found) and not any(each.problem for each in phases),
        tasks=tuple(found),
        phases=phases,
        earlier=earlier_goals(project.folder),
    )


def _near(task: str, known: tuple[str, ...]) -> str:
    if not known:
        return "There is no plan yet: swarm plan"
    close, (phase, number) = nearest(task, known), id_key(task) or (1, 1)

    def far(each: str) -> tuple[bool, int, int]:
        own = id_key(each)
        return each != close, abs(own[0] - phase), abs(own[1] - number)

    by_number = sorted(known, key=far)
    return f"The nearest: {', '.join(by_number[:_NAMED])}. See: swarm status"


def prune(project: Project, *, days: int | None = None, mb: int | None = None, check: bool = False) -> Pruned:
    """Archives evidence of approved work that is older, or too much; None: as `[evidence]` says.

    Raises:
        LedgerLocked: a run is at work.
        LedgerWriteFailed: the disk refused; nothing is lost.
    """
    from swarmgate.ledger.evidence.retention import prune as pruned

    limits = project.config.evidence
    return pruned(
        project.folder,
        days=limits.keep_days if days is None else days,
        mb=limits.keep_mb if mb is None else mb,
        check=check,
    )

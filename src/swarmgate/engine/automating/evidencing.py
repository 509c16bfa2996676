"""Evidence put together: how complete it is, its retention, and the worker that sums up long tasks in context.md."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.config import nearest
from swarmgate.domain.automation import AutomationEvent, EvidenceSummarised
from swarmgate.domain.evidence_report import EvidenceReport, Pruned, TaskEvidence, recorded, task_evidence
from swarmgate.domain.evidence_summary import summary
from swarmgate.domain.plan import id_key
from swarmgate.domain.triggers import long_task, task_of, why_long
from swarmgate.errors import LedgerError, UsageError
from swarmgate.ledger.evidence_index import EvidenceIndex, earlier_goals
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from swarmgate.automation.worker import Seen, Worker
    from swarmgate.config import Automation
    from swarmgate.domain.state import State
    from swarmgate.engine.swarm import Swarm

NAME = "evidence_auto_summaries"
_GROWS = frozenset({"attempt_rejected", "attempt_interrupted", "task_blocked", "task_completed", "task_skipped"})
"""Events that end a chapter: the summary of a long task is written anew."""
_NAMED = 5


def report(swarm: Swarm, task: str = "") -> EvidenceReport:
    """How complete the evidence of the newest goal is, of one task or of all; each task with its summary.

    Raises:
        UsageError: the plan has no such task.
        LedgerCorrupt: the ledger does not hold, so nothing can be proven by it.
    """
    ledger = Ledger.read(swarm.folder)
    state = ledger.state
    known = tuple(state.plan.tasks) if state.plan else ()
    if task and task not in known:
        raise UsageError(f"The plan has no task {task!r}.", hint=_near(task, known))
    claims = recorded(entry for entry, _ in ledger.entries())
    index = EvidenceIndex(swarm.folder, state, claims)
    found: list[TaskEvidence] = []
    for each in (task,) if task else known:
        row = task_evidence(state, each, index.pieces(each))
        found.append(row.model_copy(update={"summary": summary(state, row, claims)}))
    return EvidenceReport(
        goal=state.goals,
        complete=bool(found) and not any(row.blockers for row in found),
        proven=all(row.proven for row in found),
        tasks=tuple(found),
        earlier=earlier_goals(swarm.folder),
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


def prune(swarm: Swarm, *, days: int | None = None, mb: int | None = None, check: bool = False) -> Pruned:
    """Archives evidence of approved work that is older, or too much; None: as `[evidence]` says.

    Raises:
        LedgerLocked: a run is at work.
        LedgerWriteFailed: the disk refused; nothing is lost.
    """
    from swarmgate.ledger.retention import prune as pruned  # noqa: PLC0415 - late: tarfile, for this alone

    limits = swarm.config.evidence
    return pruned(
        swarm.folder,
        days=limits.keep_days if days is None else days,
        mb=limits.keep_mb if mb is None else mb,
        check=check,
    )


class Summaries:
    """Keeps the summary of each long task in context.md: from the event on that makes it long, and as it grows.

    Args:
        swarm: the project.
    """

    name = NAME
    limit_s: float | None = None

    def __init__(self, swarm: Swarm) -> None:
        self._swarm = swarm

    def subject(self, seen: Seen) -> str:
        """`task 1.2` where this event makes the task long, or ends a chapter of a long one."""
        limits = self._limits
        found = long_task(
            seen.happening, seen.before, seen.after, attempts=limits.long_attempts, minutes=limits.long_minutes
        )
        if found or seen.happening.source != "ledger" or seen.happening.type not in _GROWS:
            return found
        task = str(seen.happening.data.get("task", ""))
        return f"task {task}" if task and self._why(seen.after, task) else ""

    def work(self, subject: str, seen: Seen) -> AutomationEvent | None:
        """Writes the summary; nothing to tell where it stands there already.

        Raises:
            LedgerError: context.md could not be written, or was in use for too long.
        """
        from swarmgate.journal.writing import writing  # noqa: PLC0415 - as above
        from swarmgate.ledger.context_file import keep_summary, read  # noqa: PLC0415 - late: work alone needs it

        task, folder = task_of(subject), self._swarm.folder
        state = self._swarm.state
        if state.plan is None or task not in state.plan.tasks or state.goals != seen.after.goals:
            return None  # the plan went on without it
        (row,) = report(self._swarm, task).tasks
        before = read(folder.context)
        with writing(folder.context):
            done = keep_summary(folder.context, goal=state.goals, task=task, lines=list(row.summary))
        if not done:
            raise LedgerError("context.md was in use by another process for too long; the summary is tried again.")
        if read(folder.context) == before:
            return None  # it says so already
        return EvidenceSummarised(task=task, reason=self._why(state, task) or "it was long")

    def _why(self, state: State, task: str) -> str:
        limits = self._limits
        return why_long(state.task(task), attempts=limits.long_attempts, minutes=limits.long_minutes)

    @cached_property
    def _limits(self) -> Automation:
        return self._swarm.config.automation


def worker(swarm: Swarm) -> Worker:
    """Summaries of long tasks' evidence in context.md."""
    return Summaries(swarm)

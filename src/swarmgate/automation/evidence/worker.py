"""The worker that writes a summary of each long task into context.md, and renews it as the task goes on."""

from __future__ import annotations

from functools import cached_property

from swarmgate.automation.bus.trigger_events import long_task, task_of, why_long
from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.automation.evidence.report import report
from swarmgate.automation.ports import Ports
from swarmgate.config import Automation
from swarmgate.domain.events.automation import AutomationEvent, EvidenceSummarised
from swarmgate.domain.state.state import State
from swarmgate.errors import LedgerError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.context.context_file import keep_summary, read
from swarmgate.project import Project

NAME = "evidence_auto_summaries"
_GROWS = frozenset({"attempt_rejected", "attempt_interrupted", "task_blocked", "task_completed", "task_skipped"})
"""Events that end a chapter: the summary of a long task is written anew."""


class Summaries:
    """Keeps the summary of each long task in context.md: from the event on that makes it long, and as it grows.

    Args:
        project: the project.
    """

    name = NAME
    limit_s: float | None = None

    def __init__(self, project: Project) -> None:
        self._project = project

    def subject(self, bus_event: BusEvent) -> str:
        """`task 1.2` where this event makes the task long, or ends a chapter of a long one."""
        limits = self._limits
        found = long_task(
            bus_event.happening,
            bus_event.before,
            bus_event.after,
            attempts=limits.long_attempts,
            minutes=limits.long_minutes,
        )
        if found or bus_event.happening.source != "ledger" or bus_event.happening.type not in _GROWS:
            return found
        task = str(bus_event.happening.data.get("task", ""))
        return f"task {task}" if task and self._why(bus_event.after, task) else ""

    def work(self, subject: str, bus_event: BusEvent) -> AutomationEvent | None:
        """Writes the summary; None where it is up to date already.

        Raises:
            LedgerError: context.md could not be written, or was in use for too long.
        """
        task, folder = task_of(subject), self._project.folder
        state = self._project.state
        if state.plan is None or task not in state.plan.tasks or state.goals != bus_event.after.goals:
            return None  # the plan went on without it
        (row,) = report(self._project, task).tasks
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
        return self._project.config.automation


def worker(project: Project, ports: Ports) -> Worker:  # noqa: ARG001 - one shape for all
    """Summaries of long tasks' evidence in context.md."""
    return Summaries(project)

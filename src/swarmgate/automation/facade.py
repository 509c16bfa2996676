"""The facade `Automation`: runs every capability by hand, and starts the watcher; reached as `Swarm(...).automation`.

from swarmgate.engine import Swarm

report = Swarm(Path("my-repo")).automation.sync()
print(report.amended, report.refused)
"""

# ruff: noqa: PLC0415 - late, for start-up time: each verb pays for itself alone

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.automation.capabilities import CapabilityReport
    from swarmgate.automation.doctor.diagnosis import Diagnosis
    from swarmgate.automation.drift.report import DriftReport
    from swarmgate.automation.handoff.page import Handoff
    from swarmgate.automation.hooks.report import HookReport
    from swarmgate.automation.plan_sync.report import SyncReport
    from swarmgate.automation.ports import Ports
    from swarmgate.automation.watch.watcher import Watcher
    from swarmgate.domain.events.automation import Happening
    from swarmgate.domain.evidence.report import EvidenceReport, Pruned
    from swarmgate.domain.preflight import PreflightReport
    from swarmgate.domain.status import WatchStatus
    from swarmgate.project import Project


class Automation:
    """Automation of one project. Nothing here calls a model or spends money.

    Args:
        project: the project.
        ports: what it asks of models and of the loop.
    """

    def __init__(self, project: Project, ports: Ports) -> None:
        self._project, self._ports = project, ports

    def sync(self, *, check: bool = False) -> SyncReport:
        """One pass between plan.md, plan.json and the ledger.

        Args:
            check: only say what would be done; change nothing.

        Raises:
            LedgerLocked: a run is at work; it takes edits in itself.
            LedgerError: the ledger cannot be read or written.
        """
        from swarmgate.automation.plan_sync.report import sync

        return sync(self._project, check=check)

    def watch(self) -> None:
        """Works in the foreground until it is interrupted (SIGINT, SIGTERM) or `stop_watching` is called elsewhere.

        Raises:
            AlreadyWatching: another process watches this project.
        """
        from swarmgate.automation.watch.foreground import watch

        watch(self._project, self._ports)

    def workers_during_run(self, tell: Callable[[str, str], None]) -> AbstractContextManager[Watcher | None]:
        """The workers that are on, during a run, while the block lasts; they report through `tell` (kind, text)."""
        from swarmgate.automation.watch.run_workers import workers_during

        return workers_during(self._project, self._ports, tell)

    def start_daemon(self) -> WatchStatus:
        """Starts the same in a process of its own, and returns when it watches.

        Raises:
            AlreadyWatching: another process watches this project.
            SwarmError: it did not come up; the message has the end of its log.
        """
        from swarmgate.automation.watch.daemon import start

        return start(self._project, self._ports.daemon)

    def stop_watching(self) -> WatchStatus:
        """Ends the watching process, foreground or daemon, within 2 s; who watches now, and which process ended."""
        from swarmgate.automation.watch.daemon import stop

        return stop(self._project)

    def watch_status(self) -> WatchStatus:
        """Who watches, and how it goes."""
        from swarmgate.automation.watch.daemon import status

        return status(self._project)

    def events(
        self, *, types: tuple[str, ...] = (), follow: bool = False, last: int | None = None
    ) -> Iterator[Happening]:
        """Events of ledger and automation in order of time.

        Args:
            types: only these.
            follow: go on with new ones until the caller stops.
            last: only so many of the newest.

        Raises:
            UsageError: there is no event of such a type.
        """
        from swarmgate.automation.events.listing import events

        return events(self._project, types=types, follow=follow, last=last)

    def capabilities(self) -> CapabilityReport:
        """What is on, and where it was switched on."""
        from swarmgate.automation.capabilities import report

        return report(self._project)

    def switch(self, name: str, *, on: bool) -> CapabilityReport:
        """Switches a capability, or the mode where `name` is one, in `.swarm/config.toml`; comments there stay.

        Raises:
            UsageError: there is no such capability.
        """
        from swarmgate.automation.capabilities import switch

        return switch(self._project, name, on=on)

    def hooks(self) -> HookReport:
        """The user's commands on events, and how the newest runs of each went.

        Raises:
            ConfigError: one is for an event that does not exist.
        """
        from swarmgate.automation.hooks.report import report

        return report(self._project)

    def try_hook(self, name: str) -> HookReport:
        """Runs the command of one event now, with a made-up event of that type."""
        from swarmgate.automation.hooks.report import try_hook

        return try_hook(self._project, self._ports, name)

    def preflight(self, *, phase: int | None = None) -> PreflightReport:
        """Checks whether a phase, by default the current one, can begin.

        Raises:
            UsageError: the plan has no such phase.
        """
        from swarmgate.automation.preflight.preflight import preflight

        return preflight(self._project, self._ports, phase=phase)

    def doctor(self, *, fix: bool = False, tell: Callable[[str], None] | None = None) -> Diagnosis:
        """Everything that the work needs; `fix` mends what can be mended, with a backup.

        `tell` is told the diff before anything is written.

        Raises:
            LedgerWriteFailed: a file could not be written.
        """
        from swarmgate.automation.doctor.worker import diagnose

        return diagnose(self._project, self._ports, fix=fix, tell=tell)

    def evidence(self, task: str = "") -> EvidenceReport:
        """How complete the evidence is, of one task or of all.

        Raises:
            UsageError: the plan has no such task.
        """
        from swarmgate.automation.evidence.report import report

        return report(self._project, task)

    def prune(self, *, days: int | None = None, mb: int | None = None, check: bool = False) -> Pruned:
        """Archives evidence of approved phases that is older, or too much; None: as `[evidence]` says."""
        from swarmgate.automation.evidence.report import prune

        return prune(self._project, days=days, mb=mb, check=check)

    def drift(self) -> DriftReport:
        """Decisions on record against what came after them."""
        from swarmgate.automation.drift.worker import drift

        return drift(self._project)

    def handoff(self, *, out: Path | None = None, write: bool = True) -> Handoff:
        """Writes one page that lets somebody else go on: to `.swarm/handoff.md`, or to `out`.

        Args:
            out: where to.
            write: whether it is written at all; else it is only given.

        Raises:
            UsageError: `out` lies in no folder.
            LedgerWriteFailed: it could not be written.
        """
        from swarmgate.automation.handoff.handoff import hand_off, handed_over

        return hand_off(self._project, self._ports, out) if write else handed_over(self._project, self._ports)

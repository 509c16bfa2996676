"""The worker of preflight: it checks each phase boundary that is reached while no run is active."""

from __future__ import annotations

import asyncio
import contextlib
import time

from swarmgate.automation.bus.trigger_events import phase_boundary, phase_of, phase_to_begin
from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.automation.ports import Ports
from swarmgate.automation.preflight.checks import longest, run_checks
from swarmgate.automation.preflight.preflight import NAME, context_of, ran
from swarmgate.domain.events.automation import AutomationEvent
from swarmgate.errors import LedgerError
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.files import preflights
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project

_LOOKS, _BETWEEN_S = 10, 0.2
"""How often, and how many seconds apart, a watcher looks whether somebody still writes the ledger: `swarm approve`
holds it for an instant, a run for long."""


def worker(project: Project, ports: Ports) -> Worker:
    """Runs preflight at every phase boundary while no run is active: a run has its own (`require`)."""
    return _AtBoundaries(project, ports)


class _AtBoundaries:
    """The worker of a watcher."""

    def __init__(self, project: Project, ports: Ports) -> None:
        self.name = NAME
        self.limit_s: float | None = longest(project.config.tests.longest_s)
        self._project, self._ports = project, ports

    def subject(self, bus_event: BusEvent) -> str:
        """`phase N` at its boundary."""
        return phase_boundary(bus_event.happening, bus_event.before, bus_event.after)

    def work(self, subject: str, bus_event: BusEvent) -> AutomationEvent | None:
        """Looks; nothing where a run is at work, or the phase is not the one to begin any more."""
        del bus_event
        if self._somebody_writes():
            return None
        project, number = self._project, phase_of(subject)
        ledger = Ledger.read(project.folder)
        if phase_to_begin(ledger.state) != number:
            return None
        report = asyncio.run(run_checks(context_of(project, self._ports, ledger, number)))
        with contextlib.suppress(LedgerError):  # what cannot be kept is told all the same
            preflights.keep(project.folder, report)
        return ran(project.folder, report)

    def _somebody_writes(self) -> bool:
        for _ in range(_LOOKS):
            if not live_owner(self._project.folder.lock):
                return False
            time.sleep(_BETWEEN_S)
        return True

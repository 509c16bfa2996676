"""Makes the workers that the settings switch on, each from its capability."""

from __future__ import annotations

from importlib import import_module

from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.automation.ports import Ports
from swarmgate.config import Config
from swarmgate.domain.events.automation import AutomationEvent
from swarmgate.project import Project

_MODULES = {
    "phase_preflight": "preflight.worker",
    "config_doctor_on_startup": "doctor.worker",
    "evidence_auto_summaries": "evidence.worker",
    "decision_drift_detection": "drift.worker",
    "hooks": "hooks.report",
}
"""Each has a `worker(project, ports)`. They are imported late, for start-up time: one that is off costs nothing."""


def workers_of(project: Project, ports: Ports) -> tuple[Worker, ...]:
    """The workers that are on. One that cannot begin is there all the same, and reports why at the first event.

    Raises:
        ConfigError: the settings cannot be read.
    """
    return tuple(_worker(project, ports, name) for name in _MODULES if _on(project.config, name))


def _on(config: Config, name: str) -> bool:
    return bool(config.hooks) if name == "hooks" else config.automation.on(name)


def _worker(project: Project, ports: Ports, name: str) -> Worker:
    try:
        module = import_module(f"swarmgate.automation.{_MODULES[name]}")
        worker: Worker = module.worker(project, ports)
    except Exception as error:  # noqa: BLE001 - one that cannot begin does not take the others down
        return _Unbegun(name, error)
    return worker


class _Unbegun:
    """A worker that could not begin: it fails once, at the first event, so that its breaker and the bus report it."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self.limit_s: float | None = None
        self.problem = f"it could not begin: {error}"
        self._error: Exception | None = error

    def subject(self, bus_event: BusEvent) -> str:
        """Of the first event."""
        del bus_event
        return "start" if self._error else ""

    def work(self, subject: str, bus_event: BusEvent) -> AutomationEvent | None:
        """Fails as its beginning did."""
        del subject, bus_event
        error, self._error = self._error, None
        if error is not None:
            raise error
        return None

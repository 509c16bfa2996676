"""Makes the watcher of a project from its workers, plan sync and listeners."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from swarmgate.automation.bus.worker import Worker
from swarmgate.automation.events.listing import describe_event
from swarmgate.automation.plan_sync.watcher_passes import Passes, refusal
from swarmgate.automation.plan_sync.worker import Pass
from swarmgate.automation.ports import Ports
from swarmgate.automation.watch.status_board import OnEvent
from swarmgate.automation.watch.watcher import Watcher
from swarmgate.automation.workers import workers_of
from swarmgate.config import Automation
from swarmgate.domain.events.automation import Happening
from swarmgate.domain.events.event import EditRefused
from swarmgate.domain.progress import Listener, Progress
from swarmgate.domain.status import Place
from swarmgate.project import Project

_QUIET = frozenset({"watch_started", "watch_stopped", "trigger_fired", "preflight_ran"})
"""Events that are not printed in a run: the start and the end of its workers, what their outcome repeats, and what
the run prints itself."""


def watcher_of(project: Project, ports: Ports, place: Place, *, sync: Pass | None = None) -> Watcher:
    """The watcher of a project.

    Args:
        project: the project; its listener hears what the user should know.
        ports: what its workers ask of models and of the loop.
        place: which verb it works for.
        sync: the pass of plan sync; without it a watcher makes its own, and a run has none: its loop takes edits in.

    Raises:
        ConfigError: the settings cannot be read.
    """

    def listener(progress: Progress) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal was closed: nobody is there to be told
            project.listener(progress)

    on_event = _of_run(listener) if place == "run" else _of_watch(listener)
    return Watcher(
        project.folder,
        workers_of(project, ports),
        config=project.config.automation,
        place=place,
        sync=sync or (None if place == "run" else Passes(project)),
        reload=lambda: _reloaded(project, ports),
        describe_event=describe_event,
        on_event=on_event,
        notice=lambda text: listener(Progress(kind="notice", text=text)),
    )


def _of_watch(listener: Listener) -> OnEvent:
    """Prints the events of a watcher, each once: what a pass amended or refused is in the ledger's event."""

    def on_event(happening: Happening, text: str) -> None:
        if happening.type == "plan_synced" and not happening.data.get("restored"):
            return
        message = refusal(EditRefused.model_validate(happening.data)) if happening.type == "edit_refused" else text
        listener(Progress(kind="event", text=message, time=happening.time))

    return on_event


def _of_run(listener: Listener) -> OnEvent:
    """Prints the events of workers in a run, without an event that repeats the last one.

    The events of the ledger the run tells itself.
    """
    last = ""

    def on_event(happening: Happening, text: str) -> None:
        nonlocal last
        if happening.source != "automation" or happening.type in _QUIET or text == last:
            return
        last = text
        for line in happening.data.get("problems") or (text,):
            listener(Progress(kind="notice", text=f"{happening.actor}: {line}" if line is not text else text))

    return on_event


def _reloaded(project: Project, ports: Ports) -> tuple[Automation, Sequence[Worker]]:
    again = project.anew()
    return again.config.automation, workers_of(again, ports)

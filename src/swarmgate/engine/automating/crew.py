"""The crew put together: the workers that are on by the settings, and one pass of plan sync."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from swarmgate.automation.crew import Crew
from swarmgate.automation.worker import Seen, Worker
from swarmgate.config import Automation, Config
from swarmgate.domain.automation import AutomationEvent, Happening, PlanSynced, SyncDeferred
from swarmgate.domain.status import Place
from swarmgate.engine.automating.eventing import words
from swarmgate.engine.progress import Progress
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LedgerCorrupt, LedgerLocked
from swarmgate.ledger.ledger import Ledger

_MODULES = {
    "phase_preflight": "preflighting",
    "config_doctor_on_startup": "doctoring",
    "evidence_auto_summaries": "evidencing",
    "decision_drift_detection": "drifting",
    "hooks": "hooking",
}
"""The modules beside this one that make the workers: each has a `worker(swarm)`."""

_QUIET = frozenset({"watch_started", "watch_stopped", "trigger_fired"})
"""What is not told in a run: that its crew begins and ends, and what is told again with its outcome."""


def crew_of(swarm: Swarm, place: Place, *, sync: Callable[[], PlanSynced | SyncDeferred | None] | None = None) -> Crew:
    """The crew of a project.

    Args:
        swarm: the project; its listener hears what the user should know.
        place: which verb it works for.
        sync: the pass of plan sync; without it a watcher makes its own, and a run has none: its loop takes edits in.

    Raises:
        ConfigError: the settings cannot be read.
    """

    def listener(progress: Progress) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal was closed: nobody is there to be told
            swarm.made_with[0](progress)

    def heard(happening: Happening, text: str) -> None:
        if place != "run":
            listener(Progress(kind="event", text=text))
        elif happening.source == "automation" and happening.type not in _QUIET:  # its own events a run tells itself
            for line in happening.data.get("problems") or (text,):
                listener(Progress(kind="notice", text=f"{happening.actor}: {line}" if line is not text else text))

    return Crew(
        swarm.folder,
        workers_of(swarm),
        config=swarm.config.automation,
        place=place,
        sync=sync or (None if place == "run" else Syncing(swarm)),
        reload=lambda: _reloaded(swarm),
        words=words,
        heard=heard,
        notice=lambda text: listener(Progress(kind="notice", text=text)),
    )


def _reloaded(swarm: Swarm) -> tuple[Automation, Sequence[Worker]]:
    again = anew(swarm)
    return again.config.automation, workers_of(again)


def anew(swarm: Swarm) -> Swarm:
    """The same project with its settings read anew."""
    listener, environ, flags = swarm.made_with
    return Swarm(swarm.folder.root, listener=listener, environ=environ, flags=flags)


def workers_of(swarm: Swarm) -> tuple[Worker, ...]:
    """The workers that are on. One that cannot begin is there all the same, and tells why as soon as anything happens.

    Raises:
        ConfigError: the settings cannot be read.
    """
    return tuple(_worker(swarm, name) for name in _MODULES if _on(swarm.config, name))


def _on(config: Config, name: str) -> bool:
    return bool(config.hooks) if name == "hooks" else config.automation.on(name)


def _worker(swarm: Swarm, name: str) -> Worker:
    try:
        module = import_module(f"swarmgate.engine.automating.{_MODULES[name]}")
        worker: Worker = module.worker(swarm)
    except Exception as error:  # noqa: BLE001 - one that cannot begin does not take the others down
        return _Unbegun(name, error)
    return worker


class _Unbegun:
    """A worker that could not begin: it fails once, at the first event, so that its breaker and the bus tell of it."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self.limit_s: float | None = None
        self._error: Exception | None = error

    def subject(self, seen: Seen) -> str:
        """Of the first event."""
        del seen
        return "start" if self._error else ""

    def work(self, subject: str, seen: Seen) -> AutomationEvent | None:
        """Fails as its beginning did."""
        del subject, seen
        error, self._error = self._error, None
        if error is not None:
            raise error
        return None


class Syncing:
    """One pass of plan sync, again and again, on a ledger that is kept: 5,000 tasks are not folded anew each time."""

    def __init__(self, swarm: Swarm) -> None:
        self._swarm = swarm
        self._ledger: Ledger | None = None

    def __call__(self) -> PlanSynced | SyncDeferred | None:
        """What it changed; None: nothing; or that the ledger is locked, with the files that have an edit.

        Raises:
            SwarmError: the ledger, or a plan file, cannot be read or written.
        """
        from swarmgate.engine.automating.syncing import sync_pass  # noqa: PLC0415 - late: most looks find no edit

        began = time.monotonic()
        ledger = self._read_on()
        if _in_step(ledger):
            return None
        try:
            with ledger.writing():
                outcome = sync_pass(self._swarm, ledger)
        except LedgerLocked as error:
            return self._deferred(ledger, error)
        for refused in outcome.refused:
            for problem in refused.problems:  # the ledger's event tells the first one only, and once
                self._swarm.made_with[0](Progress(kind="notice", text=f"{refused.source}: {problem}"))
        if not (outcome.amended or outcome.refused or outcome.restored):
            return None
        return PlanSynced(
            amended=outcome.amended,
            refused=tuple(each.source for each in outcome.refused),
            restored=outcome.restored,
            interrupted=outcome.interrupted,
            seconds=round(time.monotonic() - began, 3),
        )

    def _read_on(self) -> Ledger:
        """The ledger as it is now; where it is another one than before, that one."""
        if self._ledger is not None:
            try:
                self._ledger.refresh()
            except LedgerCorrupt:
                self._ledger = None
        self._ledger = self._ledger or Ledger.read(self._swarm.folder)
        return self._ledger

    def _deferred(self, ledger: Ledger, error: LedgerLocked) -> SyncDeferred:
        """Which files have an edit that waits; what the process at work writes itself meanwhile is none."""
        from swarmgate.ledger.reconcile import edits  # noqa: PLC0415 - late: it is rare

        ledger.refresh()
        found, _ = edits(ledger, interruptible=True)
        return SyncDeferred(sources=tuple(edit.source for edit in found if not edit.ahead), reason=error.message)


def _in_step(ledger: Ledger) -> bool:
    """Whether both plan files are, byte for byte, what the ledger says."""
    if ledger.state.plan is None:
        return True
    projector = ledger.projector
    texts = (text.encode() for text in projector.plan_texts(ledger.state))
    files = (projector.plan_md, projector.plan_json)
    return all(file.read(known=text).data == text for file, text in zip(files, texts, strict=True))

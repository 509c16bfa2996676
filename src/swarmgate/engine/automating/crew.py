"""The crew put together: the workers that are on by the settings, and one pass of plan sync."""

# ruff: noqa: PLC0415 - late, for start-up time: a worker is made cheaply, and a verb brings git, gates or models when it is at work

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module

from swarmgate.automation.crew import Crew
from swarmgate.automation.status_board import Heard
from swarmgate.automation.worker import Seen, Worker
from swarmgate.config import Automation, Config
from swarmgate.domain.automation import AutomationEvent, Happening, PlanSynced, SyncDeferred
from swarmgate.domain.events import EditRefused
from swarmgate.domain.progress import Listener, Progress
from swarmgate.domain.status import Place
from swarmgate.engine.automating.eventing import words
from swarmgate.errors import LedgerCorrupt, LedgerLocked
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project

_MODULES = {
    "phase_preflight": "preflighting",
    "config_doctor_on_startup": "doctoring",
    "evidence_auto_summaries": "evidencing",
    "decision_drift_detection": "drifting",
    "hooks": "hooking",
}
"""The modules beside this one that make the workers: each has a `worker(project)`."""

_QUIET = frozenset({"watch_started", "watch_stopped", "trigger_fired", "preflight_ran"})
"""What is not told in a run: that its crew begins and ends, what is told again with its outcome, and what the run tells
itself."""


def crew_of(
    project: Project, place: Place, *, sync: Callable[[], PlanSynced | SyncDeferred | None] | None = None
) -> Crew:
    """The crew of a project.

    Args:
        project: the project; its listener hears what the user should know.
        place: which verb it works for.
        sync: the pass of plan sync; without it a watcher makes its own, and a run has none: its loop takes edits in.

    Raises:
        ConfigError: the settings cannot be read.
    """

    def listener(progress: Progress) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal was closed: nobody is there to be told
            project.listener(progress)

    heard = _beside_a_run(listener) if place == "run" else _alone(listener)
    return Crew(
        project.folder,
        workers_of(project),
        config=project.config.automation,
        place=place,
        sync=sync or (None if place == "run" else Syncing(project)),
        reload=lambda: _reloaded(project),
        words=words,
        heard=heard,
        notice=lambda text: listener(Progress(kind="notice", text=text)),
    )


def _alone(listener: Listener) -> Heard:
    """How a watcher tells events: each thing once. What a pass amended or refused, the ledger's event tells."""

    def heard(happening: Happening, text: str) -> None:
        if happening.type == "plan_synced" and not happening.data.get("restored"):
            return
        told = refusal(EditRefused.model_validate(happening.data)) if happening.type == "edit_refused" else text
        listener(Progress(kind="event", text=told, time=happening.time))

    return heard


def _beside_a_run(listener: Listener) -> Heard:
    """How the crew of a run tells events: those of its workers alone, and none again that says what the last one did.

    The events of the ledger the run tells itself.
    """
    last = ""

    def heard(happening: Happening, text: str) -> None:
        nonlocal last
        if happening.source != "automation" or happening.type in _QUIET or text == last:
            return
        last = text
        for line in happening.data.get("problems") or (text,):
            listener(Progress(kind="notice", text=f"{happening.actor}: {line}" if line is not text else text))

    return heard


def refusal(refused: EditRefused) -> str:
    """A refused edit in full: why, where it is kept, and what to do. A line a problem."""
    return "\n".join(
        (
            f"your edit of {refused.source} cannot stand; {refused.source} is as the ledger says again:",
            *(f"  {problem}" for problem in refused.problems),
            f"  It is kept in {refused.kept}: mend it there and copy it back, or edit {refused.source} again.",
        )
    )


def _reloaded(project: Project) -> tuple[Automation, Sequence[Worker]]:
    again = project.anew()
    return again.config.automation, workers_of(again)


def workers_of(project: Project) -> tuple[Worker, ...]:
    """The workers that are on. One that cannot begin is there all the same, and tells why as soon as anything happens.

    Raises:
        ConfigError: the settings cannot be read.
    """
    return tuple(_worker(project, name) for name in _MODULES if _on(project.config, name))


def _on(config: Config, name: str) -> bool:
    return bool(config.hooks) if name == "hooks" else config.automation.on(name)


def _worker(project: Project, name: str) -> Worker:
    try:
        module = import_module(f"swarmgate.engine.automating.{_MODULES[name]}")
        worker: Worker = module.worker(project)
    except Exception as error:  # noqa: BLE001 - one that cannot begin does not take the others down
        return _Unbegun(name, error)
    return worker


class _Unbegun:
    """A worker that could not begin: it fails once, at the first event, so that its breaker and the bus tell of it."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self.limit_s: float | None = None
        self.problem = f"it could not begin: {error}"
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
    """One pass of plan sync, again and again, on a ledger that is kept: 5,000 tasks are not folded anew each time.

    What was edited while a run without a sandbox was at work may be an agent's doing: it is left to the user's command.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._ledger: Ledger | None = None
        self._suspect: set[tuple[str, bytes]] = set()

    def __call__(self) -> PlanSynced | SyncDeferred | None:
        """What it changed; None: nothing; or that the ledger is locked, with the files that have an edit.

        Raises:
            SwarmError: the ledger, or a plan file, cannot be read or written.
        """
        from swarmgate.ledger.opening import sync_pass

        began = time.monotonic()
        ledger = self._read_on()
        if not ledger.projector.differing(ledger.state):
            self._suspect.clear()
            return None
        if self._suspect and (waits := self._for_user(ledger)):
            return waits
        try:
            with ledger.writing():
                before = ledger.state.seq
                outcome = sync_pass(ledger)
        except LedgerLocked as error:
            return self._deferred(ledger, error)
        for refused in outcome.refused if ledger.state.seq == before else ():  # else the ledger's event tells it
            self._project.listener(Progress(kind="notice", text=refusal(refused)))
        if not (outcome.amended or outcome.refused or outcome.restored):
            return SyncDeferred(sources=(), reason=f"{outcome.busy[0]} is being written") if outcome.busy else None
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
        self._ledger = self._ledger or Ledger.read(self._project.folder)
        return self._ledger

    def _deferred(self, ledger: Ledger, error: LedgerLocked) -> SyncDeferred:
        """Which files have an edit that waits; what the process at work writes itself meanwhile is none."""
        from swarmgate.ledger.reconcile import edits

        ledger.refresh()
        found = [edit for edit in edits(ledger, interruptible=True).found if not edit.ahead]
        if ledger.state.sandbox == "none":
            self._suspect.update((edit.source, sha256(edit.data).digest()) for edit in found)
        return SyncDeferred(sources=tuple(edit.source for edit in found), reason=error.message)

    def _for_user(self, ledger: Ledger) -> SyncDeferred | None:
        """That edits wait for the user's own command; None where what stands there now was made after the run."""
        from swarmgate.ledger.reconcile import edits

        found = edits(ledger, interruptible=True).found
        same = tuple(edit.source for edit in found if (edit.source, sha256(edit.data).digest()) in self._suspect)
        if not same:
            return None
        reason = "it was made during a run without a sandbox, so maybe by an agent; if it is yours: swarm sync"
        return SyncDeferred(sources=same, reason=reason, for_user=True)

"""The watcher: runs file watching, plan sync, the event bus and the status file in one process, under one lock.

with Watcher(folder, workers, config=config.automation, place="watch", sync=sync) as watcher:
    watcher.wait()

One works for a project. Each part may fail without the others: files are watched, plan sync runs, events go to the
workers over the bus, and `.swarm/runtime/status.json` tells how it stands.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.worker import Worker
from swarmgate.automation.plan_sync.worker import NAME as PLAN_SYNC
from swarmgate.automation.plan_sync.worker import Pass, PlanSync
from swarmgate.automation.watch.file_watch import GONE_S, FileWatch
from swarmgate.automation.watch.lock import WatchLock
from swarmgate.automation.watch.status_board import Describe, OnEvent, StatusBoard
from swarmgate.config.automation import Automation
from swarmgate.domain.events.automation import (
    AutomationEvent,
    Happening,
    WatchFellBack,
    WatchStarted,
    WatchStopped,
    WorkerFailed,
)
from swarmgate.domain.status import Place, WorkerStatus
from swarmgate.errors import NotAProject, SwarmError
from swarmgate.journal.lock import at_work, describe, live_owner
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace import system

ACTOR = "watch"
"""The actor of the watcher's own events."""
_STOP_POLL_S = 1.0
"""Seconds between two looks whether another host asks this watcher to end."""
_SIGNAL_POLL_S = 0.25
"""Seconds after which a signal is noticed at the latest."""

Reload = Callable[[], tuple[Automation, Sequence[Worker]]]


class Watcher:
    """The watcher of one project.

    Args:
        folder: the project.
        workers: those that are on.
        config: `[automation]`.
        place: which verb it works for.
        sync: one pass of plan sync; None: there is none, whatever the settings say.
        reload: reads the settings again and composes the workers anew; None: they stay as they are.
        describe_event: an event in words; empty for bookkeeping.
        on_event: told each event that has words, with them.
        notice: told in words what no event says.

    Attributes:
        active: whether it works: in a run it does not where another process watches already.
        why: the reason why it ends, once there is one.
    """

    def __init__(
        self,
        folder: SwarmFolder,
        workers: Sequence[Worker],
        *,
        config: Automation,
        place: Place,
        sync: Pass | None = None,
        reload: Reload | None = None,
        describe_event: Describe = lambda happening: happening.type,
        on_event: OnEvent = lambda happening, text: None,  # noqa: ARG005 - the names of the protocol
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._folder, self._config, self._place = folder, config, place
        self._workers, self._sync, self._reload, self._notice = workers, sync, reload, notice
        self._lock = WatchLock(folder, place)
        self._journal = AutomationLog(folder)
        self._board = StatusBoard(folder, place, describe_event=describe_event, on_event=on_event, changed=self._stir)
        self._plan_sync: PlanSync | None = None
        self._wake = threading.Condition()
        self._stirred = self._stopping = False
        self._unread = self._unsettled = False
        self._config_problem = ""
        self._shown: tuple[object, ...] = ()
        self.active = False
        self.why = ""
        self._unheld_since = math.inf
        self._ends: SimpleQueue[str] = SimpleQueue()

    # --- from outside ---

    def start(self) -> None:
        """Begins.

        Raises:
            AlreadyWatching: another process watches this project (in a run: it is left to that one).
            UsageError: `.swarm` is a symbolic link.
            LedgerWriteFailed: `.swarm/runtime/` cannot be written (in a run: it does without).
        """
        if not self._folder.exists():
            raise NotAProject(f"There is no .swarm/ folder in {self._folder.root}.", hint="Make one with: swarm init")
        try:
            gone = self._lock.take()
        except SwarmError as error:
            if self._place != "run":
                raise
            owner = live_owner(self._folder.watch_lock)
            watched = f"{describe(owner)} watches this project already, and does the work in the background"
            self._notice(watched if owner else f"no work in the background beside this run: {error.message}")
            return
        if gone:
            self._notice(f"took over from a watching process that is gone ({gone})")
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        self.active = True

    def stop(self, within_s: float = 2.0) -> bool:
        """Ends, in order; whether everything ended within the time. What did not is left behind in its thread."""
        if not self.active:
            return True
        self.active = False
        until = time.monotonic() + within_s
        with self._wake:
            self._stopping = True
            self._wake.notify()
        good = self._files.stop(within_s / 4)
        if self._plan_sync is not None:
            good &= self._plan_sync.stop(min(within_s / 3, until - time.monotonic()))
        self._pulse.join(within_s / 10)
        self._bus.pump()
        good &= self._bus.close(max(0.0, until - time.monotonic() - within_s / 10))
        if self._folder.path.is_dir():
            self._tell(WatchStopped(pid=os.getpid(), reason=self.why))
            self._bus.pump()
            self._show(stopped=True)
        self._lock.release()
        return good

    def waiting(self, name: str) -> int:
        """How many events that concern a worker wait for it, all that has happened until now included."""
        if not self.active:
            return 0
        self._bus.pump()
        return self._bus.waiting(name)

    def end(self, why: str) -> None:
        """Gives whoever is in `wait` a reason to stop the watcher. Safe to call from a signal handler."""
        self._ends.put(why)

    def wait(self) -> None:
        """Waits until there is a reason to end."""
        while not self.why:
            with contextlib.suppress(Empty):  # a signal's handler runs between two waits: it may not end one
                self.why = self._ends.get(timeout=_SIGNAL_POLL_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- beginning ---

    def _begin(self) -> None:
        folder = self._folder
        folder.watch_stop.unlink(missing_ok=True)
        self._bus = EventBus(folder)
        self._bus.subscribe(self._board)
        self._bus.assign(self._workers, call_s=self._config.call_s)
        self._files = FileWatch(
            (folder.plan_md, folder.plan_json, folder.ledger, folder.automation_log, folder.config),
            self._changed,
            debounce_s=self._config.debounce_s,
            poll_s=self._config.poll_s,
            fell_back=self._fell_back,
            notice=self._notice,
            returned=self._returned,
        )
        self._files.start()
        self._pulse = threading.Thread(target=self._run, name="swarm-watcher", daemon=True)
        self._tell(
            WatchStarted(
                pid=os.getpid(),
                host=system.host(),
                place=self._place,
                mode=self._config.mode,
                workers=self.on,
                watching=self._files.watching,
                reason=self._files.reason,
            )
        )
        self._switch_plan_sync()
        self._show()
        self._pulse.start()

    @property
    def on(self) -> tuple[str, ...]:
        """The names of what is on."""
        synced = (PLAN_SYNC,) if self._sync is not None and self._config.on(PLAN_SYNC) else ()
        return (*synced, *self._bus.on)

    def _switch_plan_sync(self) -> None:
        wanted = PLAN_SYNC in self.on
        if self._plan_sync is not None and (not wanted or self._plan_sync.call_s != self._config.call_s):
            self._plan_sync.stop(self._config.call_s)
            self._plan_sync = None
        if wanted and self._plan_sync is None and self._sync is not None:
            self._plan_sync = PlanSync(self._folder, self._sync, self._tell_sync, call_s=self._config.call_s)
            self._plan_sync.start()

    # --- what the files tell, in their thread ---

    def _changed(self, paths: frozenset[Path]) -> None:
        folder = self._folder
        if self._plan_sync is not None and paths & {folder.plan_md, folder.plan_json}:
            self._plan_sync.poke()
        self._unread |= bool(paths & {folder.ledger, folder.automation_log})
        self._unsettled |= folder.config in paths
        self._stir()

    def _fell_back(self, reason: str) -> None:
        self._tell(WatchFellBack(reason=reason))

    def _returned(self) -> None:
        """`.swarm/` is back, or another one is there: its lock has to be taken anew."""
        self._lock.release()
        self._hold()

    def _holds(self) -> bool:
        """Whether the lock is held; one that was removed is taken anew, but not while all else is removed with it."""
        if self._lock.held:
            self._unheld_since = math.inf
            return True
        now = time.monotonic()
        self._unheld_since = min(self._unheld_since, now)
        if now - self._unheld_since >= GONE_S:
            self._hold()
        return self._lock.held

    def _hold(self) -> None:
        """Makes sure that the lock is held: its file may have been removed."""
        try:
            if not self._lock.held and self._folder.exists():
                self._lock.take()
        except SwarmError as error:
            self.end(error.message)

    # --- its own thread ---

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stirred or self._stopping, self._pause_s())
                if self._stopping:
                    return
                self._stirred = False
            try:
                self._beat()
            except Exception as error:  # noqa: BLE001 - whatever it is, watching goes on and the user is told
                self._notice(f"{type(error).__name__}: {error}")

    def _pause_s(self) -> float:
        if self._files.lost:  # the status has nowhere to be written to, however long it is due
            return _STOP_POLL_S
        return max(0.0, min(_STOP_POLL_S, self._board.due - time.monotonic()))

    def _beat(self) -> None:
        if self._unread:
            self._unread = False
            self._bus.pump()
        if self._unsettled:
            self._unsettled = False
            self._recompose()
        if self._folder.watch_stop.exists():
            self.end("asked to stop")
        if self._shown != self._shows():  # what no event tells: a queue that is empty again, a run that was killed
            self._board.touch()
        if self._files.lost or not self._holds():
            return
        if time.monotonic() >= self._board.due:
            self._show()

    def _recompose(self) -> None:
        """The settings changed."""
        if self._reload is None:
            return
        try:
            config, workers = self._reload()
        except SwarmError as error:
            if error.message != self._config_problem:
                self._config_problem = error.message
                message = f"{error.message} The settings of before stay in use."
                self._tell(WorkerFailed(worker=ACTOR, subject=self._folder.config.name, error=message))
            return
        before, self._config, self._config_problem = self.on, config, ""
        self._files.retime(debounce_s=config.debounce_s, poll_s=config.poll_s)
        self._bus.assign(workers, call_s=config.call_s)
        self._switch_plan_sync()
        if self.on != before:
            self._notice(f"the settings changed; on now: {', '.join(self.on) or 'nothing'}")
        self._board.touch()

    # --- telling ---

    def _tell(self, event: AutomationEvent, actor: str = ACTOR) -> Happening:
        entry = self._journal.append(event, actor=actor)
        self._unread = True
        self._stir()
        return entry

    def _tell_sync(self, event: AutomationEvent) -> None:
        self._tell(event, PLAN_SYNC)

    def _stir(self) -> None:
        with self._wake:
            self._stirred = True
            self._wake.notify()

    def _shows(self) -> tuple[object, ...]:
        return self._snapshots(), self._plan_sync and self._plan_sync.waiting, at_work(self._folder.lock).get("pid")

    def _show(self, *, stopped: bool = False) -> None:
        before, self._shown = self._board.problem, self._shows()
        self._board.write(
            self._bus.state,
            mode=self._config.mode,
            watching="stopped" if stopped else self._files.watching.value,
            reason=self.why if stopped else self._files.reason,
            workers=self._snapshots(),
            edits_waiting=self._plan_sync.waiting if self._plan_sync else (),
            config_problem=self._config_problem,
        )
        if self._board.problem and self._board.problem != before:
            self._notice(f"{self._folder.status} cannot be written: {self._board.problem}")

    def _snapshots(self) -> tuple[WorkerStatus, ...]:
        if self._plan_sync:
            sync = self._plan_sync.snapshot()
        else:  # a run takes edits in by itself
            by_run = self._place == "run" and self._config.on(PLAN_SYNC)
            sync = WorkerStatus(name=PLAN_SYNC, on=by_run, by="the run" if by_run else "")
        return (sync, *self._bus.snapshots())

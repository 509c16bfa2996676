"""Watches a few files in one folder, by file events or by polling where there are none.

Whether events come is detected: a probe file is written at the start, and while events are relied on a rare look at
the files' stamps finds what no event told of (a network file system, an overflow, a remount).
"""

from __future__ import annotations

import math
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.automation.watch.debounce import Debounce
from swarmgate.domain.events.automation import Watching

if TYPE_CHECKING:
    from swarmgate.automation.watch.file_events import FileEvents

PROBE_S = 0.5
"""Seconds in which the event of the probe file has to come."""
TRUST = 5
"""Looks that are left out while events come: one every `TRUST * poll_s` seconds remains."""
GONE_S = 1.0
"""Seconds that a file has to be gone before that is reported: `rm -rf` of its folder takes less."""
_GRACE_S = 0.5
"""Seconds that an event may take longer than a look."""

Stamp = tuple[int, int, int, int]


class FileWatch:
    """Watches files that lie in one folder, which may go away and come back.

    Args:
        paths: the files; all in the same folder. They need not exist.
        changed: told which of them changed, in this watch's own thread; it has to be quick.
        debounce_s: quiet time after the last change, in seconds.
        poll_s: seconds between two looks where no events come.
        fell_back: told why, when events were relied on and can be no more.
        notice: told in words that the folder went away, or came back.
        returned: called when the folder came back, before its files are told as changed.
        events: makes the source of file events; another one in tests.

    Attributes:
        watching: how changes are noticed now.
        reason: why it polls; empty while it does not.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        changed: Callable[[frozenset[Path]], None],
        *,
        debounce_s: float,
        poll_s: float,
        fell_back: Callable[[str], None] = lambda _: None,
        notice: Callable[[str], None] = lambda _: None,
        returned: Callable[[], None] = lambda: None,
        events: Callable[[], FileEvents] | None = None,
    ) -> None:
        self._paths = {path.name: path for path in paths}
        (self._folder,) = {path.parent for path in self._paths.values()}
        self._changed, self._fell_back, self._notice, self._returned = changed, fell_back, notice, returned
        self._poll_s, self._make = poll_s, events or _file_events
        self._debounce = Debounce(debounce_s)
        self._wake = threading.Condition()
        self._stopping = False
        self._next_scan = 0.0
        self._seen: dict[Path, Stamp | None] = {}
        self._gone: dict[Path, float] = {}
        self._suspects: set[Path] = set()
        self._identity: tuple[int, int] | None = None
        self._events: FileEvents | None = None
        self._thread = threading.Thread(target=self._run, name="swarm-filewatch", daemon=True)
        self.watching, self.reason = Watching.POLLING, ""

    def start(self) -> None:
        """Begins; when it returns, `watching` is known and every later change is noticed."""
        self._identity = _identity(self._folder)
        self._attach()
        self._next_scan = time.monotonic() + self._pause
        self._thread.start()

    def stop(self, within_s: float = 1.0) -> bool:
        """Ends; whether that was within the time. Changes that were not reported yet are dropped."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join(within_s)
        return not self._thread.is_alive()

    def retime(self, *, debounce_s: float, poll_s: float) -> None:
        """Other times from now on."""
        with self._wake:
            self._debounce.quiet_s, self._poll_s = debounce_s, poll_s
            self._next_scan = 0.0
            self._wake.notify()

    @property
    def lost(self) -> bool:
        """Whether the folder is away now."""
        return self._identity is None

    # --- its thread ---

    @property
    def _pause(self) -> float:
        return self._poll_s if self.watching is Watching.POLLING or self.lost else self._poll_s * TRUST

    def _run(self) -> None:
        try:
            while True:
                with self._wake:
                    self._wake.wait(self._wait_s())
                    if self._stopping:
                        return
                    taken = self._released(self._debounce.take(time.monotonic()), time.monotonic())
                try:
                    if taken:
                        self._tell(taken)
                    if time.monotonic() >= self._next_scan:
                        self._next_scan = time.monotonic() + self._pause
                        self._scan()
                except Exception as error:  # noqa: BLE001 - whoever was told failed; the files change all the same
                    self._notice(f"{type(error).__name__}: {error}")
        finally:
            self._detach()

    def _released(self, taken: frozenset[Path], now: float) -> frozenset[Path]:
        """The due changes to report now: a file that is gone waits a while, since its folder may go with it.

        Whoever is told writes it anew, and must not do so under the hands of somebody who removes the whole folder.
        """
        for path in taken:
            if _stamp(path) is None and self._seen.get(path) is not None:
                self._gone.setdefault(path, now + GONE_S)
        due = {path for path, at in self._gone.items() if at <= now}
        waiting = self._gone.keys() - due
        self._gone = {path: self._gone[path] for path in waiting}
        return (taken | due) - waiting

    def _wait_s(self) -> float:
        until = min(self._next_scan, self._debounce.due or math.inf, *self._gone.values(), math.inf)
        return 0.0 if self._stopping else max(0.0, until - time.monotonic())

    def _tell(self, paths: frozenset[Path]) -> None:
        for path in paths:
            self._seen[path] = _stamp(path)
        if not self.lost:
            self._changed(paths)

    def _scan(self) -> None:
        """Compares the folder and the stamps with what is known."""
        identity = _identity(self._folder)
        if identity != self._identity:
            self._moved(identity)
            return
        if identity is None:
            return
        changed = {path for path in self._paths.values() if _stamp(path) != self._seen.get(path)}
        with self._wake:
            silent = {path for path in changed if not self._debounce.waits(path)} - self._gone.keys()
            if self.watching is Watching.EVENTS and silent and not silent & self._suspects:
                self._suspects = silent  # its event may be on the way
                self._next_scan = time.monotonic() + _GRACE_S
                return
            silent = silent & self._suspects if self.watching is Watching.EVENTS else silent
            self._suspects = set()
        if not silent:
            return
        if self.watching is Watching.EVENTS:
            self._fall_back(f"{min(path.name for path in silent)} changed and no file event told of it")
        self._touch(silent)

    def _moved(self, identity: tuple[int, int] | None) -> None:
        """The folder went away, came back, or another one stands in its place."""
        away = self._identity is None
        if not away:
            self._notice(f"{self._folder} is {'gone' if identity is None else 'another folder now'}")
        self._identity = identity
        if identity is None:
            self._next_scan = time.monotonic() + self._pause
            return
        if away:
            self._notice(f"{self._folder} is back")
        self._attach()
        self._returned()
        self._touch(set(self._paths.values()))

    def _fall_back(self, reason: str) -> None:
        self._detach()
        self.watching, self.reason = Watching.POLLING, reason
        self._next_scan = time.monotonic() + self._pause
        self._fell_back(reason)

    # --- file events ---

    def _attach(self) -> None:
        """Asks for events, and polls where none come. Every stamp is known after it."""
        self._detach()
        self.reason = "" if self.lost else self._refusal()
        if self.lost:
            self.reason = f"{self._folder} is not there"
        self.watching = Watching.POLLING if self.reason else Watching.EVENTS
        if self.reason:
            self._detach()
        self._seen = {path: _stamp(path) for path in self._paths.values()}

    def _refusal(self) -> str:
        """Why events cannot be relied on; empty when the probe's event came."""
        arrived = threading.Event()
        probe = self._folder / f".swarmgate-probe-{os.getpid()}.tmp"

        def changed(name: str) -> None:
            if name == probe.name:
                arrived.set()
            elif path := self._paths.get(name):
                self._touch({path})

        try:
            self._events = self._make()
            self._events.start(self._folder, changed, self._scan_now)
        except OSError as error:
            return f"file events cannot be had: {error.strerror or error}"
        try:
            probe.write_bytes(b"")
            received = arrived.wait(PROBE_S)
            probe.unlink(missing_ok=True)
        except OSError as error:
            return f"whether file events come cannot be tried: {error.strerror or error}"
        return "" if received else f"no file event came within {PROBE_S} s of a change"

    def _detach(self) -> None:
        if self._events is not None:
            self._events.stop()
            self._events = None

    def _touch(self, paths: set[Path]) -> None:
        with self._wake:
            waited = self._debounce.due
            for path in paths:
                self._debounce.touch(path, time.monotonic())
            self._suspects -= paths
            if waited is None:  # else it wakes in time by itself
                self._wake.notify()

    def _scan_now(self) -> None:
        """The folder itself was created, deleted or renamed."""
        with self._wake:
            self._next_scan = 0.0
            self._wake.notify()


def _file_events() -> FileEvents:
    from swarmgate.automation.watch.file_events import FileEvents  # noqa: PLC0415 - watchdog comes with it

    return FileEvents()


def _stamp(path: Path) -> Stamp | None:
    """A stamp that differs between two versions of a file; None where there is none, or nobody can say."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns


def _identity(folder: Path) -> tuple[int, int] | None:
    """The identity of a folder; None where there is none. A symbolic link is none."""
    try:
        found = folder.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None

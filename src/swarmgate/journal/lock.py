"""The writer lock of a journal: a lock file that names its owner and is held by the kernel.

The kernel's lock (flock) ends with its process however that dies, so a dead owner's lock is simply there to take. The
owner's pid and host stand in the file for people, and for file systems that several hosts share without locks. Beside
them stands which start of the kernel it was: a container that comes back under another name is on the same host.
"""

from __future__ import annotations

import json
import os
import time
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from swarmgate.errors import LedgerLocked
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.files.folders import make

_PAUSE_S, _PATIENCE_S = 0.01, 0.2
"""How many seconds apart, and for how long, the lock is asked for: `live_owner` holds it for an instant to look."""
_BRIEF_S = 3.0
"""For how long it is asked for where its owner says that it gives it back soon: a pass of plan sync, no run."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class WriterLock:
    """The exclusive right to append. `taken_over` names the dead owner whose lock was found, if there was one.

    Args:
        path: the lock file.
        brief: it is given back within a second or so: who wants it next waits instead of giving up.
        place: what its owner is, for those who read the file.
    """

    def __init__(self, path: Path, *, brief: bool = False, place: str = "") -> None:
        self._path = path
        self._details = {**({"brief": True} if brief else {}), **({"place": place} if place else {})}
        self._descriptor = -1
        self.taken_over = ""

    def acquire(self) -> None:
        """Takes the lock, at once or never; from a brief owner, as soon as it is free.

        Raises:
            LedgerLocked: a live process holds it, or one on another host does.
            LedgerWriteFailed: the lock file cannot be written.
        """
        with writing(self._path):
            make(self._path.parent)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o644)
        try:
            with writing(self._path):
                self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _take(self, descriptor: int) -> None:
        if not self._patiently(descriptor):
            owner = read_owner(self._path)
            if owner.get("brief"):
                raise LedgerLocked(
                    f"Plan sync ({describe(owner)}) takes an edit of the plan in, and is not done yet.",
                    hint="Run the command again in a moment. Who watches here: swarm watch status",
                )
            raise LedgerLocked(
                f"Another swarm process is at work here: {describe(owner)}.",
                hint="Wait for it, or end it with: swarm stop",
            )
        owner = read_owner(self._path)
        if _elsewhere(owner):
            raise LedgerLocked(
                f"It is locked by {describe(owner)}, on another host, or on this one before it was renamed.",
                hint=f"If no swarm process is at work there, remove {self._path} and try again.",
            )
        self.taken_over = describe(owner) if owner else ""
        mine = json.dumps({"pid": os.getpid(), "host": system.host(), "boot": _boot(), **self._details})
        os.ftruncate(descriptor, 0)
        system.write_at(descriptor, mine.encode(), 0)

    def _patiently(self, descriptor: int) -> bool:
        """Whether the lock is ours now; waits for it, longer for an owner that has it briefly."""
        began, patience = time.monotonic(), _PATIENCE_S
        while not _lock(descriptor):
            if read_owner(self._path).get("brief"):  # for good: while it changes hands the file names nobody
                patience = _BRIEF_S
            if time.monotonic() - began > patience:
                return False
            time.sleep(_PAUSE_S)
        return True

    @property
    def held(self) -> bool:
        """Whether the lock is ours: not any more when somebody removed the file, since the next one makes another."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Gives the lock back; the file stays, empty, so that two processes can never lock two different files."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _lock(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    try:
        exclusive.take(descriptor, wait=False)
    except BlockingIOError:
        return False
    return True


@cache
def _boot() -> str:
    """What the kernel calls the time since it was started; empty where it has no word for that."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _elsewhere(owner: dict[str, object]) -> bool:
    """Whether an owner may be alive on a host whose locks this kernel does not see."""
    return bool(owner) and owner.get("host") != system.host() and (not _boot() or owner.get("boot") != _boot())


def forget_renamed(path: Path) -> None:
    """Removes a lock that nobody holds and that names another host: of a folder that this machine alone works in."""
    if _elsewhere(read_owner(path)) and not live_owner(path):
        path.unlink(missing_ok=True)


def read_owner(path: Path) -> dict[str, object]:
    """Who the lock file names; empty when it names nobody."""
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def live_owner(path: Path) -> dict[str, object]:
    """The owner of a lock that is held now; empty when nobody holds it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | system.CLOEXEC)
    except OSError:
        return {}
    try:
        exclusive.take(descriptor, shared=True, wait=False)
    except BlockingIOError:
        return read_owner(path)
    finally:
        os.close(descriptor)
    return {}


def at_work(path: Path) -> dict[str, object]:
    """The owner of the lock, as `live_owner`, but empty for one that holds it briefly, such as a pass of plan sync."""
    owner = live_owner(path)
    return {} if owner.get("brief") else owner


def describe(owner: dict[str, object]) -> str:
    """An owner in words."""
    return f"pid {owner.get('pid', '?')} on {owner.get('host', '?')}"

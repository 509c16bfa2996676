"""One writer: a lock file that names its owner and is held by the kernel.

The kernel's lock (flock) ends with its process however that dies, so a dead owner's lock is simply there to take. The
owner's pid and host stand in the file for people, and for file systems that several hosts share without locks.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from swarmgate.errors import LedgerLocked


class WriterLock:
    """The right to append. `taken_over` names the dead owner whose lock was found, if there was one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self.taken_over = ""

    def acquire(self) -> None:
        """Takes the lock, at once or never.

        Raises:
            LedgerLocked: a live process holds it, or one on another host does.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _take(self, descriptor: int) -> None:
        owner = read_owner(self._path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LedgerLocked(
                f"Another swarm process is at work here: {describe(owner)}.",
                hint="Wait for it, or end it with: swarm stop",
            ) from None
        if owner and owner.get("host") != os.uname().nodename:
            raise LedgerLocked(
                f"The ledger is locked by {describe(owner)}, on another host.",
                hint=f"If that process is dead, remove {self._path} and try again.",
            )
        self.taken_over = describe(owner) if owner else ""
        mine = json.dumps({"pid": os.getpid(), "host": os.uname().nodename})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, mine.encode(), 0)

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
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return {}
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return read_owner(path)
    finally:
        os.close(descriptor)
    return {}


def describe(owner: dict[str, object]) -> str:
    """An owner in words."""
    return f"pid {owner.get('pid', '?')} on {owner.get('host', '?')}"

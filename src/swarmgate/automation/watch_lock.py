"""The right to watch a project: one process has it, and the kernel takes it back however that process ends."""

from __future__ import annotations

import os

from swarmgate.errors import AlreadyWatching, LedgerLocked
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.lock import WriterLock, describe, live_owner, read_owner


class WatchLock:
    """The lock file `runtime/watch.lock` of one project."""

    def __init__(self, folder: SwarmFolder) -> None:
        self._path = folder.watch_lock
        self._lock: WriterLock | None = None

    def take(self) -> str:
        """Takes it; returns the dead owner whose lock was found, in words, empty if there was none.

        Raises:
            AlreadyWatching: a live process has it, or one on another host.
            LedgerWriteFailed: the lock file cannot be written.
        """
        self.release()
        lock = WriterLock(self._path)
        try:
            lock.acquire()
        except LedgerLocked as error:
            owner = read_owner(self._path)
            elsewhere = owner.get("host") != os.uname().nodename and not live_owner(self._path)
            hint = error.hint if elsewhere else "See: swarm watch status. End it with: swarm watch stop"
            raise AlreadyWatching(f"Another process watches this project: {describe(owner)}.", hint=hint) from None
        self._lock = lock
        return lock.taken_over

    @property
    def held(self) -> bool:
        """Whether this process has it: not any more when somebody removed the file."""
        return self._lock is not None and live_owner(self._path).get("pid") == os.getpid()

    def release(self) -> None:
        """Gives it back."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

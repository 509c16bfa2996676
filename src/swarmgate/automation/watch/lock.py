"""The lock that lets one process at a time watch a project; the kernel releases it when that process ends."""

from __future__ import annotations

from swarmgate.domain.status import Place
from swarmgate.errors import AlreadyWatching, LedgerLocked
from swarmgate.journal.lock import WriterLock, describe, live_owner, read_owner
from swarmgate.ledger.files.folder import SwarmFolder


class WatchLock:
    """The lock file `runtime/watch.lock` of one project; it says for which verb its owner watches."""

    def __init__(self, folder: SwarmFolder, place: Place) -> None:
        self._path, self._place = folder.watch_lock, place
        self._lock: WriterLock | None = None

    def take(self) -> str:
        """Takes it; returns the dead owner whose lock was found, in words, empty if there was none.

        Raises:
            AlreadyWatching: a live process has it, or one on another host.
            LedgerWriteFailed: the lock file cannot be written.
        """
        self.release()
        lock = WriterLock(self._path, place=self._place)
        try:
            lock.acquire()
        except LedgerLocked as error:
            if owner := live_owner(self._path):
                raise taken(owner) from None
            message = f"Another process watches this project: {describe(read_owner(self._path))}."
            raise AlreadyWatching(message, hint=error.hint) from None
        self._lock = lock
        return lock.taken_over

    @property
    def held(self) -> bool:
        """Whether this process has it: not any more when somebody removed the file."""
        return self._lock is not None and self._lock.held

    def release(self) -> None:
        """Gives it back."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def taken(owner: dict[str, object]) -> AlreadyWatching:
    """The hint for whoever wants to watch while a live process does, which may be a run."""
    if owner.get("place") == "run":
        return AlreadyWatching(
            f"A run is at work in this project, and does the same beside its steps: {describe(owner)}.",
            hint="Begin when it has ended; see: swarm status",
        )
    return AlreadyWatching(
        f"Another process watches this project: {describe(owner)}.",
        hint="See: swarm watch status. End it with: swarm watch stop",
    )

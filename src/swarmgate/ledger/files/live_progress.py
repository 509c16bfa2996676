"""Writes the newest progress of a run to `.swarm/runtime/progress.json`, for `swarm top` in another process.

No record: it may be lost at any time, is replaced as a whole without fsync, and decides nothing. It counts for nothing
unless the process that wrote it still holds the lock, or is known to have held it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.domain.progress import PASSING, Listener, Progress
from swarmgate.domain.text.printable import printable
from swarmgate.workspace.files.atomic import replace

_ITEMS = 100
"""As many of the newest messages are kept."""

_CHARACTERS = 100_000
"""Of all messages that are kept, written as JSON; the newest one stays however long it is."""


class LiveRun(Frozen):
    """What a run told last. `told` counts all its messages, of which `items` are the newest.

    `step` is the newest that said which step began, `now` how far an answer, or the tests, have come since.
    """

    pid: int
    told: int
    items: tuple[Progress, ...]
    step: Progress | None = None
    now: Progress | None = None

    def since(self, told: int) -> tuple[Progress, ...]:
        """The messages after so many, as far as they are kept."""
        new = self.told - told
        return self.items[-new:] if new > 0 else ()


class LiveProgress:
    """The listener of a run: writes what it is told, and passes it on.

    Args:
        path: the file; its folder exists while the lock is held.
        listener: who is told as well.
    """

    def __init__(self, path: Path, listener: Listener) -> None:
        self._path = path
        self._listener = listener
        self._items: deque[str] = deque()
        self._size = self._told = 0
        self._step = self._now = "null"
        self._at_work = threading.Lock()  # workers tell from threads of their own

    def __call__(self, progress: Progress) -> None:
        """Takes in a message."""
        clean = progress.model_copy(update={"text": printable(progress.text), "detail": printable(progress.detail)})
        with self._at_work:
            self._take(progress.kind, clean.model_dump_json(exclude_defaults=True))
        self._listener(progress)

    def _take(self, kind: str, written: str) -> None:
        if kind in PASSING:
            self._now = written
        else:
            self._now = "null"
            self._step = written if kind == "step" else self._step
            self._items.append(written)
            self._told += 1
            self._size += len(written)
            while len(self._items) > _ITEMS or (self._size > _CHARACTERS and len(self._items) > 1):
                self._size -= len(self._items.popleft())
        items = ",\n".join(self._items)
        head = f'"pid": {os.getpid()}, "told": {self._told}, "step": {self._step}, "now": {self._now}'
        with contextlib.suppress(OSError):  # a full disk shows itself where something is recorded
            replace(self._path, f'{{{head}, "items": [\n{items}\n]}}\n', durable=False)


def read(path: Path, owner: dict[str, object]) -> LiveRun | None:
    """What the process told that holds the lock; None where there is none, or nothing of it is known.

    Args:
        path: the file.
        owner: as `lock.at_work` says.
    """
    try:
        found = LiveRun.model_validate_json(path.read_bytes()) if owner else None
    except (OSError, ValueError):
        return None
    return found if found and found.pid == owner.get("pid") else None

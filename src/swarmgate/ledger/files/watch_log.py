"""The log of the daemon, `.swarm/runtime/watch.log`: one line a message, rotated at 1 MB."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from swarmgate.ledger.files.status_file import stamp
from swarmgate.workspace import system

LIMIT_BYTES = 1_000_000


class WatchLog:
    """The log of one daemon.

    Args:
        path: the file; its folder exists.
        streams: descriptors that go there too, such as those of stdout and stderr.
    """

    def __init__(self, path: Path, *, streams: tuple[int, ...] = (), limit: int = LIMIT_BYTES) -> None:
        self._path, self._streams, self._limit = path, streams, limit
        self._descriptor = -1
        self._open()

    def write(self, text: str, *, time: str = "") -> None:
        """Adds a line, of an event with its `time`, else of now. What the disk refuses is lost: who could be told?"""
        line = f"{time or stamp()} {' '.join(text.split())}\n"
        with contextlib.suppress(OSError):
            if os.fstat(self._descriptor).st_size >= self._limit:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
                self._open()
            os.write(self._descriptor, line.encode("utf-8", "replace"))

    def _open(self) -> None:
        """Opens the file at its end, for us and for the streams."""
        before = self._descriptor
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o644)
        for stream in self._streams:
            os.dup2(self._descriptor, stream)
        if before >= 0:
            os.close(before)


def end_of(path: Path, lines: int = 5) -> tuple[str, ...]:
    """The newest lines of the log; none where there is no log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            return tuple(file.read().decode("utf-8", "replace").splitlines()[-lines:])
    except OSError:
        return ()

r"""A file of numbered JSON lines with concurrent appends, which is rotated when it has grown long.

    name.jsonl  <- name.jsonl.1  <- name.jsonl.2  <- name.jsonl.3

The newest lines are in `name.jsonl`; what was in `.3` goes when it rotates. Each line is an object with the key `seq`,
which counts on across rotation. The lock is the kernel's on the file itself, so it ends with its process.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic_core import from_json

from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive

LIMIT_BYTES = 5_000_000
"""Where a file has reached this, the next line begins a new one."""
KEPT = 3
"""Files that are kept beside the newest one."""

_PATIENCE_S, _PAUSE_S = 2.0, 0.001
"""How long, and how many seconds apart, the lock is asked for: its owner may have been stopped (SIGSTOP)."""
_FIRST_SPAN = 8192
"""Bytes from the end that are searched first for the newest number."""

FileStamp = tuple[int, int, int] | None
"""What tells that a file changed: inode, size, and when it or its rights changed (ctime, ns). None: there is none."""


class RotatingLines:
    """The lines of one such file.

    Args:
        path: the newest file; its folder has to exist.
        limit: bytes from which on it rotates.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT_BYTES) -> None:
        self.path = path
        self._limit = limit

    @property
    def places(self) -> tuple[Path, ...]:
        """Where lines may be, the newest first."""
        return (self.path, *(self._old(number) for number in range(1, KEPT + 1)))

    def append(self, make: Callable[[int], bytes]) -> None:
        """Adds lines, all or none. A torn last line, which a killed process left, is closed and stays for itself.

        Args:
            make: called with the first free number; gives whole lines.

        Raises:
            OSError: the disk refused, or the lock was held for too long; the file is as before.
        """
        with self._locked() as descriptor:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and system.read_at(descriptor, 1, size - 1) != b"\n"
            view = memoryview((b"\n" if torn else b"") + make(self._newest(descriptor) + 1))
            try:
                while view:
                    view = view[os.write(descriptor, view) :]
            except OSError:
                os.ftruncate(descriptor, size)
                raise

    def read(self) -> list[bytes]:
        """Every line that there is, oldest first; one without its end is none.

        Raises:
            OSError: a file is there and cannot be read.
        """
        seen: set[int] = set()
        parts: list[list[bytes]] = []
        for place in self.places:  # from the newest: what rotates meanwhile is met again, and known by its inode
            with contextlib.suppress(FileNotFoundError), place.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode not in seen:
                    parts.append(whole(file.read()))
                seen.add(inode)
        return [line for part in reversed(parts) for line in part]

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """The newest file, open and locked, with room in it."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | system.CLOEXEC | system.NOFOLLOW
            descriptor = os.open(self.path, flags, 0o644)
            try:
                _lock(descriptor, until)
                if not self._current(descriptor):
                    continue
                if os.fstat(descriptor).st_size >= self._limit:
                    self._rotate()
                    continue
                yield descriptor
                return
            finally:
                os.close(descriptor)

    def _current(self, descriptor: int) -> bool:
        """Whether it is still the newest file: another process may have rotated it, or removed it, before our lock."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))  # noqa: PTH116 - beside fstat
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        for newer, older in reversed(list(zip(self.places, self.places[1:], strict=False))):
            with contextlib.suppress(FileNotFoundError):
                newer.replace(older)

    def _old(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def _newest(self, descriptor: int) -> int:
        """The newest number on record; 0 where there is none."""
        if found := _last_number(descriptor):
            return found
        for place in self.places[1:]:
            with contextlib.suppress(FileNotFoundError), place.open("rb") as file:
                if found := _last_number(file.fileno()):
                    return found
        return 0


class ReadOn:
    """Reads on in such a file, through rotation, removal and replacement. Holds no file open in between.

    It remembers how far it came and the line that stood there, and finds that place again in whichever file it is now.

    Args:
        lines: the file.
        from_start: begin with the oldest line; else with what is added from now on.

    Raises:
        OSError: a file is there and cannot be read.
    """

    def __init__(self, lines: RotatingLines, *, from_start: bool) -> None:
        self._lines = lines
        self._offset = 0
        self._last = b""
        self._number = 0
        self._stamp: FileStamp = None
        for place in lines.places if not from_start else ():
            with contextlib.suppress(FileNotFoundError):
                self._move(place.read_bytes(), 0)
            if self._last:
                break

    def poll(self) -> list[bytes]:
        """The lines that were added, oldest first.

        Raises:
            OSError: a file is there and cannot be read.
        """
        stamp = stamp_of(self._lines.path)
        if stamp == self._stamp:
            return []
        parts, found = self._added()  # files only move to later places, so none is missed while they rotate
        lines = [whole(data) for data, _ in parts]
        if not found:  # it was replaced, or rotated away: of the old files only what is new
            lines[1:] = [[line for line in part if number_of(line) > self._number] for part in lines[1:]]
        any(self._move(data, start) for data, start in parts)  # to the newest line
        self._stamp = stamp  # of before that: what was added meanwhile makes it look different
        return [line for part in reversed(lines) for line in part]

    def _added(self) -> tuple[list[tuple[bytes, int]], bool]:
        """What stands behind the known place, the newest file first: bytes, and where in their file they begin.

        Also whether that place was found.
        """
        parts: list[tuple[bytes, int]] = []
        inodes: set[int] = set()
        for place in self._lines.places:
            with contextlib.suppress(FileNotFoundError), place.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode in inodes:
                    continue  # it was moved on just now
                inodes.add(inode)
                if self._last and (added := _behind(file, self._offset, self._last)) is not None:
                    return [*parts, (added, self._offset)], True
                file.seek(0)
                parts.append((file.read(), 0))
        return parts, False

    def _move(self, data: bytes, start: int) -> bool:
        """Goes to the end of the whole lines in `data`, which begins at `start`; whether there are any."""
        end = data.rfind(b"\n") + 1
        if end:
            self._last = data[data.rfind(b"\n", 0, end - 1) + 1 : end]
            self._number = number_of(self._last) or self._number
            self._offset = start + end
        return end > 0


def stamp_of(path: Path) -> FileStamp:
    """The stamp of a file: inode, size and change time.

    Raises:
        OSError: that cannot be found out.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_size, found.st_ctime_ns


def whole(data: bytes) -> list[bytes]:
    """The lines that end in a line feed."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def number_of(line: bytes) -> int:
    """The number of a line; 0 where it is unreadable."""
    try:
        number = from_json(line)["seq"]
    except (ValueError, KeyError, TypeError):
        return 0
    return number if type(number) is int else 0


def _behind(file: BinaryIO, offset: int, last: bytes) -> bytes | None:
    """The bytes of a file from `offset` on, if `last` stands right before it; else None."""
    file.seek(max(0, offset - len(last)))
    return file.read() if file.read(len(last)) == last and file.tell() == offset else None


def _last_number(descriptor: int) -> int:
    """The number of the last readable line; 0 where there is none."""
    size, span = os.fstat(descriptor).st_size, _FIRST_SPAN
    while True:
        start = max(0, size - span)
        lines = system.read_at(descriptor, size - start, start).split(b"\n")
        for line in reversed(lines[1:] if start else lines):
            if line and (number := number_of(line)):
                return number
        if not start:
            return 0
        span *= 16


def _lock(descriptor: int, until: float) -> None:
    while True:
        try:
            exclusive.take(descriptor, wait=False)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return

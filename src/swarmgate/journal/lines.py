"""Reads and atomically appends the lines of a journal file, and detects that it was changed meanwhile."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Protocol

from swarmgate.errors import LedgerCorrupt, LedgerError
from swarmgate.journal.chain import GENESIS, TAIL, walk
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace import system


class Lines(Protocol):
    """The lines of one journal, up to the point that was read; implemented by files and by databases.

    `name` is how messages call it, `torn` what stands behind the last whole line: a crash cut it short.
    """

    name: str
    torn: bytes

    def read(self) -> bytes:
        """All whole lines, from the beginning."""

    def first(self) -> bytes:
        """The first line without its line feed; empty: there is none."""

    def whole_lines(self) -> bytes:
        """All whole lines as they are now; what was read so far stays where it is."""

    def read_on(self, head: str) -> bytes:
        """The whole lines behind what was read so far; `head` is the hash that the last line read ends in."""

    def took(self, data: bytes) -> None:
        """Confirms that what `read_on` gave was processed: the next one begins behind it."""

    def grew(self) -> bool:
        """Whether somebody else has written since."""

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Appends all or nothing; `durable`: that outlives a power cut, and not only a kill."""

    def cut(self) -> None:
        """Cuts off an incomplete last line."""


class LinesFile:
    """The lines of one file; implements `Lines`.

    Args:
        path: of the file.
        name: how messages call it; empty: by the name of the file.
        own_folder: whether its folder is its own, and is made with it.

    Attributes:
        size: bytes of the whole lines that were read or written.
        torn: bytes behind the last whole line: a crash cut them short, or a writer is at work.
    """

    def __init__(self, path: Path, *, name: str = "", own_folder: bool = False) -> None:
        self.path = path
        self.name = name or path.name
        self._own_folder = own_folder
        self.size = 0
        self.torn = b""
        self._identity: tuple[int, int] | None = None

    def read(self) -> bytes:
        """All whole lines, from the beginning.

        Raises:
            LedgerError: it is there and cannot be read.
        """
        self._identity = self._found()
        data = self.whole_lines()
        self.size = len(data)
        return data

    def whole_lines(self) -> bytes:
        """All whole lines as they are now; what was read so far stays where it is."""
        return self._split(self._bytes())

    def read_on(self, head: str) -> bytes:
        """The whole lines behind what was read so far, which has to be there still.

        Args:
            head: the hash that the last line read ends in. The lines before it are read again, and their chain
                checked, where another file stands in this one's place.

        Raises:
            LedgerCorrupt: the file shrank, or is another one now.
            LedgerError: it cannot be read.
        """
        identity = self._found()
        if self.size and identity == self._identity:
            tail, data = self._ends()
            same = tail.endswith(head.encode() + b'"}\n')
        else:
            everything = self._bytes()
            same = len(everything) >= self.size and _head_of(everything[: self.size], self.name) == head
            data = everything[self.size :]
        if not same:
            raise LedgerCorrupt(
                f"{self.name} does not hold any more what was read of it: it shrank, or was replaced.",
                hint="Bring it back from a backup or from git; see: swarm verify",
            )
        self._identity = identity
        return self._split(data)

    def first(self) -> bytes:
        """The first line without its line feed; empty: there is none."""
        return self.line(1).removesuffix(b"\n")

    def line(self, number: int) -> bytes:
        """A line that was read or written, with its line feed; empty where the file has none such any more."""
        try:
            with self.path.open("rb") as file:
                return next(islice(file, number - 1, None), b"")
        except OSError:
            return b""

    def behind(self, size: int) -> bytes:
        """What was read and written behind the first `size` bytes; empty where it cannot be read any more."""
        try:
            with self.path.open("rb") as file:
                file.seek(size)
                return file.read(self.size - size)
        except OSError:
            return b""

    def took(self, data: bytes) -> None:
        """What `read_on` gave was taken in."""
        self.size += len(data)

    def grew(self) -> bool:
        """Whether it is longer or shorter than what was read and written here."""
        return (self.path.stat().st_size if self.path.exists() else 0) != self.size

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Appends all or nothing: what a full disk left behind is cut off again.

        Args:
            data: whole lines.
            durable: they outlive a power cut, and not only a kill.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        created = not self.path.exists()
        with writing(self.path):
            if created and self._own_folder:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.CLOEXEC, 0o644)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
                if durable:
                    os.fsync(descriptor)
            except BaseException:
                os.ftruncate(descriptor, self.size)
                raise
            finally:
                os.close(descriptor)
            if created:
                if durable:
                    _sync_folder(self.path.parent)
                self._identity = self._found()
        self.size += len(data)

    def cut(self) -> None:
        """Cuts the torn last line off.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        with writing(self.path), self.path.open("r+b") as file:
            file.truncate(self.size)
            os.fsync(file.fileno())
        self.torn = b""

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise LedgerError(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def _ends(self) -> tuple[bytes, bytes]:
        """The end of what was read, and what stands behind it."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.size - TAIL)
                return file.read(TAIL), file.read()
        except OSError as error:
            raise LedgerError(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def _split(self, data: bytes) -> bytes:
        end = data.rfind(b"\n") + 1
        self.torn = data[end:]
        return data[:end] if self.torn else data

    def _found(self) -> tuple[int, int] | None:
        """What tells the file apart from another one in its place; None while there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino


def _head_of(data: bytes, name: str) -> str:
    """The hash of the last line, all lines checked."""
    head = GENESIS
    for _, head in walk(data, name=name):  # noqa: B007 - the last one counts
        pass
    return head


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

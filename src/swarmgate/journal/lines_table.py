"""Journals in a database: a row for each line, appended in transactions, so that nothing is ever torn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from swarmgate.errors import LedgerCorrupt
from swarmgate.journal.chain import hash_of
from swarmgate.journal.documents import JOURNAL


class Rows(Protocol):
    """The rows of all journals of a database; SQLite and Redis have them."""

    def read_lines(self, record: str, *, after: int = 0, most: int = -1) -> tuple[bytes, ...]:
        """The lines of a record's journal behind its first `after`; at most so many, where that is not negative."""

    def add_lines(self, record: str, lines: Iterable[bytes], *, expect: int, durable: bool) -> None:
        """Adds lines behind the first `expect` of a record's journal, all or none.

        Raises:
            StaleWriter: there are others.
        """

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""


class LinesTable:
    """The lines of one record's journal in the store of all records; implements `journal.lines.Lines`.

    Each append is one transaction, so that nothing is ever torn.
    """

    torn = b""

    def __init__(self, documents: Rows, record: str) -> None:
        self.name = documents.place(record, JOURNAL)
        self._documents, self._record = documents, record
        self._read = 0

    def read(self) -> bytes:
        """All lines."""
        data = self.whole_lines()
        self._read = data.count(b"\n")
        return data

    def first(self) -> bytes:
        """The first line without its line feed; empty: there is none."""
        found = self._documents.read_lines(self._record, most=1)
        return found[0].removesuffix(b"\n") if found else b""

    def whole_lines(self) -> bytes:
        """All whole lines; what was read so far stays where it is."""
        return b"".join(self._documents.read_lines(self._record))

    def read_on(self, head: str) -> bytes:
        """The lines behind those that were read; `head` is the hash of the last of them.

        Raises:
            LedgerCorrupt: that one is not there any more.
        """
        last, *more = self._documents.read_lines(self._record, after=self._read - 1) or (b"",)
        if self._read and hash_of(last) != head:
            raise LedgerCorrupt(f"{self.name} does not hold any more what was read of it.", hint="See: swarm verify")
        return b"".join(more if self._read else (last, *more))

    def took(self, data: bytes) -> None:
        """What `read_on` gave was taken in."""
        self._read += data.count(b"\n")

    def grew(self) -> bool:
        """Whether somebody else has written since; `append` asks again, in its transaction."""
        return bool(self._documents.read_lines(self._record, after=self._read))

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Appends whole lines, all or none."""
        lines = data.splitlines(keepends=True)
        self._documents.add_lines(self._record, lines, expect=self._read, durable=durable)
        self._read += len(lines)

    def cut(self) -> None:
        """Does nothing: a database leaves no incomplete line."""

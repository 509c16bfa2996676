"""The records that the feed is collected from: ledgers and the journals of councils, each read on from where it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic_core import from_json

from swarmgate.errors import LedgerCorrupt
from swarmgate.journal.chain import GENESIS, hash_of, walk
from swarmgate.journal.documents import stamp_of
from swarmgate.journal.lines import Lines, LinesFile
from swarmgate.journal.store import Documents, stores

LEDGER = "ledger"
"""The name of the ledger among the records of a goal; no council has it, for their ids have a date."""


@dataclass(frozen=True)
class Followed:
    """A project folder whose records the feed is collected from.

    Attributes:
        repo: id of the repository.
        goal: id of the goal; empty: the folder is the repository's own, in which councils are held.
        swarm: its `.swarm/`.
    """

    repo: str
    goal: str
    swarm: Path

    @property
    def key(self) -> str:
        """What names its events in the store: of the folder alone, so that whose it is may change."""
        return blake2b(str(self.swarm.resolve()).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


class Line(NamedTuple):
    """A line of a record: its number, its entry as JSON, and the hash that it ends in."""

    seq: int
    entry: bytes
    hash: str


class Record:
    """One record, read on from its last line that was kept.

    Args:
        followed: whose it is.
        name: `ledger`, or the id of a council.
        source: which of the two.
        lines: opens its lines.
        stamp: changes whenever it grew; asking is cheap.

    Attributes:
        seq: number of the last line that was kept, 0 before the first.
        hash: that it ends in.
        placed: whether `seq` was looked up in the store.
        pattern: of a council, from its first line.
        trouble: why it cannot be read on in; empty: it can.
    """

    def __init__(
        self,
        followed: Followed,
        name: str,
        source: Literal["ledger", "council"],
        lines: Callable[[], Lines],
        stamp: Callable[[], Hashable],
    ) -> None:
        self.followed, self.name, self.source = followed, name, source
        self.seq, self.hash, self.placed = 0, GENESIS, False
        self.pattern, self.trouble = "", ""
        self._owner = followed.key
        self._make, self._stamp = lines, stamp
        self._lines: Lines | None = None
        self._seen: Hashable = None
        self._looked: Hashable = None

    @property
    def key(self) -> str:
        """What names it in the store."""
        return f"{self._owner}/{self.name}"

    def grew(self) -> bool:
        """Whether it may have more lines than were kept."""
        self._looked = self._stamp()
        return self._looked != self._seen

    def place(self, seq: int, hash: str) -> None:  # noqa: A002 - the field's word
        """Goes on behind a line; where that is not there any more, the record is read from its beginning."""
        self.seq, self.hash, self.placed, self._lines, self._seen = seq, hash, True, None, None

    def forget(self) -> None:
        """Reads it from its file again, behind the line that the store has on record."""
        self.placed, self._lines, self._seen = False, None, None

    def unread(self) -> Iterator[Line]:
        """The lines behind the last one that was kept; whoever takes one calls `took`, and `settled` after the last.

        Raises:
            LedgerError: it cannot be read, or its chain is broken; the lines before that are given.
        """
        lines, data = self._lines, b""
        if lines is not None:
            try:
                data = lines.read_on(self.hash)
            except LedgerCorrupt:  # another one stands in its place
                lines = None
        if lines is None:
            lines = self._make()
            yield from self._checked(self._behind(lines.read()))
        elif data:
            yield from self._checked(data)
            lines.took(data)
        self._lines = lines

    def took(self, line: Line) -> None:
        """The line was kept."""
        self.seq, self.hash = line.seq, line.hash

    def settled(self) -> None:
        """All lines were kept: until the record grows there is nothing to read."""
        self._seen, self.trouble = self._looked, ""

    def failed(self, why: str) -> None:
        """It cannot be read on in as it is now; it is tried again when it changes."""
        self.trouble, self._lines, self._seen = why, None, self._looked

    def _checked(self, data: bytes) -> Iterator[Line]:
        walked = walk(data, name=self.key, prev=self.hash, seq=self.seq)
        for seq, (entry, digest) in enumerate(walked, start=self.seq + 1):
            yield Line(seq, entry, digest)

    def _behind(self, data: bytes) -> bytes:
        """What stands behind the last line that was kept; all, where that line is not there any more."""
        lines = data.splitlines(keepends=True) if self.seq else []
        if len(lines) < self.seq or (self.seq and hash_of(lines[self.seq - 1]) != self.hash):
            self.seq, self.hash = 0, GENESIS
            return data
        return b"".join(lines[self.seq :]) if self.seq else data


class Folder:
    """The records of one project folder, as they come and go.

    Args:
        followed: the folder.
    """

    def __init__(self, followed: Followed) -> None:
        self.followed = followed
        swarm = followed.swarm
        self._ledger = swarm / "ledger.jsonl"
        ledger = Record(followed, LEDGER, "ledger", lambda: LinesFile(self._ledger), lambda: stamp_of(self._ledger))
        self.records: dict[tuple[str, str], Record] = {("", LEDGER): ledger}
        self.trouble = ""
        """Why its records cannot be listed; empty: they can."""
        self._here: Hashable = None
        self._stores: dict[str, Documents] = {}
        self._known: dict[str, tuple[Hashable, set[str]]] = {}
        """By kind of store: how it was when it was last looked at, and which of its records had no journal yet."""

    def look(self) -> None:
        """Finds records of councils that are new.

        Raises:
            LedgerError: a store of records cannot be read.
        """
        if (here := stamp_of(self.followed.swarm)) != self._here:
            there = {each.kind: each for each in stores(self.followed.swarm)}
            self._stores = {kind: self._stores.get(kind, each) for kind, each in there.items()}
            self._here = here
        for kind, documents in self._stores.items():
            stamp = documents.stamp()
            known = self._known.setdefault(kind, (None, set()))
            if stamp == known[0] and not known[1]:
                continue
            empty = set()
            for name in documents.records() if stamp != known[0] else sorted(known[1]):
                if (kind, name) not in self.records and not self._found(documents, kind, name):
                    empty.add(name)
            self._known[kind] = (stamp, empty)

    def _found(self, documents: Documents, kind: str, name: str) -> bool:
        """Whether a record has a journal, which is read from now on."""
        if not (first := documents.lines(name).first()):
            return False
        record = Record(self.followed, name, "council", partial(documents.lines, name), partial(documents.stamp, name))
        with suppress(ValueError, KeyError, TypeError):
            record.pattern = str(from_json(first)["event"]["pattern"])
        self.records[kind, name] = record
        return True

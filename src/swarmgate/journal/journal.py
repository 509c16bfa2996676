"""The journal: an append-only, hash-chained log of typed events, with the state that is folded from it.

    journal = Journal(LinesFile(path), EVENTS, fold, State())
    state = journal.append([event], expect=journal.seq)

A journal that lives long reads on with `follow`. Who may write is not its business: its owner holds the lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from swarmgate.domain.base import Entry, Frozen
from swarmgate.errors import LedgerCorrupt, StaleWriter, SwarmError
from swarmgate.journal.chain import GENESIS, encode, entry_of, walk
from swarmgate.journal.lines import Lines

S = TypeVar("S")

Fold = Callable[[S, Iterable[Entry[Any]]], S]
"""The state after some more entries; raises a `SwarmError` where one of them may not stand there."""

_NEWEST = 2

_WRITTEN_BY_OTHERS = "swarmgate writes no such line. Bring the file back from a backup or from git."


def utc_now() -> datetime:
    """The current time in UTC, the clock of journals."""
    return datetime.now(UTC)


class Journal(Generic[S]):
    """One journal, which is read from its beginning when it is created.

    Args:
        lines: where it is kept.
        kinds: of event that it holds, by their tag `type`.
        fold: gives the state after more entries.
        initial: the state before the first.
        clock: of the entries' times.

    Attributes:
        state: the fold over everything so far.
        seq: the number of the last line, 0 before the first.
        head: its hash.
        newest: the newest events, in order; at most two, since each may hold a plan of thousands of tasks.

    Raises:
        LedgerCorrupt: a line does not fit the chain, or holds what the fold forbids.
        LedgerError: it cannot be read.
    """

    def __init__(
        self,
        lines: Lines,
        kinds: Mapping[str, type[Frozen]],
        fold: Fold[S],
        initial: S,
        *,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.lines = lines
        self.state = initial
        self.seq = 0
        self.head = GENESIS
        self.newest: deque[Frozen] = deque(maxlen=_NEWEST)
        self._kinds, self._fold, self._clock = kinds, fold, clock
        self.state = fold_checked(fold, initial, self._walked(lines.read()), name=lines.name)

    def follow(self) -> tuple[Entry[Any], ...]:
        """Reads on: the entries that were recorded since, by whoever. An unfinished last line waits for the next time.

        The chain is checked from the head on.

        Raises:
            LedgerCorrupt: it does not hold any more what was read of it; what is known stays as it was.
        """
        data = self.lines.read_on(self.head)
        found = tuple(entries_in(data, self._kinds, name=self.lines.name, prev=self.head, seq=self.seq))
        entries = tuple(entry for entry, _ in found)
        self.state = fold_checked(self._fold, self.state, entries, name=self.lines.name)
        if found:
            self.seq, self.head = entries[-1].seq, found[-1][1]
            self.newest.extend(entry.event for entry in entries[-_NEWEST:])
            self.lines.took(data)
        return entries

    def entries(self) -> Iterator[tuple[Entry[Any], str]]:
        """Every recorded entry with its hash, read again and checked.

        Raises:
            LedgerCorrupt: a line does not fit.
        """
        yield from entries_in(self.lines.whole_lines(), self._kinds, name=self.lines.name)

    def append(self, events: Sequence[Frozen], *, expect: int, actor: str = "swarmgate", durable: bool = True) -> bytes:
        """Records events and brings the state up to date; gives the lines as they were written.

        The fold judges first, so an illegal event leaves no trace; then there is one write.

        Args:
            events: what happened, in order; they are recorded together.
            expect: the number of the last line that the caller's decision was based on.
            actor: who did it.
            durable: the events outlive a power cut, and not only a kill.

        Raises:
            StaleWriter: the journal is not at `expect`, or grew behind this writer's back.
            LedgerWriteFailed: the disk refused; the file is as before.
            SwarmError: of the fold.
        """
        if (grew := self.lines.grew()) or expect != self.seq:
            raise StaleWriter(
                f"{self._called} is at {self.seq}{' and grew since' if grew else ''}; the writer expected {expect}.",
                hint="Run the command again: it will read it anew.",
            )
        entries = [
            Entry[Any].model_construct(seq=expect + n, time=_stamp(self._clock()), actor=actor, event=event)
            for n, event in enumerate(events, start=1)
        ]
        state = self._fold(self.state, entries)
        lines, head = [], self.head
        for entry in entries:
            line, head = encode(entry, head)
            lines.append(line)
        data = b"".join(lines)
        self.lines.append(data, durable=durable)
        self.state, self.head, self.seq = state, head, expect + len(entries)
        self.newest.extend(events)
        return data

    @property
    def _called(self) -> str:
        return "The ledger" if self.lines.name == "ledger.jsonl" else self.lines.name

    def _walked(self, data: bytes) -> Iterator[Entry[Any]]:
        for entry, digest in entries_in(data, self._kinds, name=self.lines.name):
            self.seq, self.head = entry.seq, digest
            self.newest.append(entry.event)
            yield entry


def entries_in(
    data: bytes, kinds: Mapping[str, type[Frozen]], *, name: str, prev: str = GENESIS, seq: int = 0
) -> Iterator[tuple[Entry[Any], str]]:
    """The entries of whole lines with their hashes, each checked; the arguments are those of `walk` and `entry_of`.

    Raises:
        LedgerCorrupt: a line does not fit.
    """
    for number, (line, digest) in enumerate(walk(data, name=name, prev=prev, seq=seq), start=seq + 1):
        yield entry_of(line, number, kinds=kinds, name=name), digest


def fold_checked(fold: Fold[S], state: S, entries: Iterable[Entry[Any]], *, name: str) -> S:
    """The fold over entries of a file, naming the line where its laws are broken.

    Raises:
        LedgerCorrupt: an event is illegal where it stands, so swarmgate did not write it.
    """
    at = 0

    def counted() -> Iterator[Entry[Any]]:
        nonlocal at
        for entry in entries:
            at = entry.seq
            yield entry

    try:
        return fold(state, counted())
    except LedgerCorrupt:
        raise
    except SwarmError as error:
        raise LedgerCorrupt(
            f"{name} line {at} records what the rules forbid: {error.message}", line=at, hint=_WRITTEN_BY_OTHERS
        ) from error


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

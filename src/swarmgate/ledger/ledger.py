"""The ledger: append-only, hash-chained, one writer, fsynced. The state is its fold and nothing else.

with Ledger.write(folder) as ledger:
    state = ledger.append([event], expect=ledger.state.seq, actor="user")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from swarmgate.domain.events import Entry, Event, LedgerRepaired
from swarmgate.domain.fold import fold
from swarmgate.domain.state import State
from swarmgate.errors import LedgerCorrupt, LedgerError, StaleWriter, SwarmError
from swarmgate.ledger.chain import GENESIS, encode, walk
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.ledger.lock import WriterLock

if TYPE_CHECKING:
    from swarmgate.ledger.projections import Projector


def utc_now() -> datetime:
    """The clock of the ledger."""
    return datetime.now(UTC)


class Ledger:
    """The ledger of one project. Make it with `read` or `write`.

    Attributes:
        state: the fold over everything recorded so far.
        head: the hash of the last line.
        repaired: where the quarantine keeps a torn last line that this writer cut off; empty if there was none.
        torn: bytes behind the last whole line, found by a reader: a crash cut them short, or a writer is at work.
    """

    def __init__(self, folder: SwarmFolder, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self.state = State()
        self.head = GENESIS
        self.torn = b""
        self.repaired = ""
        self._clock = clock
        self._size = 0
        self._lock: WriterLock | None = None
        self._load()

    @cached_property
    def projector(self) -> Projector:
        """Renders the state into the derived files."""
        from swarmgate.ledger.projections import Projector  # noqa: PLC0415 - a reader renders nothing

        return Projector(self.folder)

    @classmethod
    def read(cls, folder: SwarmFolder) -> Ledger:
        """The ledger as it is now, for looking only; a torn last line is left alone.

        Raises:
            LedgerCorrupt: a line does not fit the chain, or holds what the laws forbid.
        """
        return cls(folder)

    @classmethod
    def write(cls, folder: SwarmFolder, *, clock: Callable[[], datetime] = utc_now) -> Ledger:
        """The ledger under the writer's lock. A torn last line is cut off into the quarantine and that is recorded.

        Raises:
            LedgerLocked: another process is writing.
            LedgerCorrupt: as for `read`.
        """
        lock = WriterLock(folder.lock)
        lock.acquire()
        try:
            ledger = cls(folder, clock=clock)
            ledger._lock = lock
            ledger._repair()
        except BaseException:
            lock.release()
            raise
        return ledger

    @property
    def taken_over(self) -> str:
        """The dead owner whose lock this writer found, in words; empty if there was none."""
        return self._lock.taken_over if self._lock else ""

    def append(self, events: Sequence[Event], *, expect: int, actor: str = "swarmgate") -> State:
        """Records events, brings the projections up to date and returns the new state.

        The laws judge first, so an illegal event leaves no trace; then one write, one fsync.

        Args:
            events: what happened, in order; they are recorded together.
            expect: the sequence number that the caller's decision was based on.
            actor: who did it: `user`, `swarmgate`, or a role.

        Raises:
            StaleWriter: the ledger is not at `expect`, or the file grew behind this writer's back.
            IllegalMove: the laws forbid an event.
            LedgerWriteFailed: the disk refused; the file is as before.
            LedgerError: the events are recorded, and what is derived from them could not be written.
        """
        if self._lock is None:
            raise LedgerError("This ledger was opened for reading only.")
        if events:
            self._record(events, expect, actor)
            self.project()
        return self.state

    def _record(self, events: Sequence[Event], expect: int, actor: str) -> None:
        path = self.folder.ledger
        size = path.stat().st_size if path.exists() else 0
        if expect != self.state.seq or size != self._size:
            raise StaleWriter(
                f"The ledger is at {self.state.seq}{' and grew since' if size != self._size else ''}; "
                f"the writer expected {expect}.",
                hint="Run the command again: it will read the ledger anew.",
            )
        entries = [
            Entry(seq=expect + n, time=_stamp(self._clock()), actor=actor, event=event)
            for n, event in enumerate(events, start=1)
        ]
        state = fold(self.state, entries)
        lines, head = [], self.head
        for entry in entries:
            line, head = encode(entry, head)
            lines.append(line)
        self._write(b"".join(lines))
        self.state, self.head = state, head

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """Every recorded entry with its hash, read again from the file and checked."""
        yield from walk(self._whole_lines())

    def project(self) -> None:
        """Writes plan.md, plan.json and what else is derived, as of now.

        Raises:
            LedgerError: the disk refused.
        """
        try:
            self.projector.project(self.state)
        except OSError as error:
            raise LedgerError(
                f"The ledger is at {self.state.seq}, but what is derived from it could not be written: {error}.",
                hint="Make room on the disk (or make the folder writable); the next command writes the files again.",
            ) from error

    def close(self) -> None:
        """Gives the writer's lock back."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self) -> None:
        data = self._whole_lines()
        self._size = len(data)
        self.state = fold_checked(self._walk_to_head(data))
        if not data and (traces := [p.name for p in (self.folder.plan_md, self.folder.evidence) if p.exists()]):
            raise LedgerCorrupt(
                f"ledger.jsonl is missing or empty, but work has been recorded: there is {' and '.join(traces)}.",
                hint="Bring it back from a backup or from git. To begin anew, move .swarm/ away and run: swarm init",
            )

    def _walk_to_head(self, data: bytes) -> Iterator[Entry]:
        for entry, digest in walk(data):
            self.head = digest
            yield entry

    def _whole_lines(self) -> bytes:
        try:
            data = self.folder.ledger.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise LedgerError(f"{self.folder.ledger} cannot be read: {error.strerror or error}.") from error
        end = data.rfind(b"\n") + 1
        self.torn = data[end:]
        return data[:end] if self.torn else data

    def _repair(self) -> None:
        if not self.torn:
            return
        kept = self.folder.keep("ledger-torn-line", self.torn)
        with writing(self.folder.ledger), self.folder.ledger.open("r+b") as file:
            file.truncate(self._size)
            os.fsync(file.fileno())
        event = LedgerRepaired(kept=self.folder.relative(kept), size=len(self.torn))
        self.torn, self.repaired = b"", event.kept
        self._record([event], self.state.seq, "swarmgate")  # not projected: hand edits have to be reconciled first

    def _write(self, data: bytes) -> None:
        """Appends all or nothing: what a full disk left behind is cut off again."""
        path = self.folder.ledger
        created = not path.exists()
        with writing(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
                os.fsync(descriptor)
            except BaseException:
                os.ftruncate(descriptor, self._size)
                raise
            finally:
                os.close(descriptor)
            if created:
                _sync_folder(path.parent)
        self._size += len(data)


def fold_checked(entries: Iterator[Entry]) -> State:
    """The fold over entries of a file, naming the line where the laws are broken.

    Raises:
        LedgerCorrupt: an event is illegal where it stands, so swarmgate did not write it.
    """
    state, at = State(), 0

    def counted() -> Iterator[Entry]:
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
            f"ledger.jsonl line {at} records what the rules forbid: {error.message}",
            line=at,
            hint="swarmgate writes no such line. Bring the file back from a backup or from git.",
        ) from error


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

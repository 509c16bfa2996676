"""The ledger: an append-only, hash-chained file of events with one writer. The state is its fold.

with Ledger.write(folder) as ledger:
    state = ledger.append([event], expect=ledger.state.seq, actor="user")

A reader that lives long reads on with `refresh`, and writes now and then with `writing`, without a fold from the start.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from types import TracebackType
from typing import TYPE_CHECKING, Self

from swarmgate.domain.events.event import EVENTS, Entry, Event, LedgerRepaired
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.errors import LedgerCorrupt, LedgerError
from swarmgate.journal.journal import Journal, utc_now
from swarmgate.journal.lines import LinesFile
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.publication import LOCAL, Publication
from swarmgate.ledger.witness.witness import Witness

if TYPE_CHECKING:
    from swarmgate.ledger.views.projections import Projector


_PAST = 4
"""As many states of the past are at hand; an older one is folded again."""


class Ledger:
    """The ledger of one project. Make it with `read` or `write`. Threads may share it.

    Attributes:
        repaired: where the quarantine keeps a torn last line that this writer cut off; empty if there was none.
        publication: hears of everything that is recorded.
    """

    def __init__(
        self, folder: SwarmFolder, *, clock: Callable[[], datetime] = utc_now, publication: Publication = LOCAL
    ) -> None:
        self.folder = folder
        self.publication = publication
        self.repaired = ""
        self._file = LinesFile(folder.ledger)
        self._journal = Journal(self._file, EVENTS, fold, State(), clock=clock)
        self._witness = Witness(folder, self._file)
        self._lock: WriterLock | None = None
        self._turn = threading.RLock()
        self._past: deque[State] = deque(maxlen=_PAST)
        self._require_work()

    @property
    def state(self) -> State:
        """The fold over everything recorded so far."""
        return self._journal.state

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._journal.head

    @cached_property
    def projector(self) -> Projector:
        """Renders the state into the derived files."""
        from swarmgate.ledger.views.projections import Projector  # noqa: PLC0415 - for start-up: a reader renders nothing

        return Projector(self.folder)

    @classmethod
    def read(cls, folder: SwarmFolder) -> Ledger:
        """Opens the ledger read-only; a torn last line is left alone.

        Raises:
            LedgerCorrupt: a line does not fit the chain, or holds an illegal event.
        """
        return cls(folder)

    @classmethod
    def write(
        cls, folder: SwarmFolder, *, clock: Callable[[], datetime] = utc_now, publication: Publication = LOCAL
    ) -> Ledger:
        """Opens the ledger under the writer's lock. A torn last line goes to the quarantine, which is recorded.

        Raises:
            LedgerLocked: another process is writing.
            LedgerRolledBack: lines that were recorded are not in it any more.
            LedgerCorrupt: as for `read`.
        """
        lock = WriterLock(folder.lock)
        lock.acquire()
        try:
            ledger = cls(folder, clock=clock, publication=publication)
            ledger._witness.take_up(ledger.state.seq, ledger.head)
            ledger._lock = lock
            ledger._repair()
        except BaseException:
            lock.release()
            raise
        return ledger

    def refresh(self) -> tuple[Entry, ...]:
        """Reads the entries recorded since by any writer. An unfinished last line waits for the next call.

        The chain is checked from the head on; of what was read before, that it still ends in the head (the whole of it
        where another file stands in its place). `swarm verify` walks all of it.

        Raises:
            LedgerCorrupt: the file shrank, or is another one now; what is known stays as it was.
        """
        with self._turn:
            before, entries = self.state, self._journal.follow()
            if entries:
                self._past.append(before)
            return entries

    @contextlib.contextmanager
    def writing(self) -> Iterator[Ledger]:
        """This ledger with the right to append, for the block: read on, a torn last line cut off, and given back.

        Threads that share the ledger take turns. A ledger that may write already goes on doing so afterwards.

        Raises:
            LedgerLocked: another process is writing.
            LedgerRolledBack: as for `write`.
            LedgerCorrupt: as for `refresh`.
        """
        with self._turn:
            if self._lock is not None:
                yield self
                return
            lock = WriterLock(self.folder.lock, brief=True)
            lock.acquire()
            self._lock, self.repaired = lock, ""
            try:
                self.refresh()
                self._witness.take_up(self.state.seq, self.head)
                self._repair()
                yield self
            finally:
                self.close()

    def state_at(self, seq: int) -> State:
        """The state at an earlier position, at most the present one."""
        for state in (self.state, *self._past):
            if state.seq == seq:
                if self._past and self._past[0] is state:
                    self._past.append(state)  # an editor that holds its buffer asks for it again and again
                return state
        past = fold(State(), takewhile(lambda entry: entry.seq <= seq, (entry for entry, _ in self.entries())))
        self._past.append(past)
        return past

    @property
    def torn(self) -> bytes:
        """Bytes behind the last whole line, found by a reader: a crash cut them short, or a writer is at work."""
        return self._file.torn

    @property
    def lost(self) -> str:
        """Describes lost lines of the ledger; empty: none. A ledger with lost lines cannot be written."""
        return self._witness.lost(self.state.seq, self.head)

    @property
    def taken_over(self) -> str:
        """Describes the dead owner whose lock this writer took over; empty if there was none."""
        return self._lock.taken_over if self._lock else ""

    def append(self, events: Sequence[Event], *, expect: int, actor: str = "swarmgate") -> State:
        """Records events, brings the projections up to date and returns the new state.

        The events are folded first, so an illegal one leaves no trace; then one write, one fsync.

        Args:
            events: what happened, in order; they are recorded together.
            expect: the sequence number that the caller's decision was based on.
            actor: who did it: `user`, `swarmgate`, or a role.

        Raises:
            StaleWriter: the ledger is not at `expect`, or the file grew behind this writer's back.
            IllegalMove: an event does not fit the state.
            LedgerWriteFailed: the disk refused; the file is as before.
            LedgerError: the events are recorded, and what is derived from them could not be written.
            LeaseLost, RemoteAway: of its publication; the events are recorded here alone.
        """
        if self._lock is None:
            raise LedgerError("This ledger was opened for reading only.")
        with self._turn:
            if events:
                planless = self.state.plan is None
                self._record(events, expect, actor)
                if planless and self.state.plan is not None:
                    self._keep_foreign()
                self.project()
                self.publication.recorded(self)
            return self.state

    def require(self) -> None:
        """Raises if the ledger's file is gone.

        Raises:
            LedgerError: it was taken away, or all of `.swarm/` was.
        """
        if self.state.seq and not self.folder.ledger.is_file():
            gone = self.folder.relative(self.folder.ledger if self.folder.path.is_dir() else self.folder.path)
            raise LedgerError(
                f"{gone} is gone, and was there when this began: nothing more can be recorded.",
                hint=f"Move {gone} back to where it was, then go on with: swarm run",
            )

    def _record(self, events: Sequence[Event], expect: int, actor: str) -> None:
        self.require()
        before = self.state
        self._witness.follow(self._journal.append(events, expect=expect, actor=actor))
        self._past.append(before)

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """Every recorded entry with its hash, read again from the file and checked."""
        yield from self._journal.entries()

    def last(self, count: int) -> tuple[Event, ...]:
        """The newest events, in order; at most two."""
        return tuple(self._journal.newest)[-count:]  # type: ignore[return-value]  # of the ledger: events of its union

    def project(self) -> None:
        """Writes all views of the current state: plan.md, plan.json, history, context.

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
        """Anchors what was recorded, and gives the writer's lock back."""
        if self._lock is not None:
            try:
                self._witness.anchor(self.state, self.head)
            finally:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _require_work(self) -> None:
        """Raises if a ledger without lines is not new.

        Raises:
            LedgerCorrupt: work was recorded, so lines were lost.
        """
        if not self.state.seq and (left := self.folder.left_by_work()):
            back = "with: swarm verify --restore, or from a backup" if self.lost else "from a backup or from git"
            raise LedgerCorrupt(
                f"ledger.jsonl is missing or empty, but work has been recorded: there is {' and '.join(left)}.",
                hint=f"Bring it back {back}. To begin anew, move .swarm/ away and run: swarm init",
            )

    def _keep_foreign(self) -> None:
        """Moves foreign plan files into the quarantine before the first plan is written."""
        from swarmgate.ledger.hand_edits.edits import foreign  # noqa: PLC0415 - for start-up: a reader needs none
        from swarmgate.ledger.hand_edits.quarantine import keep  # noqa: PLC0415 - for start-up: a reader needs none

        if refused := keep(self.folder, self.projector, foreign(self)):
            self._record(refused, self.state.seq, "swarmgate")

    def _repair(self) -> None:
        if not self.torn:
            return
        torn = self.torn
        stored = self.folder.keep("ledger-torn-line", torn)
        self._file.cut()
        event = LedgerRepaired(kept=self.folder.relative(stored), size=len(torn))
        self.repaired = event.kept
        self._record([event], self.state.seq, "swarmgate")  # not projected: hand edits have to be reconciled first

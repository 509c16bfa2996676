"""Follows the ledger and automation's events as they grow, and updates the folded state.

    tail = Tail(folder)
    for sight in tail.poll().seen: ...

It never waits: `poll` is called when a file changed, or now and then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass

from swarmgate.domain.events.automation import Happening
from swarmgate.domain.events.event import Entry
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.errors import LedgerError, SwarmError
from swarmgate.journal.chain import GENESIS
from swarmgate.ledger.files.automation_log import AutomationLog, happening_of
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.rotating_lines import FileStamp, ReadOn, stamp_of
from swarmgate.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class FoldedEvent:
    """An event, and the fold of the ledger on both sides of it; one of automation moves nothing."""

    happening: Happening
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Polled:
    """The result of one poll.

    Attributes:
        seen: new events: those of the ledger, then those of automation, each in the order of its file.
        trouble: why a file cannot be read on in, or that the ledger was replaced by another; told once, by the poll
            that found it.
        mended: whether the ledger is readable again.
    """

    seen: tuple[FoldedEvent, ...] = ()
    trouble: str = ""
    mended: bool = False


class Tail:
    """Reads on in both files of one project.

    Args:
        folder: the project's.
        from_start: begin with the oldest event; else with what is added from now on.

    Attributes:
        state: the fold of the ledger, as far as it was read.
        unreadable: lines of automation's events that were skipped.
    """

    def __init__(self, folder: SwarmFolder, *, from_start: bool = False) -> None:
        self.state = State()
        self.unreadable = 0
        self._folder = folder
        self._lines = AutomationLog(folder).lines
        self._from_start = from_start
        self._read_on: ReadOn | None = None
        self._ledger: Ledger | None = None
        self._head = GENESIS
        self._begun = from_start
        self._stamp: FileStamp = None
        self._troubles: dict[str, str] = {}
        self._unreported: list[str] = []
        if not from_start:
            self._read()

    @property
    def trouble(self) -> str:
        """Why a file cannot be read now; empty: all can."""
        return "; ".join(self._troubles.values())

    def poll(self) -> Polled:
        """Returns the events since the last poll. Problems of the files are reported, not raised."""
        before = bool(self._troubles)
        seen = self._read()
        message, self._unreported = "; ".join(self._unreported), []
        return Polled(seen, message, mended=before and not self._troubles)

    def _read(self) -> tuple[FoldedEvent, ...]:
        """Reads automation's events first, and shows them last: what they follow from is in the ledger by then."""
        lines: list[bytes] = []
        try:
            lines = self._added()
        except OSError as error:
            self._in_trouble("journal", f"{self._lines.path} cannot be read: {error.strerror or error}")
        else:
            self._troubles.pop("journal", None)
        seen: list[FoldedEvent] = []
        try:
            seen += self._entries()
        except (SwarmError, OSError) as error:
            self._in_trouble("ledger", str(error))
        else:
            self._troubles.pop("ledger", None)
        for line in lines:
            if (happening := happening_of(line)) is not None:
                seen.append(FoldedEvent(happening, self.state, self.state))
            else:
                self.unreadable += 1
        return tuple(seen)

    def _in_trouble(self, file: str, why: str) -> None:
        if file not in self._troubles:
            self._unreported.append(why)
        self._troubles[file] = why

    def _added(self) -> list[bytes]:
        if self._read_on is None:
            self._read_on = ReadOn(self._lines, from_start=self._from_start)
        return self._read_on.poll()

    # --- the ledger ---

    def _entries(self) -> list[FoldedEvent]:
        """The new entries.

        Raises:
            LedgerError: the ledger is gone, or cannot be read.
            OSError: its state on the disk cannot be read.
        """
        stamp = stamp_of(self._folder.ledger)
        if stamp == self._stamp and "ledger" in self._troubles:
            raise LedgerError(self._troubles["ledger"])
        if stamp == self._stamp and self._begun:
            return []
        self._stamp = stamp  # before it is read: what is added meanwhile makes it look different again
        if stamp is None:
            self._begun, self._ledger = True, None
            if self.state.seq:
                raise LedgerError(f"{self._folder.ledger} is gone.")
            return []
        if self._ledger is not None:
            with contextlib.suppress(LedgerError):  # it is told if it cannot be read anew either
                return self._folded(self._ledger, self._ledger.refresh())
            self._ledger = None
        ledger = Ledger.read(self._folder)
        if self._begun:
            return self._taken_up(ledger)
        self._begun = True
        return self._folded(ledger, (), ledger.state)

    def _taken_up(self, ledger: Ledger) -> list[FoldedEvent]:
        """Goes on where the last entry stood, in a ledger that was read from its beginning."""
        if not self.state.seq:
            known, rest = True, [entry for entry, _ in ledger.entries()]
        else:
            walked = list(ledger.entries())
            known = any(entry.seq == self.state.seq and digest == self._head for entry, digest in walked)
            rest = [entry for entry, _ in walked if entry.seq > self.state.seq]
        rest = [entry for entry in rest if entry.seq <= ledger.state.seq]
        if known:
            return self._folded(ledger, rest)
        self._unreported.append(
            f"{self._folder.ledger} was replaced by another, or by an older one; what it holds is not told."
        )
        return self._folded(ledger, (), ledger.state)

    def _folded(self, ledger: Ledger, entries: Iterable[Entry], state: State | None = None) -> list[FoldedEvent]:
        """Shows entries, each with the states around it; `state`: goes to that one instead."""
        sights = []
        here = self.state if state is None else state
        for entry in entries:
            before, here = here, fold(here, [entry])
            sights.append(FoldedEvent(happening(entry), before, here))
        self._ledger, self._head, self.state = ledger, ledger.head, here
        return sights


def happening(entry: Entry) -> Happening:
    """An entry of the ledger as the bus carries it."""
    data = entry.event.model_dump(mode="json")
    return Happening(source="ledger", seq=entry.seq, time=entry.time, actor=entry.actor, data=data)

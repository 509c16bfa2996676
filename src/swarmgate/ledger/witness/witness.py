"""Refuses to write where the ledger lost lines that git's folder has a record of.

A stash, checkout, reset or clean takes a ledger away, or back to what it was before, where `.swarm/` is tracked. Then
it is shorter than the high-water mark, or another one, and to go on with it would lose what happened.
"""

from __future__ import annotations

import contextlib

from swarmgate.domain.state.state import State
from swarmgate.errors import LedgerRolledBack, SwarmError
from swarmgate.journal.chain import hash_of, line_of
from swarmgate.journal.lines import LinesFile
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import Header, HighWater, Mark

RESTORE = (
    "Bring it back with: swarm verify --restore (what is there goes to the quarantine), or from a backup. "
    "To go on with what is there instead: swarm verify --adopt. To begin anew, move .swarm/ away and run: swarm init"
)


class Witness:
    """The record of one ledger in git's folder. Without a git folder there is none, and writing is allowed.

    Args:
        folder: the project's.
        file: the ledger's, as far as its owner has read it.
    """

    def __init__(self, folder: SwarmFolder, file: LinesFile) -> None:
        self._folder, self._file = folder, file
        self._water = HighWater(folder.root)

    def lost(self, seq: int, head: str) -> str:
        """What the ledger, which ends at line `seq` with the hash `head`, has lost, in a sentence; empty: nothing."""
        return self._missing(self._water.read(), seq, head)

    def take_up(self, seq: int, head: str) -> None:
        """Goes on with a ledger: what the mark lacks of it is added.

        Raises:
            LedgerRolledBack: the ledger lost lines, or is another one.
        """
        mark = self._water.read()
        if mark is None and seq:
            mark = self._found_again()
        if problem := self._missing(mark, seq, head):
            raise LedgerRolledBack(problem, hint=RESTORE)
        if mark is None and seq:
            self._water.begin(Header(ledger=hash_of(self._file.line(1))), self._file.line(seq))
        elif mark is not None and mark.seq < seq:
            self._water.append(b"".join(self._file.behind(0).splitlines(keepends=True)[mark.seq :]))

    def follow(self, lines: bytes) -> None:
        """Lines were recorded, and are durable."""
        if self._file.size == len(lines):
            self._water.begin(Header(ledger=hash_of(self._file.line(1))), lines)
        else:
            self._water.append(lines)

    def anchor(self, state: State, head: str) -> None:
        """Makes an anchor of what was recorded since the last one. What git refuses, `swarm verify` tells."""
        mark = self._water.read()
        if mark is None or mark.header.anchored >= state.seq or self._missing(mark, state.seq, head):
            return
        try:
            self._add(mark.header, state, head)
        except (SwarmError, OSError):
            with contextlib.suppress(SwarmError, OSError):
                self._add(self._by_anchors(mark.header.ledger), state, head)

    def _add(self, before: Header, state: State, head: str) -> None:
        """Makes the anchor that follows the one of a header.

        Raises:
            WorkspaceError: git refused.
        """
        from swarmgate.ledger.witness.anchors import Anchors  # noqa: PLC0415 - late: git, for writers that recorded something

        lines = self._file.behind(before.size)
        if not lines.startswith(f'{{"seq":{before.anchored + 1},'.encode()):
            raise LedgerRolledBack(f"line {before.anchored + 1} of ledger.jsonl is not where it was.", hint=RESTORE)
        commit = Anchors(self._folder, before.ledger).add(
            state.goals, lines, seq=state.seq, head=head, branch=state.branch, parent=before.commit
        )
        after = Header(ledger=before.ledger, anchored=state.seq, size=self._file.size, commit=commit)
        self._water.begin(after, last_line(lines))

    def _by_anchors(self, ledger: str) -> Header:
        """The header as the anchors have it: a crash came before it was written, or git has forgotten them all.

        Raises:
            WorkspaceError: git cannot read them.
            LedgerRolledBack: they are not of this ledger as it is.
        """
        from swarmgate.ledger.witness.anchors import Anchors, positions  # noqa: PLC0415 - late: git

        chain = Anchors(self._folder, ledger).chain()
        if not self._file.behind(0).startswith(chain.lines):
            raise LedgerRolledBack("ledger.jsonl holds other lines than its anchors.", hint=RESTORE)
        seq = positions(chain.anchors)[-1][0] if chain.anchors else 0
        return Header(ledger=ledger, anchored=seq, size=len(chain.lines), commit=chain.newest)

    def _missing(self, mark: Mark | None, seq: int, head: str) -> str:
        if mark is None:
            return ""
        noted = f"line {mark.seq} was recorded at {mark.time}"
        if seq and hash_of(self._file.line(1)) != mark.header.ledger:
            return f"ledger.jsonl is not the ledger of this project any more: of that, {noted}."
        if seq < mark.seq and hash_of(self._file.line(mark.seq)) != mark.head:  # else a writer was at work meanwhile
            ends = f"ends at line {seq}" if seq else "is missing or empty"
            return (
                f"ledger.jsonl {ends}, and {noted}: lines were lost (by a git stash, checkout or reset, or a backup)."
            )
        if (head if seq == mark.seq else hash_of(self._file.line(mark.seq))) != mark.head:
            return f"ledger.jsonl holds another line {mark.seq} than the one that was recorded at {mark.time}."
        return ""

    def _found_again(self) -> Mark | None:
        """The mark by the anchors, where it is gone itself: a clone that fetched them, or somebody deleted it."""
        from swarmgate.ledger.witness.anchors import Anchors, positions  # noqa: PLC0415 - late: git

        ledger = hash_of(self._file.line(1))
        try:
            chain = Anchors(self._folder, ledger).chain()
        except SwarmError:
            return None
        last = last_line(chain.lines)
        line = line_of(last)
        if line is None:
            return None
        seq, _ = positions(chain.anchors)[-1]
        header = Header(ledger=ledger, anchored=seq, size=len(chain.lines), commit=chain.newest)
        self._water.begin(header, last)
        return Mark(header, last, *line)


def last_line(lines: bytes) -> bytes:
    """The last of whole lines."""
    return lines[lines.rfind(b"\n", 0, -1) + 1 :]

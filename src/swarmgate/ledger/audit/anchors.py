"""Checks the ledger against its anchors in git's folder, and the lines after the newest anchor."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from swarmgate.domain.events.event import Entry, GoalSet, RunStarted
from swarmgate.domain.evidence.report import RECORDED
from swarmgate.errors import SwarmError
from swarmgate.journal.chain import line_of
from swarmgate.journal.lock import read_owner
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.high_water_mark import HighWater, Mark
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.views.describe import counted
from swarmgate.ledger.witness.anchors import Anchors, Chain, positions, subject
from swarmgate.workspace.git.folder import git_folder, place

_FETCH = "where it was pushed: git fetch origin 'refs/swarm/*:refs/swarm/*'"


def anchors(ledger: Ledger, entries: Sequence[tuple[Entry, str]]) -> Check:
    """Every anchor is a beginning of the ledger, and nothing was recorded since the newest but by who died, or works.

    What is missing is a finding where the last run was at work in this very repository, and told elsewhere: a clone has
    no anchors before it fetches them.
    """
    if not entries:
        return Check("anchors", "none yet", (ledger.lost,) if ledger.lost else ())
    mark = HighWater(ledger.folder.root).read()
    try:
        chain = Anchors(ledger.folder, entries[0][1]).chain()
    except SwarmError as error:
        return Check("anchors", "git", (f"the anchors cannot be read: {error.message}",))
    if ledger.refresh():  # a run is at work: what git's folder said must not be ahead of what is compared with it
        entries = tuple(ledger.entries())
    audit = _Audit(ledger, entries, mark)
    missing = tuple(audit.missing(chain)) if audit.due else ()
    problems = (*audit.lost(), *audit.mismatches(chain), *(missing if audit.at_home else ()))
    newest = f", the newest at line {audit.newest(chain)}" if chain.anchors else ""
    summary = f"{counted(len(chain.anchors), 'anchor')}{newest}"
    return Check("anchors", summary, problems, () if audit.at_home else missing)


@dataclass
class _Audit:
    ledger: Ledger
    entries: Sequence[tuple[Entry, str]]
    mark: Mark | None

    @cached_property
    def lines(self) -> list[bytes]:
        """The ledger's whole lines."""
        return self.ledger.folder.ledger.read_bytes().splitlines(keepends=True)[: len(self.entries)]

    @property
    def tail(self) -> Path | None:
        """Where the tail lies, or would lie."""
        return HighWater(self.ledger.folder.root).path

    @cached_property
    def _runs(self) -> list[RunStarted]:
        return [entry.event for entry, _ in self.entries if isinstance(entry.event, RunStarted)]

    @property
    def due(self) -> bool:
        """Whether anchors have to be there: since a run that says so."""
        return any(run.record >= RECORDED for run in self._runs)

    @property
    def at_home(self) -> bool:
        """Whether the last run was at work in this very repository, which is neither a clone nor a copy."""
        found = git_folder(self.ledger.folder.root)
        return bool(self._runs and found and self._runs[-1].place == place(found))

    def newest(self, chain: Chain) -> int:
        """The line in which the newest anchor ends; 0: there is none."""
        return positions(chain.anchors)[-1][0] if chain.anchors else 0

    def lost(self) -> Iterator[str]:
        """What the tail says that the ledger does not."""
        if message := self.ledger.lost:
            yield message
            return
        if self.mark is None:
            if self.tail is not None and os.path.lexists(self.tail):
                yield f"{self.tail} is damaged; the next command that writes makes it anew"
            return
        first = line_of(self.mark.lines[: self.mark.lines.find(b"\n") + 1])
        if first is None or self.mark.lines != b"".join(self.lines[first.seq - 1 : self.mark.seq]):
            yield f"{self.tail} holds other lines than the ledger up to line {self.mark.seq}"

    def mismatches(self, chain: Chain) -> Iterator[str]:
        """Anchors that do not fit the ledger, each other, or the names that they have."""
        before, ends = "", dict[str, str]()
        offset = 0
        for anchor, (seq, head) in zip(chain.anchors, positions(chain.anchors), strict=True):
            name = f"anchor {anchor.commit[:12]}"
            lines = anchor.data.splitlines(keepends=True) if anchor.data else []
            if anchor.parents != ((before,) if before else ()):
                yield f"{name} does not follow the anchor before it"
                return
            if not lines or lines != self.lines[offset : offset + len(lines)]:
                yield f"{name} holds other lines than the ledger behind line {offset}: one of them was changed"
                return
            if anchor.message.partition("\n")[0] != subject(seq, head):
                yield f"{name} says {anchor.message.partition(chr(10))[0]!r:.120}, and ends in line {seq} {head[:12]}"
            before, offset = anchor.commit, seq
            ends[str(self._goal_at(seq))] = anchor.commit
        if dict(chain.ends) != ends:
            wrong, _ = min({*ends.items()} ^ {*chain.ends.items()})
            yield f"the newest anchor of goal {wrong} is not the one that its ref names"
        header = self.mark.header if self.mark else None
        if header and header.commit and header.commit not in {each.commit for each in chain.anchors}:
            gone = f"the anchor {header.commit[:12]} of line {header.anchored}"
            yield f"{gone} is gone: its ref was moved or deleted"

    def missing(self, chain: Chain) -> Iterator[str]:
        """The lines that have no anchor and should have one."""
        newest, head = self.newest(chain), len(self.entries)
        owner = read_owner(self.ledger.folder.lock)
        if not chain.anchors:
            yield f"the ledger has no anchor in this repository; {_FETCH}"
        elif newest < head and not owner:  # else: who writes now, or died, has made none yet
            yield f"lines {newest + 1} to {head} have no anchor: whoever wrote them last did not end as swarmgate does"
        if self.mark is None:
            yield f"there is no high-water mark ({self.tail}); the next command that writes makes one"

    def _goal_at(self, seq: int) -> int:
        return sum(place <= seq for place in self._goals)

    @cached_property
    def _goals(self) -> list[int]:
        """The lines at which goals were set."""
        return [entry.seq for entry, _ in self.entries if isinstance(entry.event, GoalSet)]

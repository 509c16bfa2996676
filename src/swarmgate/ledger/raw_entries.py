"""Reads the entries of the ledger without folding them: all, or only the newest."""

from __future__ import annotations

from swarmgate.domain.events.event import EVENTS, Entry
from swarmgate.journal.chain import GENESIS, hash_of
from swarmgate.journal.journal import entries_in
from swarmgate.journal.lines import LinesFile
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger


def entries(folder: SwarmFolder, last: int | None = None) -> list[Entry]:
    """Every entry in order, or the newest alone; each checked against the line before. No transition is applied.

    Args:
        folder: the project's.
        last: as many of the newest; None: all.

    Raises:
        LedgerCorrupt: a line does not fit the chain, or the ledger is gone where work has been recorded.
        LedgerError: it cannot be read.
    """
    file = LinesFile(folder.ledger)
    data = file.whole_lines()
    if not data:
        Ledger.read(folder)  # says so where there should be one
    start, seq, head = 0, 0, GENESIS
    count = data.count(b"\n")
    if last is not None and last < count:
        start, seq = _start_of_last(data, last), count - last
        head = hash_of(data[:start])
    return [entry for entry, _ in entries_in(data[start:], EVENTS, name=file.name, prev=head, seq=seq)]


def _start_of_last(data: bytes, count: int) -> int:
    """Where the last so many lines begin, of which there are more."""
    end = len(data)
    for _ in range(count):
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end

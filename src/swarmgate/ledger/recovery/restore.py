"""Restores lost lines of a ledger from the anchors and the tail stored in git's folder."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from swarmgate.domain.events.event import EVENTS, LedgerAdopted, LedgerRestored
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.errors import LedgerError, SwarmError
from swarmgate.journal.chain import hash_of, line_of
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.journal import entries_in, fold_checked
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import HighWater
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.witness.anchors import Anchors, known
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.driver import Driver

_BACKUP = (
    "Bring .swarm/ledger.jsonl back from a backup or from git, or fetch its anchors where they were pushed: "
    "git fetch origin 'refs/swarm/*:refs/swarm/*'"
)


class _Known(NamedTuple):
    """What git's folder has: the id of the ledger, that of its newest anchor, and the tail behind it."""

    ledger: str
    commit: str
    tail: bytes


def restore(folder: SwarmFolder) -> LedgerRestored | None:
    """Puts every recorded line back into the file; what stood there goes to the quarantine. To be recorded.

    Returns:
        What was restored; None where the file holds all of it.

    Raises:
        LedgerLocked: another process is writing.
        LedgerError: git's folder knows nothing of a ledger, or not all of it.
        LedgerWriteFailed: the disk refused; the file is as it was.
    """
    with WriterLock(folder.lock):
        present = folder.ledger.read_bytes() if folder.ledger.is_file() else b""
        whole = _whole(folder, _known(folder, present), present)
        if present.startswith(whole):
            return None
        name = folder.ledger.name
        entries = (entry for entry, _ in entries_in(whole, EVENTS, name=name))
        fold_checked(fold, State(), entries, name=name)  # nothing is put there that could not be read
        stored = folder.relative(folder.keep("ledger-rolled-back.jsonl", present)) if present else ""
        with writing(folder.ledger):
            replace(folder.ledger, whole)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(present.splitlines(), whole.splitlines(), strict=False))
    return LedgerRestored(lost=sum(1 for _ in same), seq=whole.count(b"\n"), kept=stored)


def adopt(folder: SwarmFolder) -> LedgerAdopted | None:
    """Forgets what was on record besides the ledger that is there, and keeps it in git's folder. To be recorded.

    Returns:
        What was on record; None where the ledger lacks nothing of it.

    Raises:
        LedgerLocked: another process is writing.
        LedgerCorrupt: the ledger that is there does not hold.
        LedgerError: git's folder cannot be written.
    """
    with WriterLock(folder.lock):
        ledger, water = Ledger.read(folder), HighWater(folder.root)
        mark = water.read()
        if mark is None or not ledger.lost:
            return None
        with writing(folder.ledger):
            stored = water.put_away()
        refs = Anchors(folder, mark.header.ledger).put_away(stored.name.rpartition(".")[2] if stored else "")
    return LedgerAdopted(seq=mark.seq, hash=mark.head, kept=str(stored), refs=refs)


def _known(folder: SwarmFolder, present: bytes) -> _Known:
    mark = HighWater(folder.root).read()
    if mark is not None:
        return _Known(mark.header.ledger, mark.header.commit, mark.lines)
    first = line_of(present[: present.find(b"\n") + 1])
    names = [first.hash] if first else known(folder)
    if len(names) == 1 and (newest := Anchors(folder, names[0]).chain().newest):
        return _Known(names[0], newest, b"")
    several = f" It knows several: {', '.join(names)}." if len(names) > 1 else ""
    raise LedgerError(f"Git's folder holds nothing that the ledger could be brought back from.{several}", hint=_BACKUP)


def _whole(folder: SwarmFolder, known: _Known, present: bytes) -> bytes:
    """Every line: those of the anchors, then those of the tail, which begins with the last line of theirs.

    Raises:
        LedgerError: something is missing in between.
    """
    first = line_of(known.tail[: known.tail.find(b"\n") + 1])
    if first is not None and first.seq == 1:
        return known.tail
    before = _anchored(folder, known.commit)
    if first is None:
        return before
    if hash_of(before) != first.hash:
        before = b"".join(present.splitlines(keepends=True)[: first.seq])  # no anchor yet: what is left must hold it
    if hash_of(before) != first.hash:
        raise LedgerError(f"The lines before line {first.seq} are in no anchor, and not in the file.", hint=_BACKUP)
    return before + known.tail[known.tail.find(b"\n") + 1 :]


def _anchored(folder: SwarmFolder, commit: str) -> bytes:
    if not commit:
        return b""
    try:
        return b"".join(each.data or b"" for each in growing_log.pieces(Driver(folder.root), (commit,)))
    except SwarmError:
        return b""

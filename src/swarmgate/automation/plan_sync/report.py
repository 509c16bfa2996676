"""Runs one pass of plan sync by hand, or previews it: `swarm sync`."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.domain.base import Frozen
from swarmgate.errors import LedgerLocked
from swarmgate.journal.lock import at_work, describe
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits
from swarmgate.ledger.recovery import open_for_writing
from swarmgate.project import Project


class RefusedEdit(Frozen):
    """An edit that cannot stand. `kept` is where it lies in the quarantine; empty where it was only looked at."""

    source: str
    problems: tuple[str, ...]
    kept: str = ""


class SyncReport(Frozen):
    """What a pass did, or with `check` would do.

    Attributes:
        amended: files whose edit is in the plan now.
        refused: edits that cannot stand.
        restored: files that were missing, empty or stale and were written again.
        busy: files that somebody is writing right now: they are left as they are, for the next pass.
        waiting: files with an edit that a process at work takes in between two of its steps.
        working: that process in words, else empty.
        interrupted: the task whose running attempt an edit ended, else empty.
        in_step: both files were what the ledger says already.
    """

    amended: tuple[str, ...] = ()
    refused: tuple[RefusedEdit, ...] = ()
    restored: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    working: str = ""
    interrupted: str = ""
    in_step: bool = True


def sync(project: Project, *, check: bool = False) -> SyncReport:
    """One pass now; with `check` only a look. While another process works, that one takes edits in, and this looks.

    Raises:
        LedgerLocked: a process on another host holds the ledger, as far as this one can tell.
        LedgerError: the ledger cannot be read or written.
    """
    if check:
        return _inspected(project)
    try:
        return _passed(project)
    except LedgerLocked:
        report = _inspected(project)
        return report if report.working else _passed(project)  # it may have ended meanwhile


def _passed(project: Project) -> SyncReport:
    with Ledger.write(project.folder) as ledger:
        outcome = open_for_writing.sync_pass(ledger, patience_s=open_for_writing.PATIENCE_S)
    refused = (RefusedEdit(source=each.source, problems=each.problems, kept=each.kept) for each in outcome.refused)
    report = _report(outcome.amended, refused, outcome.restored, outcome.busy)
    return report.model_copy(update={"interrupted": outcome.interrupted})


def _inspected(project: Project) -> SyncReport:
    """What a pass would do. What a process at work has not rendered yet is no drift."""
    owner = at_work(project.folder.lock)
    found, missing, busy = edits(Ledger.read(project.folder), interruptible=True)
    refused = (RefusedEdit(source=edit.source, problems=edit.problems) for edit in found if edit.plan is None)
    legal = tuple(edit.source for edit in found if edit.plan is not None)
    if not owner:
        return _report(legal, refused, missing, busy)
    waiting = tuple(edit.source for edit in found if not edit.ahead)  # ahead: recorded after we read the ledger
    return SyncReport(busy=busy, waiting=waiting, working=describe(owner), in_step=not (waiting or busy))


def _report(
    amended: tuple[str, ...], refused: Iterable[RefusedEdit], restored: tuple[str, ...], busy: tuple[str, ...]
) -> SyncReport:
    refusals = tuple(refused)
    in_step = not (amended or refusals or restored or busy)
    return SyncReport(amended=amended, refused=refusals, restored=restored, busy=busy, in_step=in_step)

"""One pass of plan sync: by hand (`swarm sync`), by the watcher, and at the beginning of every command that writes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import LedgerLocked
from swarmgate.journal.lock import at_work, describe
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import Interrupt, Reconciliation, edits, reconcile

if TYPE_CHECKING:
    from swarmgate.domain.events import Event
    from swarmgate.domain.state import State
    from swarmgate.engine.swarm import Swarm


PATIENCE_S = 1.0
"""For how long a command waits for an editor that is writing a plan file; then it goes on without that edit."""
_PAUSE_S = 0.02


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


def sync(swarm: Swarm, *, check: bool = False) -> SyncReport:
    """One pass now; with `check` only a look. While another process works, that one takes edits in, and this looks.

    Raises:
        LedgerLocked: a process on another host holds the ledger, as far as this one can tell.
        LedgerError: the ledger cannot be read or written.
    """
    if check:
        return _looked(swarm)
    try:
        return _passed(swarm)
    except LedgerLocked:
        report = _looked(swarm)
        return report if report.working else _passed(swarm)  # it may have ended meanwhile


def sync_pass(swarm: Swarm, ledger: Ledger, *, patience_s: float = 0.0) -> Reconciliation:
    """The pass itself, with a ledger that is open for writing. A new definition of the running task ends its attempt.

    Args:
        swarm: the project.
        ledger: its ledger.
        patience_s: for how long somebody who is writing a plan file is waited for.

    Raises:
        LedgerError: the ledger could not be written.
    """
    _wait_for_writers(ledger, patience_s)
    return reconcile(ledger, author="user", interrupt=_interrupt(swarm))


def _wait_for_writers(ledger: Ledger, patience_s: float) -> None:
    files = (ledger.projector.plan_md, ledger.projector.plan_json)
    until = time.monotonic() + patience_s
    while time.monotonic() < until and any(file.being_written() for file in files):
        time.sleep(_PAUSE_S)


def _interrupt(swarm: Swarm) -> Interrupt:
    def ended(state: State) -> list[Event]:
        from swarmgate.engine.steps.recovery import redefined  # noqa: PLC0415 - brings all rooms
        from swarmgate.workspace.repository import Repository  # noqa: PLC0415 - as above

        return redefined(state, swarm.folder, Repository.discover(swarm.folder.root))

    return ended


def _passed(swarm: Swarm) -> SyncReport:
    with Ledger.write(swarm.folder) as ledger:
        outcome = sync_pass(swarm, ledger, patience_s=PATIENCE_S)
    refused = (RefusedEdit(source=each.source, problems=each.problems, kept=each.kept) for each in outcome.refused)
    report = _report(outcome.amended, refused, outcome.restored, outcome.busy)
    return report.model_copy(update={"interrupted": outcome.interrupted})


def _looked(swarm: Swarm) -> SyncReport:
    """What a pass would do. What a process at work has not rendered yet is no drift."""
    owner = at_work(swarm.folder.lock)
    found, missing, busy = edits(Ledger.read(swarm.folder), interruptible=True)
    refused = (RefusedEdit(source=edit.source, problems=edit.problems) for edit in found if edit.plan is None)
    legal = tuple(edit.source for edit in found if edit.plan is not None)
    if not owner:
        return _report(legal, refused, missing, busy)
    waiting = tuple(edit.source for edit in found if not edit.ahead)  # ahead: recorded after we read the ledger
    return SyncReport(busy=busy, waiting=waiting, working=describe(owner), in_step=not (waiting or busy))


def _report(
    amended: tuple[str, ...], refused: Iterable[RefusedEdit], restored: tuple[str, ...], busy: tuple[str, ...]
) -> SyncReport:
    told = tuple(refused)
    in_step = not (amended or told or restored or busy)
    return SyncReport(amended=amended, refused=told, restored=restored, busy=busy, in_step=in_step)

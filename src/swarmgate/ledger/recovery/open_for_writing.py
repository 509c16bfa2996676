"""Opens the ledger for writing by a command: recovers after a crash, and takes in hand edits of the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from swarmgate.errors import UsageError, WorkspaceError
from swarmgate.ledger.councils import sessions
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.publication import LOCAL, Publication
from swarmgate.ledger.reconcile import Reconciliation, reconcile
from swarmgate.ledger.recovery import unrecorded_evidence
from swarmgate.ledger.recovery.interruption import redefined
from swarmgate.workspace.files import atomic
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import orphans, temporary

if TYPE_CHECKING:
    from swarmgate.ledger.files.folder import SwarmFolder

PATIENCE_S = 1.0
"""For how long a command waits for an editor that is writing a plan file; then it goes on without that edit."""
_PAUSE_S = 0.02


def opened(folder: SwarmFolder, notice: Callable[[str], None], publication: Publication = LOCAL) -> Ledger:
    """The ledger for writing, after the hand edits of the plan files were taken in or refused.

    Args:
        folder: of the project.
        notice: hears what the user should know.
        publication: hears of everything that is recorded.

    Raises:
        LedgerLocked: another process is writing.
        LedgerError: it cannot be read or written.
        WorkspaceError: a process of a dead run cannot be ended.
        UsageError: an edit was refused; it is kept, and the file is as the ledger says again.
    """
    ledger = Ledger.write(folder, publication=publication)
    try:
        if ledger.taken_over:
            notice(f"took over the lock of a process that is gone ({ledger.taken_over})")
        for message in _cleared_up(folder, crashed=bool(ledger.taken_over)):
            notice(message)
        if ledger.repaired:
            notice(f"a torn last line of the ledger was cut off; it is kept in {ledger.repaired}")
        left = unrecorded_evidence.put_aside(ledger)  # first: an edit may end the attempt that it belongs to
        outcome = sync_pass(ledger, patience_s=PATIENCE_S)
        ledger.append([left] if left else [], expect=ledger.state.seq)
        _report(outcome, ledger, notice)
        sessions.settle(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


def sync_pass(ledger: Ledger, *, patience_s: float = 0.0) -> Reconciliation:
    """One pass of plan sync. A new definition of the running task ends its attempt.

    Args:
        ledger: open for writing.
        patience_s: for how long somebody who is writing a plan file is waited for.

    Raises:
        LedgerError: the ledger could not be written.
    """
    _wait_for_writers(ledger, patience_s)
    folder = ledger.folder
    return reconcile(
        ledger, author="user", interrupt=lambda state: redefined(state, folder, Repository.discover(folder.root))
    )


def _wait_for_writers(ledger: Ledger, patience_s: float) -> None:
    files = (ledger.projector.plan_md, ledger.projector.plan_json)
    until = time.monotonic() + patience_s
    while time.monotonic() < until and any(file.being_written() for file in files):
        time.sleep(_PAUSE_S)


def _cleared_up(folder: SwarmFolder, *, crashed: bool) -> Iterator[str]:
    """End the processes of dead runs, and remove their temporary files; yields what the user has to know.

    Args:
        folder: of the project; its ledger is ours to write.
        crashed: the last one who wrote the ledger died.

    Raises:
        WorkspaceError: a process of a dead run cannot be ended.
    """
    if stubborn := orphans.end(git=crashed):
        raise WorkspaceError(
            f"a run that died left processes which cannot be ended: {', '.join(map(str, stubborn))}",
            hint="End them by hand, then try again: what they write would count as the work of the next run",
        )
    if crashed:
        atomic.sweep(folder.path, spared=folder.quarantine)
        for place in temporary.sweep():
            yield f"temporary files of a run that died cannot be removed: {place}"


def _report(outcome: Reconciliation, ledger: Ledger, notice: Callable[[str], None]) -> None:
    """Tells what became of hand edits.

    Raises:
        UsageError: one was refused.
    """
    for name in outcome.busy:
        notice(f"somebody is writing {name}: an edit of it is not taken in before it is closed")
    if outcome.interrupted:
        stored = ledger.state.task(outcome.interrupted).attempts[-1].kept
        ended = f"the attempt at task {outcome.interrupted} ended: you changed the definition of its task"
        notice(f"{ended}; its unfinished work is kept in {stored}" if stored else ended)
    for name in outcome.amended:
        notice(f"your edit of {name} was taken into the plan")
    for name in outcome.restored:
        notice(f"{name} was missing or out of date and was written again")
    if outcome.refused:
        raise UsageError(
            " ".join(
                f"An edit of {refused.source} cannot stand: {' '.join(refused.problems)} "
                f"The edit is kept in {refused.kept}; {refused.source} is as the ledger says again."
                for refused in outcome.refused
            ),
            hint="Change what you meant to and run the command again.",
        )

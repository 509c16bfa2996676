"""Applies hand edits of plan.md and plan.json while `swarm watch` runs, with the ledger kept loaded."""

from __future__ import annotations

import time
from hashlib import sha256

from swarmgate.domain.events.automation import PlanSynced, SyncDeferred
from swarmgate.domain.events.event import EditRefused
from swarmgate.domain.progress import Progress
from swarmgate.errors import LedgerCorrupt, LedgerLocked
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits
from swarmgate.ledger.recovery.open_for_writing import sync_pass
from swarmgate.project import Project


class Passes:
    """One pass of plan sync, again and again, on a ledger that is kept: 5,000 tasks are not folded anew each time.

    What was edited while a run without a sandbox was at work may be an agent's doing: it is left to the user's command.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._ledger: Ledger | None = None
        self._suspect: set[tuple[str, bytes]] = set()

    def __call__(self) -> PlanSynced | SyncDeferred | None:
        """What it changed; None: nothing; or that the ledger is locked, with the files that have an edit.

        Raises:
            SwarmError: the ledger, or a plan file, cannot be read or written.
        """
        began = time.monotonic()
        ledger = self._read_on()
        if not ledger.projector.differing(ledger.state):
            self._suspect.clear()
            return None
        if self._suspect and (waits := self._for_user(ledger)):
            return waits
        try:
            with ledger.writing():
                before = ledger.state.seq
                outcome = sync_pass(ledger)
        except LedgerLocked as error:
            return self._deferred(ledger, error)
        for refused in outcome.refused if ledger.state.seq == before else ():  # else the ledger's event tells it
            self._project.listener(Progress(kind="notice", text=refusal(refused)))
        if not (outcome.amended or outcome.refused or outcome.restored):
            return SyncDeferred(sources=(), reason=f"{outcome.busy[0]} is being written") if outcome.busy else None
        return PlanSynced(
            amended=outcome.amended,
            refused=tuple(each.source for each in outcome.refused),
            restored=outcome.restored,
            interrupted=outcome.interrupted,
            seconds=round(time.monotonic() - began, 3),
        )

    def _read_on(self) -> Ledger:
        """The ledger as it is now; where it is another one than before, that one."""
        if self._ledger is not None:
            try:
                self._ledger.refresh()
            except LedgerCorrupt:
                self._ledger = None
        self._ledger = self._ledger or Ledger.read(self._project.folder)
        return self._ledger

    def _deferred(self, ledger: Ledger, error: LedgerLocked) -> SyncDeferred:
        """Which files have an edit that waits; what the process at work writes itself meanwhile is none."""
        ledger.refresh()
        found = [edit for edit in edits(ledger, interruptible=True).found if not edit.ahead]
        if ledger.state.sandbox == "none":
            self._suspect.update((edit.source, sha256(edit.data).digest()) for edit in found)
        return SyncDeferred(sources=tuple(edit.source for edit in found), reason=error.message)

    def _for_user(self, ledger: Ledger) -> SyncDeferred | None:
        """That edits wait for the user's own command; None where what stands there now was made after the run."""
        found = edits(ledger, interruptible=True).found
        same = tuple(edit.source for edit in found if (edit.source, sha256(edit.data).digest()) in self._suspect)
        if not same:
            return None
        reason = "it was made during a run without a sandbox, so maybe by an agent; if it is yours: swarm sync"
        return SyncDeferred(sources=same, reason=reason, for_user=True)


def refusal(refused: EditRefused) -> str:
    """A refused edit in full: why, where it is kept, and what to do. A line a problem."""
    return "\n".join(
        (
            f"your edit of {refused.source} cannot stand; {refused.source} is as the ledger says again:",
            *(f"  {problem}" for problem in refused.problems),
            f"  It is kept in {refused.kept}: mend it there and copy it back, or edit {refused.source} again.",
        )
    )

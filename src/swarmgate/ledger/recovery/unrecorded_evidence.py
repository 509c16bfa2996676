"""Moves evidence files that a crashed run left unrecorded into the quarantine, and returns the event of it."""

from __future__ import annotations

from swarmgate.domain.events.event import EvidenceSetAside
from swarmgate.domain.evidence.report import recorded
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.ledger import Ledger


def put_aside(ledger: Ledger) -> EvidenceSetAside | None:
    """Puts it into the quarantine; to be recorded. What is on record stays as it is, whatever it is: `verify` tells.

    After the tests no step writes evidence, so an attempt that only waits for its commit is left alone. So is one that
    a run left with a word, since that run has put its own aside.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    state = ledger.state
    attempt = state.task(state.open).running
    if attempt is None or not state.running or attempt.state is TaskState.TESTS_RUN:
        return None
    store = EvidenceStore(ledger.folder)
    if not store.place(state.open, attempt.number, "").is_dir():
        return None
    claims = recorded(entry for entry, _ in ledger.entries()).claims.values()
    known = {claim.file for claim in claims if (claim.task, claim.attempt) == (state.open, attempt.number)}
    return store.left(state.open, attempt.number, known)

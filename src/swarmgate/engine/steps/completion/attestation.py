"""Attests the commit of a task: an in-toto statement as a note of the commit, bound to it by a trailer.

The trailer is written with the commit, the note right after it and before the ledger says that the task is complete. A
crash in between leaves the commit with its trailer: the next run takes it up, and writes the note from the same lines.
"""

from __future__ import annotations

from swarmgate.domain.evidence.attestation import (
    ATTESTATION_TRAILER,
    LEDGER_TRAILER,
    NOTES_REF,
    Predicate,
    first_line,
    predicate_of,
    statement_of,
)
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.ledger import raw_entries
from swarmgate.workspace.git.commits import Commit


def trailer(state: State, ctx: Context) -> tuple[str, str]:
    """The trailer of the commit that is about to be made: the digest of what will be stated about it."""
    return ATTESTATION_TRAILER, _predicate(state, ctx.ledger.head, ctx).sha256


def attest(ctx: Context, made: Commit) -> None:
    """Writes the statement that the commit's trailer announces; nothing where it has no such trailer.

    Raises:
        WorkspaceError: git refused; the run pauses, and the next one writes it.
    """
    (commit,) = ctx.repository.commits_named(made.id)
    announced = commit.trailers.get(ATTESTATION_TRAILER, "")
    if not announced:
        return
    predicate = _recorded(ctx, commit.trailers.get(LEDGER_TRAILER, ""))
    if predicate is None or predicate.sha256 != announced:  # a hook, or another version that died before the note
        ctx.notify("notice", f"commit {made.id[:12]} is not attested: the ledger does not give what its trailer says")
        return
    ctx.repository.write_note(NOTES_REF, made.id, statement_of(predicate, made.id).text())


def _recorded(ctx: Context, place: str) -> Predicate | None:
    """What the ledger says at the line that a trailer names; None where no attempt was running there."""
    seq, _, head = place.partition(" ")
    if not seq.isdecimal() or not 0 < int(seq) <= ctx.ledger.state.seq:
        return None
    state = ctx.ledger.state_at(int(seq))
    return _predicate(state, head, ctx) if state.task(state.open).running else None


def _predicate(state: State, head: str, ctx: Context) -> Predicate:
    entries = raw_entries.entries(ctx.folder, last=ctx.ledger.state.seq - first_line(state) + 1)
    return predicate_of(state, head, entries)

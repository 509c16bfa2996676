"""Attests the commit of a task: an in-toto statement as a note of the commit, bound to it by a trailer.

The trailer is written with the commit, the note right after it and before the ledger says that the task is complete. A
crash in between leaves the commit with its trailer: the next run takes it up, and writes the note from the same lines.
"""

from __future__ import annotations

from swarmgate.domain.evidence import authorship_log
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
from swarmgate.workspace.git.commits import Commit, TaskCommit
from swarmgate.workspace.programs import trusted


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
    state, head = _stood_at(ctx, commit.trailers.get(LEDGER_TRAILER, ""))
    predicate = None if state is None else _predicate(state, head, ctx)
    # Not so where a hook changed the trailers, or another version made the commit and died before the note.
    if state is None or predicate is None or predicate.sha256 != announced:
        ctx.notify("notice", f"commit {made.id[:12]} is not attested: the ledger does not give what its trailer says")
        return
    ctx.repository.write_note(NOTES_REF, made.id, statement_of(predicate, made.id).text())
    _tell_git_ai(state, ctx, commit)


def _tell_git_ai(state: State, ctx: Context, made: TaskCommit) -> None:
    """Where Git AI is installed: who wrote which lines, unless that was written already."""
    if trusted.find("git-ai", ctx.repository.root) is None or made.id in ctx.repository.notes(authorship_log.NOTES_REF):
        return
    inside = ctx.repository.root.relative_to(ctx.repository.top).as_posix()
    change = ctx.repository.changes(ctx.repository.tree_of(made.parent), made.tree)
    prefix = "" if inside == "." else f"{inside}/"
    if log := authorship_log.authorship_log(state, change, commit=made.id, prefix=prefix):
        ctx.repository.write_note(authorship_log.NOTES_REF, made.id, log)


def _stood_at(ctx: Context, place: str) -> tuple[State | None, str]:
    """The state at the line that a trailer names, and its hash; None where no attempt was running there."""
    seq, _, head = place.partition(" ")
    if not seq.isdecimal() or not 0 < int(seq) <= ctx.ledger.state.seq:
        return None, head
    state = ctx.ledger.state_at(int(seq))
    return state if state.task(state.open).running else None, head


def _predicate(state: State, head: str, ctx: Context) -> Predicate:
    entries = raw_entries.entries(ctx.folder, last=ctx.ledger.state.seq - first_line(state) + 1)
    return predicate_of(state, head, entries)

"""`swarm verify`: does everything fit? The chain, the laws, the projections, the evidence, and git.

Nothing is changed. Each check says what it looked at; the first line that does not fit is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.domain.events import Entry, GoalSet, TaskCompleted, WorkStarted
from swarmgate.domain.evidence_report import Standing, recorded
from swarmgate.errors import LedgerCorrupt, WorkspaceError
from swarmgate.ledger.checks import Check
from swarmgate.ledger.evidence import FILES, EvidenceStore
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits
from swarmgate.workspace.repository import Repository


def audit(folder: SwarmFolder, repository: Repository) -> tuple[Check, ...]:
    """All checks. When the chain does not hold, nothing that follows from it can be checked."""
    try:
        ledger = Ledger.read(folder)
        entries = tuple(ledger.entries())
    except LedgerCorrupt as error:
        return (Check("chain", f"{folder.relative(folder.ledger)} up to line {error.line}", (error.message,)),)
    torn = (f"ledger.jsonl ends in {len(ledger.torn)} bytes of a line that was cut short.",) if ledger.torn else ()
    return (
        Check("chain", f"{len(entries)} lines", torn),
        _projections(ledger),
        _evidence(folder, entries),
        _commits(repository, entries),
    )


def _projections(ledger: Ledger) -> Check:
    if ledger.state.plan is None:
        return Check("projections", "no plan yet")
    found, missing, _ = edits(ledger)
    problems = [problem for edit in found for problem in edit.problems or (f"{edit.source} was edited by hand.",)]
    problems += [f"{name} is missing or out of date; it comes back with: swarm run" for name in missing]
    return Check("projections", "plan.md, plan.json", tuple(problems))


def _evidence(folder: SwarmFolder, entries: tuple[tuple[Entry, str], ...]) -> Check:
    """Each piece has the hash that the newest event about it recorded, in its place or in the archive of pruned ones.

    The evidence of an earlier goal lies in `history/`.
    """
    store = EvidenceStore(folder)
    claims = [claim for claim in recorded(entry for entry, _ in entries).claims.values() if claim.sha256]
    found = [(claim, store.look(claim.task, claim.attempt, FILES[claim.kind], claim.sha256)) for claim in claims]
    archived = sum(piece.standing is Standing.ARCHIVED for _, piece in found)
    problems = tuple(f"line {claim.seq}: {piece.problem}" for claim, piece in found if piece.problem)
    return Check("evidence", f"{len(found)} files{f', {archived} of them archived' if archived else ''}", problems)


def _commits(repository: Repository, entries: tuple[tuple[Entry, str], ...]) -> Check:
    """Each completed task of the present goal has its commit with the tree that passed; all commits point back here."""
    goal_set = max((entry.seq for entry, _ in entries if isinstance(entry.event, GoalSet)), default=0)
    completed = [(entry.seq, entry.event) for entry, _ in entries[goal_set:] if isinstance(entry.event, TaskCompleted)]
    lines = {f"{entry.seq} {digest}" for entry, digest in entries}
    since = next((entry.event.base for entry, _ in entries if isinstance(entry.event, WorkStarted)), None)
    if since is None:
        return Check("commits", "none yet")
    try:
        commits = {commit.id: commit for commit in repository.task_commits(since)}
    except WorkspaceError as error:
        return Check("commits", "git", (error.message,))
    problems: list[str] = []
    for seq, event in completed:
        commit = commits.get(event.commit)
        if commit is None:
            problems.append(f"line {seq}: commit {event.commit[:12]} of task {event.task} is not on this branch.")
            continue
        problems += (f"line {seq}: {text}" for text in _commit_problems(event, commit.tree, commit.trailers))
    problems += (
        f"commit {commit.id[:12]} points at ledger line {pointer!r}, which the ledger does not hold."
        for commit in commits.values()
        if (pointer := commit.trailers.get("Swarm-Ledger", "")) not in lines
    )
    return Check("commits", f"{len(commits)} commits", tuple(problems))


def _commit_problems(event: TaskCompleted, tree: str, trailers: dict[str, str]) -> Iterator[str]:
    short = event.commit[:12]
    if tree != event.tree:
        yield f"commit {short} holds the tree {tree[:12]}, but the tree that passed is {event.tree[:12]}."
    if trailers.get("Swarm-Task") != event.task:
        yield f"commit {short} does not name task {event.task} in its Swarm-Task trailer."

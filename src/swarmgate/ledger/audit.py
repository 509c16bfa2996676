"""`swarm verify`: does everything fit? The chain, the laws, the projections, the evidence, and git.

Nothing is changed. Each check says what it looked at; the first line that does not fit is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.domain.events import (
    AdversarialTestsWritten,
    ChangeCaptured,
    DebateWeighed,
    Entry,
    Event,
    GatesRun,
    GoalSet,
    ReviewGiven,
    SecurityReviewGiven,
    TaskCompleted,
    TestsRun,
    WorkStarted,
)
from swarmgate.errors import LedgerCorrupt, WorkspaceError
from swarmgate.ledger import evidence as files
from swarmgate.ledger.checks import Check
from swarmgate.ledger.evidence import EvidenceStore
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import edits
from swarmgate.workspace.repository import Repository

_EVIDENCE: dict[type, str] = {
    ChangeCaptured: files.PATCH,
    GatesRun: files.GATES,
    DebateWeighed: files.DEBATE,
    ReviewGiven: files.REVIEW,
    SecurityReviewGiven: files.SECURITY_REVIEW,
    AdversarialTestsWritten: files.ADVERSARIAL,
    TestsRun: files.TESTS,
}
_Proven = (
    ChangeCaptured | GatesRun | DebateWeighed | ReviewGiven | SecurityReviewGiven | AdversarialTestsWritten | TestsRun
)


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
    found, missing = edits(ledger)
    problems = [problem for edit in found for problem in edit.problems or (f"{edit.source} was edited by hand.",)]
    problems += [f"{name} is missing or out of date; it comes back with: swarm run" for name in missing]
    return Check("projections", "plan.md, plan.json", tuple(problems))


def _evidence(folder: SwarmFolder, entries: tuple[tuple[Entry, str], ...]) -> Check:
    """Each piece of evidence has the hash that the newest event about it recorded."""
    latest: dict[tuple[str, int, str], tuple[int, str]] = {}
    for entry, _ in entries:
        if isinstance(entry.event, GoalSet):
            latest.clear()  # the evidence of an earlier goal lies archived in history/
        for task, attempt, name, digest in _evidence_of(entry.event):
            latest[task, attempt, name] = (entry.seq, digest)
    store = EvidenceStore(folder)
    problems = [
        f"line {seq}: {problem}"
        for (task, attempt, name), (seq, digest) in latest.items()
        if (problem := store.problem(task, attempt, name, digest))
    ]
    return Check("evidence", f"{len(latest)} files", tuple(problems))


def _evidence_of(event: Event) -> Iterator[tuple[str, int, str, str]]:
    """Task, attempt, file name and hash of each piece of evidence that an event names."""
    if isinstance(event, _Proven) and event.evidence:
        yield event.task, event.attempt, _EVIDENCE[type(event)], event.evidence
    if isinstance(event, TestsRun) and event.gates_evidence:
        yield event.task, event.attempt, files.FINAL_GATES, event.gates_evidence


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

"""Checks that each commit of a task is recorded in the ledger, and each recorded commit exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from swarmgate.domain.events.event import (
    CommitMoved,
    Entry,
    GoalAbandoned,
    GoalSet,
    PhaseRegressed,
    TaskCompleted,
    TaskReopened,
    TaskUndone,
    TestsRun,
    WorkStarted,
)
from swarmgate.domain.state.completed_commits import landed, withdrawn
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import State
from swarmgate.errors import WorkspaceError
from swarmgate.ledger.check import Check
from swarmgate.ledger.views.describe import counted
from swarmgate.workspace.git.changes.reverting import holds, taken_back
from swarmgate.workspace.git.commits import TaskCommit
from swarmgate.workspace.git.repository import Repository

_LISTED = 5


def commits(repository: Repository, state: State, entries: Sequence[tuple[Entry, str]]) -> Check:
    """Each completed task of the present goal has its commit with the tree that passed, and no other commit is one.

    A commit with the trailers of a task is what `task_completed` names, by its id; the line that it points at is of its
    own attempt, so that no two point at the same one. Where the user rewrote the history, the record says by
    `commit_moved` which commit it is now, and by `task_reopened` and `task_undone` that it counts no more. Commits
    without trailers are the user's: they are told.
    """
    since = next((entry.event.base for entry, _ in entries if isinstance(entry.event, WorkStarted)), None)
    if since is None:
        return Check("commits", "none yet")
    try:
        found = repository.task_commits(since)
        others = [commit for commit in repository.commits_since(since) if commit not in {each.id for each in found}]
        foreign = repository.foreign(since)
        back = taken_back(repository, [each.commit for each in landed(state)], since=since, tip=repository.head())
    except WorkspaceError as error:
        return Check("commits", "git", (error.message,))
    audit = _Audit(repository, state, entries, found, frozenset(others))
    problems = (*audit.missing(), *(problem for commit in found for problem in audit.problems(commit)))
    problems += tuple(_reverted(state, back))
    undone = (entry.event for entry, _ in entries if isinstance(entry.event, TaskUndone))
    reverts = {event.revert for event in undone if not event.by_hand}
    others = [each for each in others if each not in reverts | foreign]
    named = ", ".join(each[:12] for each in others[:_LISTED])
    message = f"{len(others)} without a Swarm-Task trailer, your own: {named}{' ...' if len(others) > _LISTED else ''}"
    warnings = (*((message,) if others else ()), *audit.waiting(), *_restored(state, repository))
    return Check("commits", counted(len(found), "commit"), tuple(dict.fromkeys(problems)), warnings)


def _reverted(state: State, back: Mapping[str, str]) -> Iterator[str]:
    """Tasks that are complete on record, and whose change a later commit took back."""
    for each in landed(state):
        if revert := back.get(each.commit):
            yield (
                f"commit {each.commit[:12]} of task {each.task} was taken back by {revert[:12]}, and the task is "
                f"complete on record: swarm undo {each.task} has both in step."
            )


def _restored(state: State, repository: Repository) -> Iterator[str]:
    """Tasks that are to be done again, and whose change is there all the same."""
    tree = repository.head_tree()
    for task, commit in withdrawn(state):
        if holds(repository, tree, commit):
            yield f"task {task} is pending, and the branch has the change of its commit {commit[:12]} again: swarm run"


@dataclass
class _Audit:
    repository: Repository
    state: State
    entries: Sequence[tuple[Entry, str]]
    found: Sequence[TaskCommit]
    others: frozenset[str] = frozenset()

    @cached_property
    def _moved(self) -> Mapping[str, str]:
        """Where commits are now that the user rewrote, by their ids before."""
        events = [entry.event for entry, _ in self.entries if isinstance(entry.event, CommitMoved)]
        return {event.was: event.commit for event in events if event.was != event.commit}

    @cached_property
    def _reopened(self) -> frozenset[str]:
        """The commits that complete nothing any more, by the user's word or by the tests of their phase."""
        events = [entry.event for entry, _ in self.entries]
        opened = {each.commit for event in events if isinstance(event, PhaseRegressed) for each in event.culprits}
        return frozenset(opened | {each.commit for each in events if isinstance(each, (TaskReopened, TaskUndone))})

    def _now(self, commit: str) -> str:
        """What a recorded commit is now."""
        seen = {commit}
        while (after := self._moved.get(commit, "")) and after not in seen:
            commit = after
            seen.add(after)
        return commit

    @cached_property
    def _completed(self) -> Mapping[str, tuple[int, TaskCompleted]]:
        """The events of all goals by the ids of their commits, with their lines."""
        events = ((entry.seq, entry.event) for entry, _ in self.entries)
        return {event.commit: (seq, event) for seq, event in events if isinstance(event, TaskCompleted)}

    def missing(self) -> Iterator[str]:
        """Tasks of the present goal whose commit is not there."""
        begins = (GoalSet, GoalAbandoned)
        goal_set = max((entry.seq for entry, _ in self.entries if isinstance(entry.event, begins)), default=0)
        there = {*(commit.id for commit in self.found), *self.others}
        for seq, event in self._completed.values():
            now = self._now(event.commit)
            if seq > goal_set and now not in there and not {event.commit, now} & self._reopened:
                yield f"line {seq}: commit {now[:12]} of task {event.task} is not on this branch."

    def problems(self, commit: TaskCommit) -> Iterator[str]:
        """The problems of a commit that has the trailers of a task."""
        short, pointer = commit.id[:12], commit.trailers.get("Swarm-Ledger", "")
        place = self._lines.get(pointer, 0)
        if not place:
            yield f"commit {short} points at ledger line {pointer!r}, which the ledger does not hold."
        seq, event = self._recorded.get(commit.id, (0, None))
        if event is None:
            if place and not self._waits(commit) and not self._is_rewritten(commit):
                task = commit.trailers["Swarm-Task"]
                yield f"commit {short} has the trailers of task {task}, and no line of the ledger names it."
            return
        if commit.id != event.commit:
            return  # the user rewrote it, and what it holds was compared when that went on record
        if commit.tree != event.tree:
            other = f"but the tree that passed is {event.tree[:12]}"
            yield f"line {seq}: commit {short} holds the tree {commit.tree[:12]}, {other}."
        if commit.trailers["Swarm-Task"] != event.task:
            yield f"line {seq}: commit {short} does not name task {event.task} in its Swarm-Task trailer."
        if commit.trailers.get("Swarm-Attempts", str(event.attempt)) != str(event.attempt):
            yield f"line {seq}: commit {short} does not name attempt {event.attempt} in its Swarm-Attempts trailer."
        if place and not self._passed(event.task, event.attempt, before=seq) <= place < seq:
            yield f"line {seq}: commit {short} points at line {place}, which is not of its own attempt."

    @cached_property
    def _recorded(self) -> Mapping[str, tuple[int, TaskCompleted]]:
        """The events by the ids that their commits had, and have now."""
        moved = {self._now(was): found for was, found in self._completed.items()}
        return moved | dict(self._completed)

    def _is_rewritten(self, commit: TaskCommit) -> bool:
        """Whether it has the trailers of an attempt whose commit the user rewrote, or took back."""
        was = {event.commit for _, event in self._completed.values() if _is_of(commit, event)}
        return bool(was & (self._moved.keys() | self._reopened))

    def waiting(self) -> Iterator[str]:
        """What is only told: copies of commits that were rewritten or taken back, and one without its line."""
        for commit in self.found:
            if commit.id not in self._recorded and self._is_rewritten(commit):
                task = commit.trailers["Swarm-Task"]
                yield (
                    f"commit {commit.id[:12]} has the trailers of task {task}: it is a copy, which the record finds in "
                    "another one, or has as taken back"
                )
            if commit.id not in self._completed and self._waits(commit):
                made = f"commit {commit.id[:12]} of task {self.state.open} was made"
                yield f"{made}, and the run ended before it was recorded"

    def _waits(self, commit: TaskCommit) -> bool:
        """Whether it is the newest commit, and made for the attempt that waits for its own."""
        attempt = self.state.task(self.state.open).running
        if attempt is None or attempt.state is not TaskState.TESTS_RUN or commit.id != self.found[-1].id:
            return False
        own = {"Swarm-Task": self.state.open, "Swarm-Attempts": str(attempt.number)}
        place = self._lines.get(commit.trailers.get("Swarm-Ledger", ""), 0)
        passed = self._passed(self.state.open, attempt.number, before=len(self.entries) + 1)
        on_base = self.repository.stands(attempt.base, commit.parent)
        return own.items() <= commit.trailers.items() and on_base and place >= passed

    @cached_property
    def _lines(self) -> Mapping[str, int]:
        """The numbers of the lines by what a trailer says of them."""
        return {f"{entry.seq} {digest}": entry.seq for entry, digest in self.entries}

    def _passed(self, task: str, attempt: int, *, before: int) -> int:
        """The line at which an attempt passed the tests, the last one before another."""
        own = (
            entry.seq
            for entry, _ in self.entries[: before - 1]
            if isinstance(entry.event, TestsRun) and (entry.event.task, entry.event.attempt) == (task, attempt)
        )
        return max(own, default=before)


def _is_of(commit: TaskCommit, event: TaskCompleted) -> bool:
    """Whether a commit has the trailers of the attempt that an event completed."""
    attempt = str(event.attempt)
    named = commit.trailers.get("Swarm-Attempts", attempt)
    return (commit.trailers["Swarm-Task"], named) == (event.task, attempt)

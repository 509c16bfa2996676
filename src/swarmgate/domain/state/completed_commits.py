"""Decides which commits of completed tasks were moved by a history rewrite and which are lost. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from swarmgate.domain.events.event import CommitMoved
from swarmgate.domain.state.state import State, TaskStatus


@dataclass(frozen=True)
class Landed:
    """A completed task with the commit, and the tree, that completed it."""

    task: str
    commit: str
    tree: str


def landed(state: State) -> tuple[Landed, ...]:
    """The completed tasks of the present goal, in the order in which they were committed."""
    done = [
        (record.last.seq, Landed(task, record.commit, record.last.tree))
        for task, record in state.tasks.items()
        if record.status is TaskStatus.COMPLETE and record.commit and record.last is not None
    ]
    return tuple(each for _, each in sorted(done, key=lambda pair: pair[0]))


def withdrawn(state: State) -> tuple[tuple[str, str], ...]:
    """The tasks that wait to be done again, each with the commit that had completed it and was reverted or lost."""
    waiting = ((task, record.undone) for task, record in state.tasks.items() if record.status is TaskStatus.PENDING)
    return tuple(sorted((task, commit) for task, commit in waiting if commit))


def moved(state: State, found: Mapping[str, str]) -> tuple[CommitMoved, ...]:
    """What goes on record of commits that the user rewrote: `found` says as which one each of them stands now."""
    return tuple(
        CommitMoved(task=each.task, was=each.commit, commit=found[each.commit])
        for each in landed(state)
        if each.commit in found
    )


def lost(state: State, missing: Collection[str], found: Mapping[str, str]) -> tuple[Landed, ...]:
    """The completed tasks whose commit is gone, and that nothing in the history stands for."""
    return tuple(each for each in landed(state) if each.commit in missing and each.commit not in found)

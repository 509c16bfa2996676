"""Checks the git history of the work: its branch, and the commits of completed tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swarmgate.domain.events.event import CommitMoved
from swarmgate.domain.state import completed_commits
from swarmgate.domain.state.completed_commits import Landed
from swarmgate.domain.state.phase_verdict import phase_commits
from swarmgate.domain.state.state import State
from swarmgate.errors import CommitLost, WorkspaceError
from swarmgate.workspace.git import history
from swarmgate.workspace.git.changes import reverting
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.history import TreeCommit
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.git.revisions import parent

_NAMED = 3
"""As many commits, tasks or files are named; the rest is counted."""


@dataclass(frozen=True)
class Compared:
    """What became of the commits of completed tasks.

    Attributes:
        moved: the events for those that the user rewrote.
        lost: those that are gone.
        reverted: by task, its commit and the one that took its change back.
        restored: tasks that are to be done again, each with its former commit, of which the branch has the change.
    """

    moved: tuple[CommitMoved, ...] = ()
    lost: tuple[Landed, ...] = ()
    reverted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    restored: tuple[tuple[str, str], ...] = ()


def require_on_branch(state: State, repository: Repository, here: str, *, command: str = "swarm run") -> None:
    """Makes sure that the branch of the work is checked out, once there is one.

    Args:
        state: names it.
        repository: where it is.
        here: the branch that is checked out; empty: none.
        command: what the user would do there.

    Raises:
        WorkspaceError: it is not; the hint says how to get there.
    """
    if not state.branch or here == state.branch:
        return
    done = completed_commits.landed(state)
    newest = done[-1].commit if done else state.base
    gone = not repository.branch_exists(state.branch)
    way = f"git switch -c {state.branch} {newest[:12]}" if gone and newest else f"git switch {state.branch}"
    raise WorkspaceError(
        f"The work is on branch {state.branch}, and {here or 'no branch'} is checked out.",
        hint=f"{way}, then: {command}",
    )


def standing(state: State, root: Path) -> tuple[CommitMoved, ...]:
    """The same as `standing_at`, at the tip of the branch of the work, whatever is checked out."""
    if not state.branch:
        return ()
    repository = Repository.discover(root)
    return standing_at(state, repository, history.tip(repository, state.branch))


def phase_base(state: State, repository: Repository, number: int) -> str:
    """The commit that a phase began on; a commit that a rewritten history does not have any more began nothing."""
    made, head = list(phase_commits(state, number)), repository.head()
    gone = history.missing(repository, head, made)
    return parent(repository, next((commit for commit in made if commit not in gone), head))


def is_lost(state: State, root: Path, task: str) -> bool:
    """Whether nothing in the history holds the work of a completed task any more, or a later commit took it back."""
    repository = Repository.discover(root)
    found = compared(state, repository, history.tip(repository, state.branch))
    return task in found.reverted or any(each.task == task for each in found.lost)


def vouched(state: State, root: Path, task: str, reason: str) -> list[CommitMoved]:
    """Returns the events where the user says that the history holds lost work in another form; else none."""
    if not is_lost(state, root, task):
        return []
    newest = history.tip(Repository.discover(root), state.branch)
    return [CommitMoved(task=task, was=state.task(task).commit, commit=newest, reason=reason)]


def standing_at(state: State, repository: Repository, tip: str) -> tuple[CommitMoved, ...]:
    """Returns the events for completed tasks whose commits the user rewrote; usually none.

    Args:
        state: names the tasks.
        repository: where their commits are.
        tip: the newest commit of the branch of the work.

    Raises:
        CommitLost: one of the commits is gone, and nothing in the history holds the same; or a later one took its
            change back.
        WorkspaceError: the branch has the change of a task that was undone.
    """
    found = compared(state, repository, tip)
    if found.lost:
        raise _lost(state, repository, found.lost, tip)
    if found.reverted:
        raise _taken_back(found.reverted)
    if found.restored:
        raise _there_again(found.restored)
    return found.moved


def compared(state: State, repository: Repository, tip: str) -> Compared:
    """Compares the completed tasks on record with the history up to a commit."""
    done, tree = completed_commits.landed(state), repository.tree_of(tip)
    undone = completed_commits.withdrawn(state)
    restored = tuple((task, commit) for task, commit in undone if reverting.holds(repository, tree, commit))
    gone = history.missing(repository, tip, [each.commit for each in done])
    found: dict[str, str] = {}
    if gone:
        missing = [TreeCommit(each.commit, each.tree) for each in done if each.commit in gone]
        found = history.rewritten(repository, missing, since=state.base, tip=tip)
    now = {each.task: found.get(each.commit, each.commit) for each in done}
    back = reverting.taken_back(repository, tuple(now.values()), since=state.base, tip=tip)
    return Compared(
        moved=completed_commits.moved(state, found),
        lost=completed_commits.lost(state, gone, found),
        reverted={task: (commit, back[commit]) for task, commit in now.items() if commit in back},
        restored=restored,
    )


def problem(state: State, root: Path) -> str:
    """Says how the history has gone apart from the ledger, and the way back; empty: it has not."""
    try:
        standing(state, root)
    except WorkspaceError as error:
        return f"{error.message} -> {error.hint}" if error.hint else error.message
    return ""


def _taken_back(reverted: Mapping[str, tuple[str, str]]) -> CommitLost:
    named = ", ".join(f"task {task} ({was[:12]} by {by[:12]})" for task, (was, by) in list(reverted.items())[:_NAMED])
    more = f" and {len(reverted) - _NAMED} more" if len(reverted) > _NAMED else ""
    task, (_, by) = list(reverted.items())[-1]
    return CommitLost(
        f"Completed work was reverted, and is complete on record: {named}{more}.",
        tasks=tuple(reverted),
        hint=f'If you meant it: swarm undo {task} has it done again, swarm skip {task} --reason "..." gives it up. '
        f'If not: git revert {by[:12]} brings it back, then: swarm run. swarm override {task} --reason "..." says that '
        "the history holds it in another form",
    )


def _there_again(restored: Sequence[tuple[str, str]]) -> WorkspaceError:
    named = ", ".join(f"task {task} ({commit[:12]})" for task, commit in restored[:_NAMED])
    more = f" and {len(restored) - _NAMED} more" if len(restored) > _NAMED else ""
    task, commit = restored[-1]
    return WorkspaceError(
        f"What was undone is in the branch again, so that nothing would be left to do: {named}{more}.",
        hint=f"git revert {commit[:12]} takes it out, then: swarm run. Or it stays as it is, and the task is given up: "
        f'swarm skip {task} --reason "..."',
    )


def _lost(state: State, repository: Repository, lost: tuple[Landed, ...], tip: str) -> CommitLost:
    named = ", ".join(f"task {each.task} ({each.commit[:12]})" for each in lost[:_NAMED])
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    newest, task = lost[-1].commit, lost[0].task
    if history.contains(repository, newest, tip):
        back = f"git merge --ff-only {newest[:12]}"
    else:
        back = f"git cherry-pick {' '.join(each.commit[:12] for each in lost)}"
    if call(repository.root, "rev-parse", "--is-shallow-repository")[1].strip() == b"true":
        back = f"git fetch --unshallow, since this clone is shallow; where that is not why, {back}"
    return CommitLost(
        f"Completed work is not in branch {state.branch} any more: {named}{more}.",
        tasks=tuple(each.task for each in lost),
        hint=f"To bring it back: {back} (git reflog shows what moved the branch), then: swarm run. If you meant it: "
        f'swarm retry {task} has it done again, swarm skip {task} --reason "..." gives it up, '
        f'swarm override {task} --reason "..." says that the history holds it in another form',
    )

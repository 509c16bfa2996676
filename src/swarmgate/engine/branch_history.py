"""Checks the git history of the work: its branch, and the commits of completed tasks."""

from __future__ import annotations

from pathlib import Path

from swarmgate.domain.events.event import CommitMoved
from swarmgate.domain.state import completed_commits
from swarmgate.domain.state.completed_commits import Landed
from swarmgate.domain.state.state import State
from swarmgate.errors import CommitLost, WorkspaceError
from swarmgate.workspace.git import history
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.history import TreeCommit
from swarmgate.workspace.git.repository import Repository

_NAMED = 3
"""As many commits, tasks or files are named; the rest is counted."""


def require_on_branch(state: State, repository: Repository, here: str) -> None:
    """Makes sure that the branch of the work is checked out, once there is one.

    Args:
        state: names it.
        repository: where it is.
        here: the branch that is checked out; empty: none.

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
        hint=f"{way}, then: swarm run",
    )


def standing(state: State, root: Path) -> tuple[CommitMoved, ...]:
    """The same as `standing_at`, at the tip of the branch of the work, whatever is checked out."""
    if not state.branch:
        return ()
    repository = Repository.discover(root)
    return standing_at(state, repository, history.tip(repository, state.branch))


def is_lost(state: State, root: Path, task: str) -> bool:
    """Whether nothing in the history holds the commit of a completed task any more."""
    try:
        standing(state, root)
    except CommitLost as error:
        return task in error.tasks
    return False


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
        CommitLost: one of the commits is gone, and nothing in the history holds the same.
    """
    done = completed_commits.landed(state)
    gone = history.missing(repository, tip, [each.commit for each in done])
    if not gone:
        return ()
    missing = [TreeCommit(each.commit, each.tree) for each in done if each.commit in gone]
    found = history.rewritten(repository, missing, since=state.base, tip=tip)
    if lost := completed_commits.lost(state, gone, found):
        raise _lost(state, repository, lost, tip)
    return completed_commits.moved(state, found)


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

"""Commits of exactly one change set, their undoing, and finding them again by their trailers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import CommitRefused, WorkspaceError
from swarmgate.workspace import diffs, paths
from swarmgate.workspace.driver import call, failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.change import ChangeSet
    from swarmgate.workspace.diffs import Raw
    from swarmgate.workspace.driver import Driver

TASK_TRAILER = "Swarm-Task"
"""The trailer that marks a commit as the work of one task."""

_NO_IDENTITY = ("tell me who you are", "empty ident", "auto-detect email", "no email was given", "no name was given")


class Commit(Frozen):
    """A commit by its ids: its own, its tree's, its first parent's."""

    id: str
    tree: str
    parent: str


class TaskCommit(Commit):
    """A commit with its trailers; of a key that is given twice the last value stands."""

    trailers: dict[str, str]


def commit(git: Driver, change: ChangeSet, message: str, trailers: Sequence[tuple[str, str]]) -> Commit:
    """Commit `change` on top of HEAD; the contract is `Repository.commit`'s."""
    wanted = {paths.encode(path) for path in change.paths}
    entries = [entry for entry in diffs.raw(git, change.base, change.tree) if entry.path in wanted]
    if not entries:
        raise WorkspaceError("there is nothing to commit: the change set is empty")
    if (git.git_dir / "index.lock").exists():
        raise failure("commit", f"fatal: {git.git_dir / 'index.lock'} exists")
    head = _head(git)
    # A scratch index, as `git commit -- <paths>` makes: what the user has staged stays staged, and a refusal leaves
    # nothing to clean up.
    with git.index() as index:
        git.run("read-tree", "--reset", "HEAD", index=index)
        _put(git, entries, index=index)
        _commit(git, index, _with_trailers(message, trailers))
    made = _head(git)
    if made.parent != head.id:
        raise WorkspaceError("git reported success, and HEAD is not the new commit: a hook moved it")
    _follow(git, head.tree, made.tree)
    return made


def undo(git: Driver, commit: Commit) -> None:
    """Take back the newest commit, files stay; the contract is `Repository.undo_commit`'s."""
    parent_tree = git.run("rev-parse", "--verify", f"{commit.parent}^{{tree}}").decode().strip()
    if _head(git).id != commit.id:
        raise WorkspaceError(f"commit {commit.id[:10]} cannot be undone: it is not the newest commit of this branch")
    git.run("update-ref", "-m", "swarm: undo commit", "HEAD", commit.parent, commit.id)
    _follow(git, commit.tree, parent_tree)


def take_up(git: Driver, commit: Commit) -> None:
    """Bring the index along to a commit of HEAD; the contract is `Repository.take_up`'s."""
    parent_tree = git.run("rev-parse", "--verify", f"{commit.parent}^{{tree}}").decode().strip()
    _follow(git, parent_tree, commit.tree)


def task_commits(git: Driver, since: str | None) -> tuple[TaskCommit, ...]:
    """The commits of `since`..HEAD that carry a `Swarm-Task` trailer, oldest first; all of HEAD's when None."""
    revisions = f"{since}..HEAD" if since else "HEAD"
    log = git.run(
        "log",
        "--reverse",
        f"--grep=^{TASK_TRAILER}:",
        "--format=%H %T %P%x1f%(trailers:only=true,unfold=true)%x1e",
        "--end-of-options",
        revisions,
    )
    commits = [_parse(record) for record in log.decode(errors="replace").split("\x1e") if record.strip()]
    return tuple(commit for commit in commits if TASK_TRAILER in commit.trailers)


def find(git: Driver, trailers: Mapping[str, str], since: str) -> Commit | None:
    """The newest task commit in `since`..HEAD with these trailers."""
    for found in reversed(task_commits(git, since)):
        if trailers.items() <= found.trailers.items():
            return Commit(id=found.id, tree=found.tree, parent=found.parent)
    return None


def _parse(record: str) -> TaskCommit:
    ids, _, block = record.strip().partition("\x1f")
    commit_id, tree, *parents = ids.split()
    pairs = (line.partition(":") for line in block.splitlines() if ":" in line)
    trailers = {key.strip(): value.strip() for key, _, value in pairs}
    return TaskCommit(id=commit_id, tree=tree, parent=parents[0] if parents else "", trailers=trailers)


def _head(git: Driver) -> Commit:
    commit_id, tree, *parents = git.run("log", "-1", "--format=%H %T %P").decode().split()
    return Commit(id=commit_id, tree=tree, parent=parents[0] if parents else "")


def _with_trailers(message: str, trailers: Sequence[tuple[str, str]]) -> bytes:
    block = "\n".join(f"{key}: {' '.join(value.split())}" for key, value in trailers)
    return f"{message.strip()}\n\n{block}\n".encode(errors="replace")


def _commit(git: Driver, index: Path, message: bytes) -> None:
    """Plain `git commit`: the user's configuration, identity, signing and hooks apply."""
    env = {"GIT_INDEX_FILE": str(index), "LC_ALL": os.environ.get("LC_ALL", "")}  # hooks keep the user's language
    code, out, err = call(git.root, "commit", "--quiet", "--cleanup=whitespace", "--file=-", stdin=message, env=env)
    if not code:
        return
    output = (out.decode(errors="replace") + err).strip()
    if any(mark in output for mark in _NO_IDENTITY):
        raise WorkspaceError(
            "git does not know who commits: no name or e-mail address is configured",
            hint='git config user.name "Your Name" && git config user.email you@example.com',
        )
    lines = output.splitlines()
    raise CommitRefused(
        f"the commit was refused by git or by a hook: {lines[-1] if lines else f'exit code {code}'}",
        output=output,
        hint="the files are as they were and nothing is staged; mend what the hook names, then run again",
    )


def _follow(git: Driver, old: str, new: str) -> None:
    """Bring the user's index along when HEAD moves between two trees; other staged changes stay staged."""
    _put(git, diffs.raw(git, old, new), index=None)
    # Fill in the new entries' file times, so that the next snapshot need not read these files again. Exit code 1 only
    # says that some files differ.
    call(git.root, "update-index", "-q", "--refresh")


def _put(git: Driver, entries: Iterable[Raw], *, index: Path | None) -> None:
    """Set index entries to the new side of `entries`; removals first, for a file that became a folder."""
    ordered = sorted(entries, key=lambda entry: entry.new_mode != diffs.ABSENT)
    lines = (
        (
            b"0 " + b"0" * len(entry.new_id)
            if entry.new_mode == diffs.ABSENT
            else f"{entry.new_mode} {entry.new_id}".encode()
        )
        + b"\t"
        + entry.path
        + b"\0"
        for entry in ordered
    )
    git.run("update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)

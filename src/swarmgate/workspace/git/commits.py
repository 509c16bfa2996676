"""Creates commits of exactly one change set, sets commits aside, and finds task commits by their trailers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import CommitRefused, HeadMoved, WorkspaceError
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.git.changes import diffs
from swarmgate.workspace.git.driver import Driver, call, failure, locked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.workspace.git.changes.diffs import Entry
    from swarmgate.workspace.git.locks import Locks

TASK_TRAILER = "Swarm-Task"
"""The trailer that marks a commit as the work of one task."""

ATTEMPTS_TRAILER = "Swarm-Attempts"
"""The trailer that says which attempt at the task it is."""

UNDO_TRAILER = "Swarm-Undo"
"""The trailer that marks a commit as the revert of a task's: the task's id, and the id of its commit."""

SET_ASIDE = "refs/swarm/set-aside"
"""Where commits are named that were taken off a branch."""

_REFUSED = 1
"""The exit code of `git commit` where a hook said no; where git itself could not, it is 128."""
_BY_HOOK = "ref updates aborted by hook"

_NO_IDENTITY = ("tell me who you are", "empty ident", "auto-detect email", "no email was given", "no name was given")


class Commit(Frozen):
    """A commit by its ids: its own, its tree's, its first parent's."""

    id: str
    tree: str
    parent: str


class TaskCommit(Commit):
    """A commit with its trailers; of a key that is given twice the last value stands."""

    trailers: dict[str, str]


def commit(
    git: Driver, locks: Locks, change: ChangeSet, message: str, trailers: Sequence[tuple[str, str]], *, onto: str = ""
) -> Commit:
    """Commit `change` on top of HEAD; the contract is `Repository.commit`'s."""
    entries = diffs.entries(change, change.paths)
    if not entries:
        raise WorkspaceError("there is nothing to commit: the change set is empty")
    place = git.run("rev-parse", "--symbolic-full-name", "HEAD").decode().strip()
    free = ("index.lock", "HEAD.lock", *([f"{place}.lock"] if place.startswith("refs/") else []))
    head = locks.take("commit", lambda: _on_top(git, entries, _with_trailers(message, trailers), onto), free=free)
    made = _made(git, locks, head, dict(trailers))
    follow(git, locks, head.id, made.id)
    return made


def commit_first(git: Driver, locks: Locks, tree: str, message: str) -> Commit:
    """Commit a tree where there is no commit; the contract is `Repository.commit_first`'s."""

    def make() -> None:
        with exclusive.folder(git.git_dir), git.index(copied=False) as index:
            git.read_tree(tree, index)
            if not call(git.root, "rev-parse", "--verify", "--quiet", "HEAD")[0]:  # from here on git itself looks
                raise HeadMoved(
                    "somebody else made the first commit at the same moment", hint="run it again: swarm init"
                )
            _commit(git, index, f"{message}\n".encode(), "--allow-empty")

    locks.take("commit", make, free=("index.lock", "HEAD.lock"))
    made = read(git)
    follow(git, locks, git.empty_tree, made.id)
    return made


def _on_top(git: Driver, entries: Sequence[Entry], message: bytes, onto: str) -> Commit:
    """Makes the commit, and gives the one that HEAD was before."""
    head = read(git)
    if onto and not stands(git, onto, head):
        raise HeadMoved(f"HEAD is {head.id[:12]}, not {onto[:12]}")
    # A scratch index, as `git commit -- <paths>` makes: what the user has staged stays staged, and a refusal leaves
    # nothing to clean up.
    with git.index() as index:
        git.run("read-tree", "--reset", head.id, index=index)
        diffs.enter(git, entries, index=index)
        try:
            _commit(git, index, message)
        except CommitRefused as error:
            if (now := read(git).id) != head.id:  # whatever git says then, it judged another commit
                raise HeadMoved(f"HEAD became {now[:12]} while the hooks of the commit ran") from error
            raise
    return head


def stands(git: Driver, base: str, made: Commit) -> bool:
    """Whether a commit is `base`, or stands on it with nothing between but commits of other folders."""
    if base == made.id or not git.prefix:
        return base == made.id
    return git.trees([base]) == [made.tree] and not call(git.root, "merge-base", "--is-ancestor", base, made.id)[0]


def _made(git: Driver, locks: Locks, head: Commit, trailers: Mapping[str, str]) -> Commit:
    """The commit that was just made on `head`, which need not be the newest any more.

    Raises:
        HeadMoved: somebody committed at the same moment, so that ours holds the files as they were before that. It is
            set aside; below a newer one it stays, and is named.
        WorkspaceError: a hook took it back.
    """
    made = read(git)
    if made.parent == head.id:
        return made
    found = find(git, trailers, head.id)
    if found is None:
        raise WorkspaceError(
            f"git reported success, and HEAD is {made.id[:12]}: a hook took the commit back",
            hint="mend the hook (post-commit, post-rewrite), then: swarm run",
        )
    if found.parent == head.id:
        return found
    if found.id == made.id:
        advice = f"the task's own, made at the same moment, is kept as {set_aside(git, locks, found, found.parent)}"
    else:
        command = f"git rebase --onto {found.parent[:12]} {found.id[:12]}"
        advice = f"the task's own, {found.id[:12]}, takes back what {found.parent[:12]} did: {command} takes it out"
    raise HeadMoved(f"{found.parent[:12]} was committed while the commit of the task was made", left=advice)


def set_aside(git: Driver, locks: Locks, head: Commit, to: str) -> str:
    """Move the branch from `head` to another commit; the contract is `Repository.set_aside`'s."""
    name = f"{SET_ASIDE}/{head.id[:12]}"

    def move() -> None:
        if read(git).id != head.id:
            raise HeadMoved(f"commit {head.id[:12]} is not the newest commit of this branch any more")
        git.run("update-ref", "-m", "swarm: set aside", name, head.id)
        git.run("update-ref", "-m", f"swarm: {head.id[:12]} set aside", "HEAD", to, head.id)

    locks.take("update-ref", move)
    follow(git, locks, head.id, to)
    return name


def take_up(git: Driver, locks: Locks, commit: Commit) -> None:
    """Bring the index along to a commit of HEAD; the contract is `Repository.take_up`'s."""
    follow(git, locks, commit.parent, commit.id)


def task_commits(git: Driver, since: str | None, *, trailer: str = TASK_TRAILER) -> tuple[TaskCommit, ...]:
    """The commits of `since`..HEAD (None: of HEAD) that carry a `Swarm-Task` trailer, or another one, oldest first.

    Of several projects in one work tree each has its own: those that change its folder.
    """
    revisions = f"{since}..HEAD" if since else "HEAD"
    own = ("--", ".") if git.prefix else ()
    log = git.run(
        "log",
        "--reverse",
        f"--grep=^{trailer}:",
        "--full-history",
        "--format=%H %T %P%x1f%(trailers:only=true,unfold=true)%x1e",
        "--end-of-options",
        revisions,
        *own,
    )
    return _of_project(git, [commit for commit in _parsed(log) if trailer in commit.trailers])


def named(git: Driver, revisions: str) -> tuple[TaskCommit, ...]:
    """The commits of a range (`A..B`), oldest first, or the one that a revision names, with the project's trees.

    Raises:
        WorkspaceError: git knows no such revision.
    """
    only = () if ".." in revisions else ("--max-count=1",)
    form = "--format=%H %T %P%x1f%(trailers:only=true,unfold=true)%x1e"
    return _of_project(git, _parsed(git.run("log", "--reverse", *only, form, "--end-of-options", revisions, "--")))


def _parsed(log: bytes) -> list[TaskCommit]:
    return [_parse(record) for record in log.decode(errors="replace").split("\x1e") if record.strip()]


def _of_project(git: Driver, found: Sequence[TaskCommit]) -> tuple[TaskCommit, ...]:
    """The commits with the trees of the project instead of those of the whole work tree."""
    trees = git.trees([each.id for each in found]) if git.prefix else [each.tree for each in found]
    return tuple(each.model_copy(update={"tree": tree}) for each, tree in zip(found, trees, strict=True))


def find(git: Driver, trailers: Mapping[str, str], since: str) -> Commit | None:
    """The newest commit of a task, or of its revert, in `since`..HEAD with these trailers."""
    trailer = UNDO_TRAILER if UNDO_TRAILER in trailers else TASK_TRAILER
    for found in reversed(task_commits(git, since, trailer=trailer)):
        if trailers.items() <= found.trailers.items():
            return Commit(id=found.id, tree=found.tree, parent=found.parent)
    return None


def _parse(record: str) -> TaskCommit:
    ids, _, block = record.strip().partition("\x1f")
    commit_id, tree, *parents = ids.split()
    pairs = (line.partition(":") for line in block.splitlines() if ":" in line)
    trailers = {key.strip(): value.strip() for key, _, value in pairs}
    return TaskCommit(id=commit_id, tree=tree, parent=parents[0] if parents else "", trailers=trailers)


def read(git: Driver, revision: str = "HEAD") -> Commit:
    """One commit, by its name."""
    commit_id, tree, *parents = git.run("log", "-1", "--format=%H %T %P", revision, "--").decode().split()
    tree = git.trees([commit_id])[0] if git.prefix else tree
    return Commit(id=commit_id, tree=tree, parent=parents[0] if parents else "")


def _with_trailers(message: str, trailers: Sequence[tuple[str, str]]) -> bytes:
    block = "\n".join(f"{key}: {' '.join(value.split())}" for key, value in trailers)
    return f"{message.strip()}\n\n{block}\n".encode(errors="replace")


def _commit(git: Driver, index: Path, message: bytes, *options: str) -> None:
    """Plain `git commit`: the user's configuration, identity, signing and hooks apply.

    It starts no housekeeping of the repository, which would go on, and hold locks, after it.
    """
    env = {"GIT_INDEX_FILE": str(index), "LC_ALL": os.environ.get("LC_ALL", "")}  # hooks keep the user's language
    quiet = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
    wanted = ("commit", "--quiet", "--cleanup=whitespace", "--file=-", *options)
    code, out, err = call(git.root, *quiet, *wanted, stdin=message, env=env)
    if not code:
        return
    output = (out.decode(errors="replace") + err).strip()
    if any(mark in output for mark in _NO_IDENTITY):
        raise WorkspaceError(
            "git does not know who commits: no name or e-mail address is configured",
            hint='git config user.name "Your Name" && git config user.email you@example.com',
        )
    if (code != _REFUSED and _BY_HOOK not in err) or locked(err):  # a hook, too, may have met a lock
        raise failure("commit", err)
    lines = output.splitlines()
    raise CommitRefused(
        f"the commit was refused by git or by a hook: {lines[-1] if lines else f'exit code {code}'}",
        output=output,
        hint="the files are as they were and nothing is staged; mend what the hook names, then run again",
    )


def follow(git: Driver, locks: Locks, old: str, new: str) -> None:
    """Bring the user's index along when HEAD moves between two commits; other staged changes stay staged.

    What a hook or an agent without a sandbox committed outside of the project's folder follows as well.
    """
    whole = Driver(git.top)
    entries = [each.entry for each in diffs.raw(whole, f"{old}^{{tree}}", f"{new}^{{tree}}")]

    def along() -> None:
        diffs.enter(whole, entries, index=None)
        # Fill in the new entries' file times, so that the next snapshot need not read these files again. Exit code 1
        # only says that some files differ.
        call(git.root, "update-index", "-q", "--refresh")

    locks.take("update-index", along)

"""The user's git repository: where it is, what state it is in, snapshots of its files, and commits."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement, NotAProject, WorkspaceError
from swarmgate.workspace import commits, diffs, paths, restoring
from swarmgate.workspace.driver import OUTSIDE, Driver, call, failure

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from swarmgate.domain.change import ChangeSet
    from swarmgate.workspace.commits import Commit, TaskCommit

_MINIMUM_GIT = (2, 30)
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
_ARGUMENTS = 200
"""Up to how many paths go to git as arguments; beyond, the whole tree is listed."""


class Repository:
    """A git work tree. Ids are hexadecimal object ids, paths are repository-relative texts (`workspace.paths`).

    Every method may raise `WorkspaceError` with git's reason.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._git = Driver(root)

    @classmethod
    def discover(cls, start: Path) -> Repository:
        """The repository that `start`, a folder at any depth in it, belongs to.

        Raises:
            NotAProject: there is no work tree here (no repository, a bare one, or inside `.git`).
            WorkspaceError: it has no commit yet, or `GIT_DIR` and its like redirect git.
            MissingRequirement: git is missing or older than 2.30.
        """
        if not start.is_dir():
            raise NotAProject(f"{start} is not a folder")
        redirected = next((name for name in _REDIRECTIONS if os.environ.get(name)), "")
        if redirected:
            raise WorkspaceError(f"{redirected} is set, which redirects git elsewhere", hint=f"unset {redirected}")
        _require_git(start)
        code, out, err = call(start, "rev-parse", "--is-bare-repository", "--show-toplevel")
        if code or not out.startswith(b"false\n"):
            raise _no_work_tree(start, out, err)
        root = Path(os.fsdecode(out.split(b"\n", 1)[1].removesuffix(b"\n"))).resolve()
        if call(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")[0]:
            raise WorkspaceError(
                f"the repository {root} has no commit yet", hint='git add -A && git commit -m "Initial commit"'
            )
        return cls(root)

    def require_quiet(self) -> None:
        """Refuse to go on while a merge, rebase, cherry-pick, revert or bisect is unfinished, or conflicts stand.

        Raises:
            WorkspaceError: naming what is unfinished.
        """
        for name, action in _UNFINISHED.items():
            if (self._git.git_dir / name).exists():
                hint = "git bisect reset" if action == "bisect" else f"git {action} --continue, or git {action} --abort"
                raise WorkspaceError(f"a {action} is in progress in {self.root}", hint=hint)
        conflicts = self._git.records("ls-files", "-z", "--unmerged")
        if conflicts:
            path = paths.decode(conflicts[0].split(b"\t", 1)[1])
            raise WorkspaceError(
                f"`{path}` has conflicts that are not resolved", hint=f"resolve them, then git add {path}"
            )

    def head(self) -> str:
        """The commit that HEAD names."""
        return self._line("rev-parse", "--verify", "HEAD^{commit}")

    def head_tree(self) -> str:
        """The tree of HEAD's commit."""
        return self._line("rev-parse", "--verify", "HEAD^{tree}")

    def tree_of(self, revision: str) -> str:
        """The tree of a revision that the user named.

        Raises:
            WorkspaceError: git knows no such revision.
        """
        code, out, _ = call(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
        if code:
            raise WorkspaceError(f"git knows no revision `{revision}`", hint="see: git log --oneline, git branch")
        return out.decode().strip()

    def branch(self) -> str | None:
        """The current branch; None when HEAD is detached."""
        name = self._line("branch", "--show-current")
        return name or None

    def branch_exists(self, name: str) -> bool:
        """Whether there is a local branch of that name."""
        return call(self.root, "show-ref", "--verify", "--quiet", f"refs/heads/{name}")[0] == 0

    def create_branch(self, name: str) -> None:
        """Make the branch `name` at HEAD and switch to it; files and index stay as they are.

        Raises:
            WorkspaceError: the name is taken or is no branch name.
        """
        code, _, err = call(self.root, "switch", "--quiet", "--create", name)
        if code:
            raise failure(f"switch to the new branch `{name}`", err)

    def dirty(self) -> tuple[str, ...]:
        """What is not committed: tracked or untracked, not ignored, outside `.swarm/`."""
        options = ("--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
        records = self._git.records("status", "--porcelain=v1", "-z", *options, "--", ".", OUTSIDE)
        # Twice is what git says of a file that is gone from the index and untracked in its place.
        return tuple(dict.fromkeys(paths.decode(record[3:]) for record in records))

    def stash(self, message: str) -> bool:
        """Stash all that `dirty` names, untracked files too; False when there was nothing to stash."""
        listing = b"".join(paths.encode(path) + b"\0" for path in self.dirty())
        if not listing:
            return False
        options = ("--include-untracked", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
        self._git.run("stash", "push", *options, "--message", message, stdin=listing)
        return True

    def snapshot(self) -> str:
        """The id of a tree that holds the work tree as it is now; index, stash and files are not touched.

        In it: tracked files as they are on disk, and untracked ones that are neither ignored nor a tool's artefact
        (`driver.ARTEFACTS`). `.swarm/` is as in HEAD.
        """
        with self._git.index() as index:
            # Out of the index, ignored, and back as in HEAD: `git add` with an exclude pathspec fails where the user's
            # .gitignore names the same folder, and would store the growing ledger with every snapshot where not.
            tracked = self._tracks_swarm or _may_hold(index, b".swarm/")
            if tracked:
                out = ("rm", "--cached", "-r", "--quiet", "--force", "--ignore-unmatch", "--", ".swarm")
                self._git.run(*out, index=index)
            self._git.run("add", "--all", "--", ".", index=index)
            if tracked:
                self._git.run("reset", "--quiet", "HEAD", "--", ".swarm", index=index)
            return self._git.run("write-tree", index=index).decode().strip()

    @cached_property
    def _tracks_swarm(self) -> bool:
        """Whether HEAD, as it was at first use, holds `.swarm/`. Where it does not, a snapshot costs half the calls."""
        return bool(self._git.records("ls-tree", "-z", "--name-only", "HEAD", "--", ".swarm"))

    def changes(self, base: str, tree: str) -> ChangeSet:
        """What differs from the tree `base` to the tree `tree`, outside `.swarm/`.

        A text file whose lines an attribute declares binary is still counted as text.
        """
        return diffs.changes(self._git, base, tree)

    def patch(self, base: str, tree: str) -> bytes:
        """The same difference as a patch for `git apply`, binary files included."""
        return diffs.patch(self._git, base, tree)

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path in `tree`, submodules included."""
        return tuple(paths.decode(raw) for raw in self._git.records("ls-tree", "-r", "-z", "--name-only", tree))

    def read(self, tree: str, path: str) -> bytes | None:
        """The content of one file of `tree` (of a symbolic link: its target); None when it is not a file there."""
        return self.read_many(tree, (path,)).get(path)

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those `wanted` paths that are files in `tree`."""
        raws = {paths.encode(path): path for path in wanted if path}
        if not raws:
            return {}
        limited = [os.fsdecode(raw) for raw in raws] if len(raws) <= _ARGUMENTS else []
        blobs: dict[str, str] = {}
        for record in self._git.records("ls-tree", "-r", "-z", tree, "--", *limited):
            header, _, raw = record.partition(b"\t")
            _, kind, blob = header.decode().split()
            if kind == "blob" and raw in raws:
                blobs[raws[raw]] = blob
        contents = self._blobs(sorted(set(blobs.values())))
        return {path: contents[blob] for path, blob in blobs.items()}

    def restore(self, tree: str, *, quarantine: Path, only: Collection[str] | None = None) -> tuple[str, ...]:
        """Make the files of the work tree those of `tree`, so that `snapshot()` gives it again (less `.swarm/`).

        What stands at a differing path is copied below `quarantine` first, which is created only when needed. Ignored
        files, `.swarm/` and paths that do not differ are not touched; folders that become empty are removed.

        With `only`, other paths than these stay as they are.

        Returns:
            The paths that were written or removed, sorted.

        Raises:
            WorkspaceError: a submodule stands at another commit, or a file cannot be written.
        """
        return restoring.restore(self._git, tree, snapshot=self.snapshot, quarantine=quarantine, only=only)

    def commit(self, change: ChangeSet, message: str, trailers: Sequence[tuple[str, str]]) -> Commit:
        """Commit exactly the files of `change`, with the content that they have in `change.tree`.

        The user's hooks, identity and signing apply. A hook may change what is committed: compare the commit's tree
        with the one that passed. What else is staged or modified stays so.

        Raises:
            CommitRefused: git or a hook refused; nothing is committed or staged.
            WorkspaceError: the change is empty, no identity is configured, or another git process holds the index.
        """
        return commits.commit(self._git, change, message, trailers)

    def undo_commit(self, commit: Commit) -> None:
        """Take back `commit` if HEAD is exactly that; the files stay as they are, uncommitted and unstaged.

        Raises:
            WorkspaceError: HEAD is another commit.
        """
        commits.undo(self._git, commit)

    def rewind(self, commit: str) -> None:
        """Move the branch back to one of its earlier commits; the files stay as they are, uncommitted and unstaged.

        Raises:
            WorkspaceError: HEAD does not descend from it.
        """
        if call(self.root, "merge-base", "--is-ancestor", commit, "HEAD")[0]:
            raise WorkspaceError(f"HEAD does not descend from {commit[:10]}", hint="see: git log --oneline --graph")
        self._git.run("update-ref", "-m", "swarm: commits of an agent taken back", "HEAD", commit)
        self._git.run("reset", "--quiet", "--mixed", commit)

    def find_commit(self, trailers: Mapping[str, str], *, since: str) -> Commit | None:
        """The newest task commit after `since` that carries all these trailers: did a crash come after the commit?"""
        return commits.find(self._git, trailers, since)

    def take_up(self, commit: Commit) -> None:
        """Finish what a crash right after `commit` cut off: the user's index follows HEAD; all else stays staged."""
        commits.take_up(self._git, commit)

    def task_commits(self, since: str | None = None) -> tuple[TaskCommit, ...]:
        """The commits after `since` (None: all that HEAD reaches) with a `Swarm-Task` trailer, oldest first."""
        return commits.task_commits(self._git, since)

    def _line(self, *args: str) -> str:
        return self._git.run(*args).decode(errors="surrogateescape").rstrip("\n")

    def _blobs(self, ids: Sequence[str]) -> dict[str, bytes]:
        if not ids:
            return {}
        out = self._git.run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in ids).encode())
        contents: dict[str, bytes] = {}
        position = 0
        for blob in ids:
            start = out.index(b"\n", position) + 1
            size = int(out[position : start - 1].split()[2])
            contents[blob] = out[start : start + size]
            position = start + size + 1
        return contents


def _may_hold(index: Path, path: bytes) -> bool:
    """Whether a git index may hold a path below this folder; version 4 compresses names, so there it always may."""
    data = index.read_bytes() if index.exists() else b""
    return path in data or data[4:8] == b"\0\0\0\4"


def _require_git(folder: Path) -> None:
    found = re.search(rb"(\d+)\.(\d+)", call(folder, "--version")[1])
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < _MINIMUM_GIT:
        raise MissingRequirement(
            f"git {version[0]}.{version[1]} is too old: swarmgate needs 2.30 or newer", hint="install a newer git"
        )


def _no_work_tree(start: Path, out: bytes, err: str) -> NotAProject | WorkspaceError:
    if out.startswith(b"true\n"):
        return NotAProject(f"{start} is a bare repository: it has no files to work on", hint="git clone it, work there")
    if "not a git repository" in err:
        return NotAProject(f"{start} is not in a git repository", hint="cd into your project, or: git init")
    if "work tree" in err:
        return NotAProject(f"{start} is inside a git folder, not in a work tree", hint="cd into your project")
    return failure("rev-parse", err)

"""The user's git repository: its location and state, snapshots of its files, and commits."""

from __future__ import annotations

import hashlib
import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths
from swarmgate.workspace.git import discovery  # commits and diffs are late: pydantic, 60 ms
from swarmgate.workspace.git.concealed import index_flags  # commits and diffs are late: pydantic, 60 ms
from swarmgate.workspace.git.driver import BIG, LEFT_OUT, OUTSIDE, Driver, call, failure
from swarmgate.workspace.git.folder import project_of
from swarmgate.workspace.git.locks import Locks
from swarmgate.workspace.git.trees import CACHED_BYTES, ID, Trees, remember

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.workspace.git.commits import Commit, TaskCommit

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
_REPOSITORY = b"\0\0\xe0\0"
"""How an entry of the index says that it is a commit of another repository: mode 160000 (gitformat-index(5))."""


class Repository(Trees):
    """The project's part of a git work tree: all of it, or one folder, of which alone it sees and changes anything.

    Ids are hexadecimal object ids. Trees hold the project's folder, and paths are texts that count from there
    (`workspace.files.paths`). Every method may raise `WorkspaceError` with git's reason.
    """

    def __init__(self, root: Path, *, unborn: bool = False, lenient: bool = False) -> None:
        super().__init__(root)
        self.unborn = unborn
        self._lenient = lenient
        self.not_followed: tuple[str, ...] = ()
        self.locks = Locks(self._git)
        self._unflagged: tuple[int, ...] | None = None  # the state of an index in which no entry has a flag
        # What names its own content cannot go stale: an index its tree, two trees their difference.
        self._written: dict[bytes, str] = {}
        self._changes: dict[tuple[str, str], ChangeSet] = {}
        self._patches: dict[tuple[str, str], bytes] = {}

    @classmethod
    def discover(cls, start: Path, *, lenient: bool = False) -> Repository:
        """The repository that `start`, a folder at any depth in it, belongs to.

        It begins at the nearest folder with a project, within the work tree, else at its top.

        Args:
            start: the folder.
            lenient: for who only reads: one without a commit will do (`unborn`: HEAD names nothing), and a repository
                without a commit in this one is left out of snapshots.

        Raises:
            NotAProject: there is no work tree here (no repository, a bare one, or inside `.git`).
            WorkspaceError: it has no commit yet, or `GIT_DIR`, `core.worktree` and their like redirect git.
            MissingRequirement: git is missing or older than 2.30.
        """
        top, unborn = discovery.find(start, lenient=lenient)
        root = project_of(start.resolve(), top) or top
        return cls(root, unborn=unborn, lenient=lenient)

    def require_quiet(self) -> None:
        """Refuse to go on while a merge, rebase, cherry-pick, revert or bisect is unfinished, or conflicts stand.

        Raises:
            WorkspaceError: naming what is unfinished.
        """
        action = self.unfinished()
        if action:
            hint = "git bisect reset" if action == "bisect" else f"git {action} --continue, or git {action} --abort"
            raise WorkspaceError(f"a {action} is in progress in {self.top}", hint=hint)
        conflicts = Driver(self.top).records("ls-files", "-z", "--unmerged")
        if conflicts:
            path = paths.decode(conflicts[0].split(b"\t", 1)[1])
            raise WorkspaceError(
                f"`{path}` has conflicts that are not resolved", hint=f"resolve them, then git add {path}"
            )

    def unfinished(self) -> str:
        """`merge`, `rebase` and so on, where one is in progress; else empty."""
        return next((action for name, action in _UNFINISHED.items() if (self._git.git_dir / name).exists()), "")

    def head(self) -> str:
        """The commit that HEAD names."""
        return self._line("rev-parse", "--verify", "HEAD^{commit}")

    def head_tree(self) -> str:
        """The project's tree in HEAD's commit."""
        return self._git.trees(["HEAD"])[0]

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

        def make() -> None:
            code, _, err = call(self.root, "switch", "--quiet", "--create", name)
            if code:
                raise failure(f"switch to the new branch `{name}`", err)

        self.locks.take("switch", make)

    def dirty(self) -> tuple[str, ...]:
        """What is not committed: tracked or untracked, not ignored, outside `.swarm/`."""
        options = ("--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
        state = _state(self._git.git_dir / "index")
        with self._git.index() as index:
            self._unflag_index(state, index)
            output = self._git.run("status", "--porcelain=v1", "-z", *options, "--", ".", OUTSIDE, index=index)
        # Twice is what git says of a file that is gone from the index and untracked in its place.
        found = (self._git.within(record[3:]) for record in output.split(b"\0")[:-1])
        return tuple(dict.fromkeys(map(paths.decode, found)))

    def stash(self, message: str) -> bool:
        """Stash all that `dirty` names, untracked files too; False when there was nothing to stash."""
        listing = b"".join(self._git.prefix + paths.encode(path) + b"\0" for path in self.dirty())
        if not listing:
            return False
        options = ("--include-untracked", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")

        def push() -> None:  # at the top: below it, git does not find untracked files that it is told of
            Driver(self.top).run("stash", "push", *options, "--message", message, stdin=listing)

        self.locks.take("stash", push, free=("index.lock",))  # of that one it says nothing
        left = self.dirty()
        if left:
            hint = f"git update-index --no-assume-unchanged --no-skip-worktree {left[0]}"
            raise WorkspaceError(
                f"git stash leaves `{left[0]}` as it is: it is marked as not to be looked at", hint=hint
            )
        return True

    def snapshot(self) -> str:
        """The id of a tree that holds the work tree as it is now; index, stash and files are not touched.

        In it: tracked files as they are on disk, whatever flags of the index say of them (`index_flags`), and
        untracked ones that are neither ignored nor a tool's artefact (`driver.ARTEFACTS`). `.swarm/` is as in HEAD. A
        repository in this one is the commit that it stands at; where that has none, it is an error, or left out and
        named in `not_followed` (`lenient`).
        """
        state = _state(self._git.git_dir / "index")
        with self._git.index() as index:
            self._unflag_index(state, index)
            # Out of the index, ignored, and back as in HEAD: `git add` with an exclude pathspec fails where the user's
            # .gitignore names the same folder, and would store the growing ledger with every snapshot where not.
            tracked = self._tracks_swarm or _may_hold(index, b".swarm/")
            if tracked:
                out = ("rm", "--cached", "-r", "--quiet", "--force", "--ignore-unmatch", "--", ".swarm")
                self._git.run(*out, index=index)
            self._add_all(index)
            if tracked and not self.unborn:
                self._git.run("reset", "--quiet", "HEAD", "--", ".swarm", index=index)
            return self._tree_in(index)

    def _unflag_index(self, state: tuple[int, ...], index: Path) -> None:
        """Takes the flags off the copy of an index that was in a state; one known to have none is not asked again."""
        if state != self._unflagged and not index_flags.unflag(self._git, index):
            self._unflagged = state

    def _tree_in(self, index: Path) -> str:
        """The tree of a scratch index; where another one of the same bytes was written before, that one's."""
        content = hashlib.sha256(index.read_bytes() if index.exists() else b"").digest()
        tree = self._written.pop(content, "") or self._git.write_tree(index)
        remember(self._written, content, tree)
        return tree

    def _add_all(self, index: Path) -> None:
        left_out: tuple[str, ...] = ()
        # Of a repository in this one that the index knows, `git add` would ask git there, whose own settings may name
        # programs to run; those may be an agent's work. `git update-index` only reads which commit it stands at.
        inner = self._inner(index)
        while True:
            without = [f"{LEFT_OUT}{path}" for path in (*left_out, *map(os.fsdecode, inner))]
            try:
                self._git.run("add", "--all", "--", ".", *without, index=index)
                if inner:
                    listing = b"".join(path + b"\0" for path in inner)
                    self._git.run("update-index", "--remove", "-z", "--stdin", stdin=listing, index=index)
            except WorkspaceError as error:
                # git names one at a time, and adds nothing at all.
                empty = re.search(r"'(.+)/' does not have a commit checked out", error.message)
                if not self._lenient or empty is None:
                    raise
                named = os.fsdecode(self._git.within(os.fsencode(empty[1])))
                if named in left_out:
                    raise
                left_out = (*left_out, named)
            else:
                self.not_followed = left_out
                return

    def _inner(self, index: Path) -> list[bytes]:
        """The repositories in this one that the index knows, submodules among them."""
        if not _may_hold(index, _REPOSITORY):
            return []
        listing = self._git.run("ls-files", "-s", "-z", index=index)
        entries = (record.partition(b"\t") for record in listing.split(b"\0"))
        return [path for entry, _, path in entries if entry.startswith(b"160000 ")]

    def staged_apart(self, head: str, tree: str) -> tuple[str, ...]:
        """The paths outside `.swarm/` of which the index holds something that neither of these trees has."""
        return index_flags.staged_apart(self._git, head, tree)

    @property
    def git_dir(self) -> Path:
        """The git folder of this work tree: of a linked one, its own."""
        return self._git.git_dir

    @cached_property
    def _tracks_swarm(self) -> bool:
        """Whether HEAD, as it was at first use, holds `.swarm/`. Where it does not, a snapshot costs half the calls."""
        return not self.unborn and bool(
            self._git.records("ls-tree", "-z", "--name-only", self.head_tree(), "--", ".swarm")
        )

    def changes(self, base: str, tree: str) -> ChangeSet:
        """What differs from the tree `base` to the tree `tree`, outside `.swarm/`.

        A text file whose lines an attribute declares binary is still counted as text.
        """
        from swarmgate.workspace.git.changes import diffs  # noqa: PLC0415 - late: see the imports above

        if not (ID.fullmatch(base) and ID.fullmatch(tree)):  # a name such as HEAD may mean another tree the next time
            return diffs.changes(self._git, base, tree)
        found = self._changes.get((base, tree))
        if found is None:  # an empty one is false
            found = diffs.changes(self._git, base, tree)
        remember(self._changes, (base, tree), found)
        return found

    def patch(self, base: str, tree: str) -> bytes:
        """The same difference as a patch for `git apply`, binary files included.

        Of a file above `BIG` bytes it only says that it differs: who would hold it in memory holds it several times.
        """
        from swarmgate.workspace.git.changes import diffs  # noqa: PLC0415 - late: see the imports above

        found = self._patches.get((base, tree))
        if found is None:
            files = self.changes(base, tree).files
            sizes = self.sizes(each for file in files for each in (file.old_id, file.new_id))
            big = (file for file in files if max(sizes.get(file.old_id, 0), sizes.get(file.new_id, 0)) > BIG)
            found = diffs.patch(self._git, base, tree, without=[path for file in big for path in file.touched])
        if ID.fullmatch(base) and ID.fullmatch(tree) and len(found) <= CACHED_BYTES:
            remember(self._patches, (base, tree), found)
        return found

    def restore(
        self, tree: str, *, quarantine: Path, only: Collection[str] | None = None, committed: bool = False
    ) -> tuple[str, ...]:
        """Make the files of the work tree those of `tree`, so that `snapshot()` gives it again (less `.swarm/`).

        What stands at a differing path is copied below `quarantine` first, which is created only when needed. Ignored
        files, `.swarm/` and paths that do not differ are not touched; folders that become empty are removed.

        With `only`, other paths than these stay as they are. With `committed`, what the caller knows to be committed
        as it stands is not copied: only files that git does not follow are.

        Returns:
            The paths that were written or removed, sorted.

        Raises:
            WorkspaceError: a submodule stands at another commit, or a file cannot be written.
        """
        from swarmgate.workspace.git.changes import restoring  # noqa: PLC0415 - late: see the imports above

        return restoring.restore(
            self._git, tree, snapshot=self.snapshot, quarantine=quarantine, only=only, committed=committed
        )

    def put_away_foreign(self, quarantine: Path) -> tuple[str, ...]:
        """Move what no tree may hold (a repository in this one, `.GIT`) below `quarantine`; returns its paths."""
        from swarmgate.workspace.git.concealed import nested_repositories  # noqa: PLC0415 - late: see the imports above

        return nested_repositories.put_away(self._git, quarantine)

    def commit(self, change: ChangeSet, message: str, trailers: Sequence[tuple[str, str]], *, onto: str = "") -> Commit:
        """Commit exactly the files of `change`, with the content that they have in `change.tree`.

        The user's hooks, identity and signing apply. A hook may change what is committed: compare the commit's tree
        with the one that passed. What else is staged or modified stays so.

        Args:
            change: the files.
            message: of the commit, without trailers.
            trailers: of the commit; they tell it from any other.
            onto: the commit that HEAD has to be, commits of other folders aside; any when empty.

        Raises:
            CommitRefused: git or a hook refused; nothing is committed or staged.
            GitLocked: another git process holds the index or the branch, and does not give it back.
            HeadMoved: HEAD is another commit, or somebody committed at the same moment; ours is then set aside.
            WorkspaceError: the change is empty, no identity is configured, or git itself failed.
        """
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.commit(self._git, self.locks, change, message, trailers, onto=onto)

    def commit_first(self, tree: str, message: str) -> Commit:
        """Commit a whole tree in a repository without a commit; the index follows, and what else is staged stays so.

        Raises:
            CommitRefused, HeadMoved, WorkspaceError: as `commit`; an empty tree is none.
        """
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.commit_first(self._git, self.locks, tree, message)

    def set_aside(self, head: Commit, to: str) -> str:
        """Move the branch from its newest commit `head` to another one.

        The files stay as they are, uncommitted and unstaged; what else is staged stays so. `head` keeps a name, so that
        neither it nor what it stands on is ever out of reach.

        Returns:
            The reference that names `head` from now on.

        Raises:
            GitLocked: see `commit`.
            HeadMoved: HEAD is another commit.
        """
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.set_aside(self._git, self.locks, head, to)

    def find_commit(self, trailers: Mapping[str, str], *, since: str) -> Commit | None:
        """The newest task commit after `since` that carries all these trailers: did a crash come after the commit?"""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.find(self._git, trailers, since)

    def take_up(self, commit: Commit) -> None:
        """Finish what a crash right after `commit` cut off: the user's index follows HEAD; all else stays staged."""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        commits.take_up(self._git, self.locks, commit)

    def task_commits(self, since: str | None = None) -> tuple[TaskCommit, ...]:
        """The commits after `since` (None: all that HEAD reaches) with a `Swarm-Task` trailer, oldest first."""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.task_commits(self._git, since)

    def commits_named(self, revisions: str) -> tuple[TaskCommit, ...]:
        """The commits of a range (`A..B`), oldest first, or the one that a revision names, with their trailers."""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.named(self._git, revisions)

    def notes(self, ref: str) -> Mapping[str, str]:
        """The notes below a ref, by the ids of their commits; none where the ref is not there."""
        from swarmgate.workspace.git import notes  # noqa: PLC0415 - late: see the imports above

        return notes.read(self._git, ref)

    def write_note(self, ref: str, commit: str, text: str) -> None:
        """Makes a text the note of a commit below a ref; raises `GitLocked` where somebody else holds its lock."""
        from swarmgate.workspace.git import notes  # noqa: PLC0415 - late: see the imports above

        notes.write(self._git, self.locks, ref, commit, text)

    def merge_notes(self, ref: str, other: str) -> None:
        """Takes in the notes of another history of the ref; raises `GitLocked` where somebody else holds its lock."""
        from swarmgate.workspace.git import notes  # noqa: PLC0415 - late: see the imports above

        notes.merge(self._git, self.locks, ref, other)

    def undo_commits(self, since: str | None = None) -> tuple[TaskCommit, ...]:
        """The commits after `since` (None: all that HEAD reaches) that revert a task's and say so, oldest first."""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.task_commits(self._git, since, trailer=commits.UNDO_TRAILER)

    def commits_since(self, since: str) -> tuple[str, ...]:
        """The ids of all commits after `since`, newest first."""
        return tuple(self._line("rev-list", "--end-of-options", f"{since}..HEAD").split())

    def foreign(self, since: str) -> frozenset[str]:
        """The ids of the commits after `since` that change nothing of the project: they are of other folders."""
        if not self._git.prefix:
            return frozenset()
        own = self._line("rev-list", "--full-history", "--end-of-options", f"{since}..HEAD", "--", ".")
        return frozenset(self.commits_since(since)).difference(own.split())

    def stands(self, base: str, commit: str) -> bool:
        """Whether work that began on `base` can go on at `commit`: what came between is of other folders alone."""
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        if base == commit or not (base and self._git.prefix):
            return base == commit
        return commits.stands(self._git, base, commits.read(self._git, commit))

    def _line(self, *args: str) -> str:
        return self._git.run(*args).decode(errors="surrogateescape").rstrip("\n")


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _may_hold(index: Path, path: bytes) -> bool:
    """Whether a git index may hold a path below this folder, or an entry of this mode.

    Version 4 compresses names, so there it always may.
    """
    data = index.read_bytes() if index.exists() else b""
    return path in data or data[4:8] == b"\0\0\0\4"

"""The user's git repository: its location and state, snapshots of its files, and commits."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from swarmgate.errors import MissingRequirement, NotAProject, WorkspaceError
from swarmgate.workspace.files import paths  # the records of commits and diffs cost pydantic, 60 ms: late
from swarmgate.workspace.git import index_flags  # the records of commits and diffs cost pydantic, 60 ms: late
from swarmgate.workspace.git.driver import BIG, LEFT_OUT, OUTSIDE, Driver, call, failure
from swarmgate.workspace.git.locks import Locks
from swarmgate.workspace.programs import trusted  # the records of commits and diffs cost pydantic, 60 ms: late

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.workspace.git.commits import Commit, TaskCommit

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
_LINK_MODE = "120000"
"""How git says that an entry of a tree is a symbolic link."""
_NAMES = 200
"""Up to how many paths git looks up one by one; beyond, the whole tree is listed."""
_CACHED_BYTES = 8_000_000
"""Most bytes that are cached of one tree, and of one patch."""
_REMEMBERED = 4
"""Trees and differences that are cached: an attempt asks for the same ones again and again."""
_SIZES = 10_000
"""Sizes of contents that are cached."""
_REPOSITORY = b"\0\0\xe0\0"
"""How an entry of the index says that it is a commit of another repository: mode 160000 (gitformat-index(5))."""

_K = TypeVar("_K")
_V = TypeVar("_V")
_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_OBJECT = re.compile(rb"[0-9a-f]+ ([a-z]+) ([0-9]+)")


class Repository:
    """A git work tree. Ids are hexadecimal object ids, paths are repository-relative texts (`workspace.files.paths`).

    Every method may raise `WorkspaceError` with git's reason.
    """

    def __init__(self, root: Path, *, unborn: bool = False, lenient: bool = False) -> None:
        self.root = root
        self.unborn = unborn
        self._lenient = lenient
        self.not_followed: tuple[str, ...] = ()
        self._git = Driver(root)
        self.locks = Locks(self._git)
        self._unflagged: tuple[int, ...] | None = None  # the state of an index in which no entry has a flag
        self._reading, self._listing = threading.Lock(), threading.Lock()
        # What names its own content cannot go stale: a tree its files, an index its tree, two trees their difference.
        self._cached: dict[str, dict[bytes, bytes | None]] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._trees: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._written: dict[bytes, str] = {}
        self._changes: dict[tuple[str, str], ChangeSet] = {}
        self._patches: dict[tuple[str, str], bytes] = {}

    @classmethod
    def discover(cls, start: Path, *, lenient: bool = False) -> Repository:
        """The repository that `start`, a folder at any depth in it, belongs to.

        Args:
            start: the folder.
            lenient: for who only reads: one without a commit will do (`unborn`: HEAD names nothing), and a repository
                without a commit in this one is left out of snapshots.

        Raises:
            NotAProject: there is no work tree here (no repository, a bare one, or inside `.git`).
            WorkspaceError: it has no commit yet, or `GIT_DIR`, `core.worktree` and their like redirect git.
            MissingRequirement: git is missing or older than 2.30.
        """
        if not start.is_dir():
            raise NotAProject(f"{start} is not a folder")
        redirected = next((name for name in _REDIRECTIONS if os.environ.get(name)), "")
        if redirected:
            raise WorkspaceError(f"{redirected} is set, which redirects git elsewhere", hint=f"unset {redirected}")
        _require_git(start)
        # The usual case in one process; what is amiss is then asked step by step.
        code, out, _ = call(start, "rev-parse", "HEAD^{commit}", "--show-toplevel")
        if not code:
            root = Path(os.fsdecode(out.partition(b"\n")[2].removesuffix(b"\n"))).resolve()
            _require_own(start, root)
            trusted.keep_out(root)
            return cls(root, lenient=lenient)
        code, out, err = call(start, "rev-parse", "--is-bare-repository", "--show-toplevel")
        if code or not out.startswith(b"false\n"):
            raise _no_work_tree(start, out, err)
        root = Path(os.fsdecode(out.split(b"\n", 1)[1].removesuffix(b"\n"))).resolve()
        _require_own(start, root)
        trusted.keep_out(root)
        headless = bool(call(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")[0])
        if headless and not call(root, "rev-parse", "--verify", "--quiet", "HEAD")[0]:
            raise WorkspaceError(
                f"the commit that HEAD names is missing in {root}: the repository is damaged",
                hint="git fsck; git fetch, or clone it again",
            )
        if headless and not lenient:
            raise WorkspaceError(
                f"the repository {root} has no commit yet", hint='git add -A && git commit -m "Initial commit"'
            )
        return cls(root, unborn=headless, lenient=lenient)

    def require_quiet(self) -> None:
        """Refuse to go on while a merge, rebase, cherry-pick, revert or bisect is unfinished, or conflicts stand.

        Raises:
            WorkspaceError: naming what is unfinished.
        """
        action = self.unfinished()
        if action:
            hint = "git bisect reset" if action == "bisect" else f"git {action} --continue, or git {action} --abort"
            raise WorkspaceError(f"a {action} is in progress in {self.root}", hint=hint)
        conflicts = self._git.records("ls-files", "-z", "--unmerged")
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
        """The tree of HEAD's commit."""
        return self._line("rev-parse", "--verify", "HEAD^{tree}")

    def tree_of(self, revision: str) -> str:
        """The tree of a revision that the user named.

        Raises:
            WorkspaceError: git knows no such revision.
        """
        if tree := self._trees.get(revision):
            return tree
        code, out, _ = call(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
        if code:
            raise WorkspaceError(f"git knows no revision `{revision}`", hint="see: git log --oneline, git branch")
        tree = out.decode().strip()
        if _ID.fullmatch(revision):  # any other name may mean another commit the next time
            self._trees[revision] = tree
        return tree

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
        return tuple(dict.fromkeys(paths.decode(record[3:]) for record in output.split(b"\0")[:-1]))

    def stash(self, message: str) -> bool:
        """Stash all that `dirty` names, untracked files too; False when there was nothing to stash."""
        listing = b"".join(paths.encode(path) + b"\0" for path in self.dirty())
        if not listing:
            return False
        options = ("--include-untracked", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")

        def push() -> None:
            self._git.run("stash", "push", *options, "--message", message, stdin=listing)

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
        tree = self._written.pop(content, "") or self._git.run("write-tree", index=index).decode().strip()
        _remember(self._written, content, tree)
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
                if not self._lenient or empty is None or empty[1] in left_out:
                    raise
                left_out = (*left_out, empty[1])
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
        return not self.unborn and bool(self._git.records("ls-tree", "-z", "--name-only", "HEAD", "--", ".swarm"))

    def changes(self, base: str, tree: str) -> ChangeSet:
        """What differs from the tree `base` to the tree `tree`, outside `.swarm/`.

        A text file whose lines an attribute declares binary is still counted as text.
        """
        from swarmgate.workspace.git import diffs  # noqa: PLC0415 - late: see the imports above

        if not (_ID.fullmatch(base) and _ID.fullmatch(tree)):  # a name such as HEAD may mean another tree the next time
            return diffs.changes(self._git, base, tree)
        found = self._changes.get((base, tree))
        if found is None:  # an empty one is false
            found = diffs.changes(self._git, base, tree)
        _remember(self._changes, (base, tree), found)
        return found

    def patch(self, base: str, tree: str) -> bytes:
        """The same difference as a patch for `git apply`, binary files included.

        Of a file above `BIG` bytes it only says that it differs: who would hold it in memory holds it several times.
        """
        from swarmgate.workspace.git import diffs  # noqa: PLC0415 - late: see the imports above

        found = self._patches.get((base, tree))
        if found is None:
            files = self.changes(base, tree).files
            sizes = self.sizes(each for file in files for each in (file.old_id, file.new_id))
            big = (file for file in files if max(sizes.get(file.old_id, 0), sizes.get(file.new_id, 0)) > BIG)
            found = diffs.patch(self._git, base, tree, without=[path for file in big for path in file.touched])
        if _ID.fullmatch(base) and _ID.fullmatch(tree) and len(found) <= _CACHED_BYTES:
            _remember(self._patches, (base, tree), found)
        return found

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path in `tree`, submodules included."""
        with self._listing:  # as with what is read
            listed = self._listed.get(tree)
            if listed is None:
                records = self._git.records("ls-tree", "-r", "-z", "--name-only", tree)
                listed = tuple(paths.decode(raw) for raw in records)
            if _ID.fullmatch(tree):
                _remember(self._listed, tree, listed)
            return listed

    def regular_files(self, tree: str, wanted: Sequence[str]) -> dict[str, str]:
        """Those `wanted` paths that are files in `tree`, and no links, each with the id of its content."""
        found: dict[str, str] = {}
        names = [os.fsdecode(paths.encode(path)) for path in wanted]
        for start in range(0, len(names), _NAMES):
            for record in self._git.records("ls-tree", "-z", tree, "--", *names[start : start + _NAMES]):
                header, _, raw = record.partition(b"\t")
                mode, kind, blob = header.decode().split()
                if kind == "blob" and mode != _LINK_MODE:
                    found[paths.decode(raw)] = blob
        return found

    def read(self, tree: str, path: str) -> bytes | None:
        """The content of one file of `tree` (of a symbolic link: its target); None when it is not a file there."""
        return self.read_many(tree, (path,)).get(path)

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those `wanted` paths that are files in `tree`."""
        return self.read_trees({tree: wanted})[tree]

    def read_trees(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, dict[str, bytes]]:
        """For each tree the contents of those paths that are files in it, by one process where they are few."""
        found: dict[str, dict[str, bytes]] = {}
        few: dict[str, dict[bytes, str]] = {}
        for tree, listed in wanted.items():
            raws = {paths.encode(path): path for path in listed if path}
            # Names that git resolves itself, a line each.
            if len(raws) <= _NAMES and not any(b"\n" in raw for raw in raws):
                few[tree] = raws
            else:
                found[tree] = self._listed_contents(tree, raws)
        with self._reading:  # gates ask for the same at the same time, from threads of their own
            return found | self._read_few(few)

    def _listed_contents(self, tree: str, raws: Mapping[bytes, str]) -> dict[str, bytes]:
        """The contents of many files."""
        blobs: dict[str, str] = {}
        for record in self._git.records("ls-tree", "-r", "-z", tree):
            header, _, raw = record.partition(b"\t")
            _, kind, blob = header.decode().split()
            if kind == "blob" and raw in raws:
                blobs[raws[raw]] = blob
        ids = sorted(set(blobs.values()))
        contents = dict(zip(ids, self._objects([blob.encode() for blob in ids]), strict=True))
        return {path: content for path, blob in blobs.items() if (content := contents[blob]) is not None}

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """How many bytes the contents of these ids have, by id; those that are no blob here are left out."""
        asked = {each for each in ids if each}
        names = sorted(asked - self._sizes.keys())
        stdin = "".join(f"{each}\n" for each in names).encode()
        out = self._git.run("cat-file", "--batch-check", stdin=stdin) if names else b""
        found = (_OBJECT.fullmatch(line) for line in out.splitlines())
        fresh = {name: int(each[2]) for name, each in zip(names, found, strict=True) if each and each[1] == b"blob"}
        known = {**self._sizes, **fresh}
        self._sizes = known if len(known) <= _SIZES else {}
        return {name: known[name] for name in asked if name in known}

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
        from swarmgate.workspace.git import restoring  # noqa: PLC0415 - late: see the imports above

        return restoring.restore(self._git, tree, snapshot=self.snapshot, quarantine=quarantine, only=only)

    def put_away_foreign(self, quarantine: Path) -> tuple[str, ...]:
        """Move what no tree may hold (a repository in this one, `.GIT`) below `quarantine`; returns its paths."""
        from swarmgate.workspace.git import nested_repositories  # noqa: PLC0415 - late: see the imports above

        return nested_repositories.put_away(self._git, quarantine)

    def commit(self, change: ChangeSet, message: str, trailers: Sequence[tuple[str, str]], *, onto: str = "") -> Commit:
        """Commit exactly the files of `change`, with the content that they have in `change.tree`.

        The user's hooks, identity and signing apply. A hook may change what is committed: compare the commit's tree
        with the one that passed. What else is staged or modified stays so.

        Args:
            change: the files.
            message: of the commit, without trailers.
            trailers: of the commit; they tell it from any other.
            onto: the commit that HEAD has to be; any when empty.

        Raises:
            CommitRefused: git or a hook refused; nothing is committed or staged.
            GitLocked: another git process holds the index or the branch, and does not give it back.
            HeadMoved: HEAD is another commit, or somebody committed at the same moment; ours is then set aside.
            WorkspaceError: the change is empty, no identity is configured, or git itself failed.
        """
        from swarmgate.workspace.git import commits  # noqa: PLC0415 - late: see the imports above

        return commits.commit(self._git, self.locks, change, message, trailers, onto=onto)

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

    def commits_since(self, since: str) -> tuple[str, ...]:
        """The ids of all commits after `since`, newest first."""
        return tuple(self._line("rev-list", "--end-of-options", f"{since}..HEAD").split())

    def _line(self, *args: str) -> str:
        return self._git.run(*args).decode(errors="surrogateescape").rstrip("\n")

    def _read_few(self, wanted: Mapping[str, Mapping[bytes, str]]) -> dict[str, dict[str, bytes]]:
        """The contents of few files of each tree."""
        known = {tree: dict(self._cached.get(tree, {})) for tree in wanted}
        fresh = [(tree, raw) for tree, raws in wanted.items() for raw in raws if raw not in known[tree]]
        contents = self._objects([tree.encode() + b":" + raw for tree, raw in fresh])
        for (tree, raw), content in zip(fresh, contents, strict=True):
            known[tree][raw] = content
        for tree, each in known.items():
            # A name such as HEAD may stand for another tree the next time.
            if _ID.fullmatch(tree):
                size = sum(len(content or b"") for content in each.values())
                _remember(self._cached, tree, each if size <= _CACHED_BYTES else {})
        return {
            tree: {path: content for raw, path in raws.items() if (content := known[tree][raw]) is not None}
            for tree, raws in wanted.items()
        }

    def _objects(self, names: Sequence[bytes]) -> list[bytes | None]:
        """The contents of the blobs of these names, in their order; None for what is missing or no blob."""
        out = self._git.run("cat-file", "--batch", stdin=b"".join(name + b"\n" for name in names)) if names else b""
        contents: list[bytes | None] = []
        position = 0
        for _ in names:
            start = out.index(b"\n", position) + 1
            found = _OBJECT.fullmatch(out, position, start - 1)  # else: `<name> missing`, or `submodule`
            size = int(found[2]) if found else -1
            if found and found[1] == b"blob":
                self._sizes[out[position : out.index(b" ", position)].decode()] = size
            contents.append(out[start : start + size] if found and found[1] == b"blob" else None)
            position = start + size + 1
        return contents


def _remember(known: dict[_K, _V], name: _K, found: _V) -> None:
    """Keeps an answer; of the others, only those that were asked for last."""
    known.pop(name, None)
    known[name] = found
    for old in list(known)[:-_REMEMBERED]:
        known.pop(old, None)  # another thread may have been here


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


def _require_git(folder: Path) -> None:
    found = re.search(rb"(\d+)\.(\d+)", call(folder, "--version")[1])
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < _MINIMUM_GIT:
        raise MissingRequirement(
            f"git {version[0]}.{version[1]} is too old: swarmgate needs 2.30 or newer", hint="install a newer git"
        )


def _require_own(start: Path, root: Path) -> None:
    """Refuse a work tree that `core.worktree` puts elsewhere than where its `.git` stands: other files would be judged.

    A submodule's and a linked work tree's `.git` is a file that names the git folder; both stand at the root.
    """
    place = start.resolve()
    folders = (place, *place.parents)
    nearest = next((each for each in folders if any((each / git).is_file() for git in (".git", ".git/HEAD"))), root)
    if nearest != root:
        raise WorkspaceError(
            f"git takes {root} for the work tree of {nearest}: core.worktree is set",
            hint=f"git -C {nearest} config --unset core.worktree",
        )


def _no_work_tree(start: Path, out: bytes, err: str) -> NotAProject | WorkspaceError:
    if out.startswith(b"true\n"):
        return NotAProject(f"{start} is a bare repository: it has no files to work on", hint="git clone it, work there")
    if "not a git repository" in err:
        return NotAProject(f"{start} is not in a git repository", hint="cd into your project, or: git init")
    if "work tree" in err:
        return NotAProject(f"{start} is inside a git folder, not in a work tree", hint="cd into your project")
    return failure("rev-parse", err)

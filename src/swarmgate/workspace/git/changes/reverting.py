"""Takes a commit back from a tree by a three-way merge, and finds the commits that took others back."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths
from swarmgate.workspace.git import commits
from swarmgate.workspace.git.changes import diffs
from swarmgate.workspace.git.changes.diffs import Entry
from swarmgate.workspace.git.driver import Driver, call
from swarmgate.workspace.git.history import patch_digest
from swarmgate.workspace.git.trees import blobs
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.git.repository import Repository

_SCANNED = 2_000
"""Most commits, newest first, that are looked at for those that took others back."""
_TEXT = ("100644", "100755")
"""The modes of files whose lines can be merged."""
_SAYS = re.compile(r"This reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)")
"""What `git revert` writes."""


class Reverted(NamedTuple):
    """The tree without a commit's change, and the paths where that cannot be told from what came after it."""

    tree: str
    conflicts: tuple[str, ...] = ()


def without(repository: Repository, tree: str, commit: str) -> Reverted:
    """The tree as it would be without what a commit changed against its first parent, outside `.swarm/`.

    Files, index and references stay as they are. Lines are merged as `git merge-file` does; what was renamed, made
    binary or deleted since is a conflict.
    """
    git = Driver(repository.root)
    found = [(place, _merged(git, place.now, place.made, place.before)) for place in _places(repository, tree, commit)]
    conflicts = [paths.decode(place.now.path) for place, merged in found if merged is None]
    if conflicts:
        return Reverted(tree, tuple(conflicts))
    with git.index(copied=False) as index:
        git.read_tree(tree, index)
        diffs.enter(git, [merged for _, merged in found if merged is not None], index=index)
        return Reverted(git.write_tree(index))


def holds(repository: Repository, tree: str, commit: str) -> bool:
    """Whether a tree has all of what a commit changed: taken out of it and put in again, it is the same tree.

    Where the same lines were changed again since, nobody can say that, nor of a commit that was removed for good.
    """
    git = Driver(repository.root)
    try:
        places = _places(repository, tree, commit)
        return bool(places) and all(_stands(git, place) for place in places)
    except WorkspaceError:
        return False


class _Place(NamedTuple):
    """What stands at a path that a commit changed: before it, in it, and now."""

    before: Entry
    made: Entry
    now: Entry


def _places(repository: Repository, tree: str, commit: str) -> list[_Place]:
    git = Driver(repository.root)
    made = commits.read(git, commit)
    now = {each.path: each.entry for each in diffs.raw(git, made.tree, tree)}
    changed = [(each.old, each.entry) for each in diffs.raw(git, repository.tree_of(made.parent), made.tree)]
    return [_Place(before, after, now.get(after.path, after)) for before, after in changed]


def _stands(git: Driver, place: _Place) -> bool:
    bare = _merged(git, place.now, place.made, place.before)
    if bare is None or bare == place.now:
        return False
    return _merged(git, bare, place.before, place.made) == place.now


def _merged(git: Driver, ours: Entry, base: Entry, theirs: Entry) -> Entry | None:
    """What stands at a path where the change from `base` to `theirs` is made to `ours`; None: nobody can say."""
    if diffs.SUBMODULE in (base.mode, theirs.mode):
        return None  # what stands there is another repository's matter
    if ours == base:
        return theirs
    if ours == theirs:
        return ours
    if not {ours.mode, base.mode, theirs.mode} <= set(_TEXT):
        return None
    mode = theirs.mode if ours.mode == base.mode else ours.mode
    if base.id == ours.id:  # another mode alone
        return Entry(ours.path, mode, theirs.id)
    content = _lines_merged(git, ours.id, base.id, theirs.id)
    if content is None:
        return None
    return Entry(ours.path, mode, git.run("hash-object", "-w", "--stdin", stdin=content).decode().strip())


def _lines_merged(git: Driver, ours: str, base: str, theirs: str) -> bytes | None:
    found = blobs(git, [each.encode() for each in (ours, base, theirs)])
    with temporary.folder("merge") as folder:
        places = []
        for name, blob in zip(("ours", "base", "theirs"), found, strict=True):
            if blob is None:
                return None
            places.append(Path(folder, name))
            places[-1].write_bytes(blob.content)
        code, out, _ = call(git.root, "merge-file", "-p", "--quiet", *map(os.fspath, places))
    return out if code == 0 else None


def taken_back(repository: Repository, wanted: Sequence[str], *, since: str, tip: str) -> dict[str, str]:
    """Finds commits whose change somebody took back: their ids, each with the commit that did it.

    That one says so (`This reverts commit ...`), or changes the very same lines back, and was not taken back itself,
    nor does `tip` hold the change in another way. A task's own commit is none of them: what a later task removes, it
    was to remove.

    Args:
        repository: where to look.
        wanted: the commits.
        since: where the work began.
        tip: the newest commit.
    """
    if not wanted:
        return {}
    git = Driver(repository.root)
    known = call(git.root, "cat-file", "-e", f"{since}^{{commit}}")[0] == 0
    form = "--format=%x1e%H%x1f%B%x1f"
    limits = ("--topo-order", "--no-merges", f"--max-count={_SCANNED}")
    span = f"{since}..{tip}" if known else tip
    listing = git.run("log", *limits, form, "--name-only", "--no-renames", "--relative", span, "--").decode(
        errors="replace"
    )
    made = [_Made.parsed(record) for record in listing.split("\x1e") if record.strip()]
    places = {each.id: place for place, each in enumerate(made)}
    found = _Reverts(git, made)
    pairs = ((commit, found.of(made[places[commit]], places[commit])) for commit in wanted if commit in places)
    tree = repository.tree_of(tip)
    return {commit: revert for commit, revert in pairs if revert and not holds(repository, tree, commit)}


class _Made(NamedTuple):
    """A commit: which ones it says that it reverts, which files it changes, and whether it is a task's own."""

    id: str
    named: tuple[str, ...]
    files: frozenset[str]
    of_task: bool

    @classmethod
    def parsed(cls, record: str) -> _Made:
        made, text, listing = record.strip("\n").split("\x1f", 2)
        files = frozenset(line for line in listing.splitlines() if line and not line.startswith(".swarm/"))
        return cls(made, tuple(_SAYS.findall(text)), files, f"\n{commits.TASK_TRAILER}: " in text)


class _Reverts:
    """Who of some commits, newest first, took back whom."""

    def __init__(self, git: Driver, made: Sequence[_Made]) -> None:
        self._git = git
        self._made = made
        self._patches: dict[tuple[str, ...], str] = {}

    def of(self, commit: _Made, place: int, *, by_task: bool = False) -> str:
        """The newer commit that took one back, and was not taken back itself; empty: there is none."""
        for newer, each in enumerate(self._made[:place]):
            if each.of_task and not by_task:
                continue
            if self._takes_back(each, commit) and not self.of(each, newer, by_task=True):
                return each.id
        return ""

    def _takes_back(self, commit: _Made, other: _Made) -> bool:
        if other.id in commit.named:
            return bool(commit.files)  # a squash of a revert and of its revert quotes both, and changes nothing
        same_files = commit.files == other.files and bool(other.files)
        return same_files and self._patch(commit.id, "-R") == self._patch(other.id)

    def _patch(self, *asked: str) -> str:
        commit, *options = asked
        if asked not in self._patches:
            self._patches[asked] = patch_digest(self._git, commit, *options)
        return self._patches[asked]

"""Takes a commit back from a tree by a three-way merge, and finds the commits that took others back."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.workspace.files import paths
from swarmgate.workspace.git import commits, diffs
from swarmgate.workspace.git.diffs import Entry
from swarmgate.workspace.git.driver import Driver, call
from swarmgate.workspace.git.history import patch_digest
from swarmgate.workspace.git.trees import blobs
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.git.diffs import Raw
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
    made = commits.read(git, commit)
    back = diffs.raw(git, made.tree, repository.tree_of(made.parent))
    now = {each.old_path: each for each in diffs.raw(git, tree, made.tree)}
    merged, conflicts = list[Entry](), list[str]()
    for entry in back:
        found = _merged(git, entry, now.get(entry.path))
        if found is None:
            conflicts.append(paths.decode(entry.path))
        else:
            merged.append(found)
    if conflicts:
        return Reverted(tree, tuple(conflicts))
    with git.index(copied=False) as index:
        git.run("read-tree", tree, index=index)
        diffs.enter(git, merged, index=index)
        return Reverted(git.run("write-tree", index=index).decode().strip())


def _merged(git: Driver, back: Raw, since: Raw | None) -> Entry | None:
    """What stands at a path without the change; None: nobody can say.

    Args:
        git: runs git.
        back: from the commit to its parent.
        since: from the tree to the commit; None: they have the same there.
    """
    if diffs.SUBMODULE in (back.old_mode, back.new_mode):
        return None  # what stands there is another repository's matter
    if since is None:
        return back.entry
    ours = Entry(back.path, since.old_mode, since.old_id)
    if ours == back.entry:
        return ours
    modes = {since.old_mode, back.old_mode, back.new_mode}
    if not modes <= set(_TEXT):
        return None
    mode = back.new_mode if since.old_mode == back.old_mode else since.old_mode
    if back.old_id == since.old_id:  # another mode alone
        return Entry(back.path, mode, back.new_id)
    content = _lines_merged(git, ours.id, back.old_id, back.new_id)
    if content is None:
        return None
    written = git.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()
    return Entry(back.path, mode, written)


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

    That one says so (`This reverts commit ...`), or changes the very same lines back, and was not taken back itself. A
    task's own commit is none of them: what a later task removes, it was to remove.

    Args:
        repository: where to look.
        wanted: the commits.
        since: where the work began.
        tip: the newest commit.
    """
    git = Driver(repository.root)
    known = call(git.root, "cat-file", "-e", f"{since}^{{commit}}")[0] == 0
    form = "--format=%x1e%H%x1f%B%x1f"
    limits = ("--topo-order", "--no-merges", f"--max-count={_SCANNED}")
    span = f"{since}..{tip}" if known else tip
    listing = git.run("log", *limits, form, "--name-only", "--no-renames", span, "--").decode(errors="replace")
    made = [_Made.parsed(record) for record in listing.split("\x1e") if record.strip()]
    places = {each.id: place for place, each in enumerate(made)}
    found = _Reverts(git, made)
    pairs = ((commit, found.of(made[places[commit]], places[commit])) for commit in wanted if commit in places)
    return {commit: revert for commit, revert in pairs if revert}


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
            return True
        same_files = commit.files == other.files and bool(other.files)
        return same_files and self._patch(commit.id, "-R") == self._patch(other.id)

    def _patch(self, *asked: str) -> str:
        commit, *options = asked
        if asked not in self._patches:
            self._patches[asked] = patch_digest(self._git, commit, *options)
        return self._patches[asked]

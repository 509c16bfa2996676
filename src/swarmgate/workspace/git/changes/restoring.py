"""Restores the work tree to a git tree, touching only what differs and backing up what is overwritten."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths
from swarmgate.workspace.files.folders import make
from swarmgate.workspace.git.changes import diffs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from swarmgate.workspace.git.changes.diffs import Raw
    from swarmgate.workspace.git.driver import Driver

_RULES = frozenset({b".gitignore", b".gitattributes"})


def restore(
    git: Driver,
    tree: str,
    *,
    snapshot: Callable[[], str],
    quarantine: Path,
    only: Collection[str] | None = None,
    committed: bool = False,
) -> tuple[str, ...]:
    """Make the files of the work tree those of `tree`; the contract is `Repository.restore`'s."""
    current = snapshot()
    wanted = None if only is None else {paths.encode(path) for path in only}
    differing = _limited(diffs.raw(git, current, tree), wanted)
    if not differing:
        return ()
    done = {entry.path for entry in differing}
    rules = [entry for entry in differing if entry.path.rpartition(b"/")[2] in _RULES]
    writer = _Writer(git, tree, quarantine, committed=committed)
    if rules:
        # First what says which files count and how they are converted: a file that the restored rules ignore is none
        # of ours, and must not be removed because an edit of .gitignore had laid it open.
        writer.apply(rules)
        differing = _limited(diffs.raw(git, snapshot(), tree), wanted)
        done = {entry.path for entry in (*rules, *differing)}
    writer.apply(differing)
    left = _limited(diffs.raw(git, snapshot(), tree), wanted)
    if committed:  # git sees what a rule ignores only once it is committed
        left = [entry for entry in left if entry.old_mode != diffs.ABSENT or not _lies(git, entry.path)]
    if left:
        raise WorkspaceError(
            f"the work tree could not be put back: `{paths.decode(left[0].path)}` still differs",
            hint=f"what stood there before is kept in {quarantine}",
        )
    return tuple(sorted(paths.decode(path) for path in done))


def _lies(git: Driver, path: bytes) -> bool:
    return os.path.lexists(git.root / os.fsdecode(path))


def _limited(entries: Sequence[Raw], wanted: Collection[bytes] | None) -> Sequence[Raw]:
    return entries if wanted is None else [entry for entry in entries if entry.path in wanted]


class _Writer:
    """Moves files between the work tree, `tree` and the quarantine."""

    def __init__(self, git: Driver, tree: str, quarantine: Path, *, committed: bool) -> None:
        self._git = git
        self._tree = tree
        self._quarantine = quarantine.absolute()
        self._committed = committed

    def apply(self, entries: Sequence[Raw]) -> None:
        for entry in entries:
            if entry.new_mode == diffs.SUBMODULE:
                name = paths.decode(entry.path)
                raise WorkspaceError(
                    f"submodule `{name}` stands at another commit", hint=f"git submodule update {name}"
                )
        places = {entry.path: PurePosixPath(os.fsdecode(entry.path)) for entry in entries}
        try:
            for entry in entries:
                if not self._committed or entry.old_mode == diffs.ABSENT:  # of which git has no copy
                    self._back_up(places[entry.path])
            for place in places.values():
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    (self._git.root / place).unlink()
            self._write([entry.path for entry in entries if entry.new_mode != diffs.ABSENT])
            for place in places.values():
                self._prune(place)
        except OSError as error:
            raise WorkspaceError(f"the work tree could not be put back: {error}") from error

    def _back_up(self, place: PurePosixPath) -> None:
        """Copy what stands there; move away whatever is in its way (a file as a parent, a folder in its place)."""
        for parent in reversed(place.parents[:-1]):
            there = self._git.root / parent
            if there.is_symlink() or (there.exists() and not there.is_dir()):
                self._move_away(parent)
                return
        source = self._git.root / place
        if source.is_dir() and not source.is_symlink():
            self._move_away(place)
        elif os.path.lexists(source):
            shutil.copy2(source, self._free(place), follow_symlinks=False)

    def _move_away(self, place: PurePosixPath) -> None:
        shutil.move(self._git.root / place, self._free(place))

    def _free(self, place: PurePosixPath) -> Path:
        """Where the copy goes, its folder made; never onto an earlier copy."""
        base = copy = self._quarantine / place
        number = 0
        while os.path.lexists(copy):
            number += 1
            copy = base.with_name(f"{base.name}~{number}")
        make(copy.parent)
        return copy

    def _write(self, wanted: list[bytes]) -> None:
        if not wanted:
            return
        listing = b"".join(path + b"\0" for path in wanted)
        with self._git.index(copied=False) as index:
            self._git.read_tree(self._tree, index)
            self._git.run("checkout-index", "--force", "-z", "--stdin", stdin=listing, index=index)

    def _prune(self, place: PurePosixPath) -> None:
        """Remove the folders above that are empty now."""
        for parent in place.parents[:-1]:
            try:
                (self._git.root / parent).rmdir()
            except FileNotFoundError:
                continue
            except OSError:  # not empty
                return

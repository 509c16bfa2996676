"""Backs up the user's git-ignored files (`.env`, a local database, notes) before agents start to work.

They are made once, before anybody is at work. What a turn then changes or deletes can be handed to the user, and tests
go on with the copy; one to which nothing happened is used again by the next run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.checkout.fingerprints import State, state_of
from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.files.folders import make
from swarmgate.workspace.git.concealed.hidden_files import TOOLS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOST_BYTES = 50_000_000
MOST_FILES = 2_000
_SCANNED = 20_000
"""Most files that are scanned; folders with more hold no notes."""
_MADE = TOOLS | {
    ".build", ".cache", ".eggs", ".git", ".gradle", ".hypothesis", ".mypy_cache", ".next", ".nox", ".nuxt", ".output",
    ".parcel-cache", ".pytest_cache", ".ruff_cache", ".svelte-kit", ".swarm", ".terraform", ".tox", ".turbo", ".venv",
    "DerivedData", "Pods", "_build", "bower_components", "build", "cmake-build-debug", "cmake-build-release",
    "coverage", "dist", "obj", "target", "vendor",
}  # fmt: skip
"""Folders of what tools make or fetch, and make again."""
_MADE_FILES = (
    ".pyc", ".pyo", ".class", ".o", ".obj", ".tsbuildinfo", ".log", ".pid", ".sock", ".swp", ".coverage", ".DS_Store",
    ".eslintcache",
)  # fmt: skip


@dataclass(frozen=True)
class Skipped:
    """The files that were not backed up, since they are too many or too large."""

    files: int = 0
    size: int = 0


class Backups:
    """The backups of one work tree's ignored files.

    Args:
        root: top level of the work tree.
        store: the folder of the copies, which nobody else writes. A copy that still equals its file is used again.
    """

    def __init__(self, root: Path, store: Path) -> None:
        self._root = root
        self._store = store
        self._states: dict[str, State | None] = {}
        self._reported: set[str] = set()

    def take(self, ignored: Iterable[str], but: Collection[str] = ()) -> Skipped:
        """Copies what is worth it: the smallest first, up to `MOST_FILES` and `MOST_BYTES`.

        Args:
            ignored: what git ignores; a folder ends with a slash.
            but: files that are not the user's: agents changed or made them. What was copied of one before stays.
        """
        found = [each for each in self._worth(ignored) if each[0] not in but]
        found.sort(key=lambda each: (each[1].st_size, each[0]))
        for path in but:
            if os.path.lexists(self.copy_of(path)):
                self._states[path] = None
                self._reported.add(path)
        copied = size = 0
        for path, state in found:
            if copied >= MOST_FILES or size + state.st_size > MOST_BYTES or not self.add(path):
                break
            copied, size = copied + 1, size + state.st_size
        self._forget_others()
        return Skipped(len(found) - copied, sum(state.st_size for _, state in found[copied:]))

    def add(self, path: str) -> bool:
        """Copies one file; False where it cannot be read."""
        source, copy = self._places(path)
        try:
            state = source.lstat()
            if not _equal(source, copy, state):
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                shutil.copy2(source, copy, follow_symlinks=False)
        except OSError:
            return False
        self._states[path] = state_of(state)
        return True

    def holds(self, path: str) -> bool:
        """Whether there is a copy of the file."""
        return path in self._states

    def copy_of(self, path: str) -> Path:
        """Where the copy of a file lies, if there is one."""
        return self._places(path)[1]

    def lost(self) -> tuple[str, ...]:
        """The files that are gone, or have another content than their copies, and were not handed over before."""
        found = []
        for path, known in self._states.items():
            if path in self._reported:
                continue
            source, copy = self._places(path)
            try:
                state = source.lstat()
            except OSError:
                found.append(path)
                continue
            if state_of(state) == known:
                continue
            if _same(source, copy):
                self._states[path] = state_of(state)
            else:
                found.append(path)
        return tuple(sorted(found))

    def hand_over(self, lost: Iterable[str], folder: Path) -> None:
        """Gives copies to the user, below `folder`. What stands in their files' places now is no longer the user's."""
        for path in lost:
            copy = self.copy_of(path)
            target = folder / copy.relative_to(self._store)
            make(target.parent)
            shutil.copy2(copy, target, follow_symlinks=False)
            self._reported.add(path)

    def resume(self) -> None:
        """Takes the copies of a run that died for those that count; `lost` then says what it did to their files."""
        for copy in _files(self._store):
            self._states[paths.decode(os.fsencode(copy.relative_to(self._store)))] = None

    def _places(self, path: str) -> tuple[Path, Path]:
        name = os.fsdecode(paths.encode(path))
        return self._root / name, self._store / name

    def _worth(self, ignored: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
        for entry in ignored:
            if _MADE & set(entry.split("/")[:-1]):
                continue
            place, _ = self._places(entry)
            files = _files(place, but=_MADE) if entry.endswith("/") else iter((place,))
            for file in files:
                with contextlib.suppress(OSError):
                    state = file.lstat()
                    if stat.S_ISREG(state.st_mode) and not file.name.endswith(_MADE_FILES):
                        yield paths.decode(os.fsencode(file.relative_to(self._root))), state

    def _forget_others(self) -> None:
        """Removes copies of files that are no longer there, or not to be kept."""
        for copy in list(_files(self._store)):
            if paths.decode(os.fsencode(copy.relative_to(self._store))) not in self._states:
                copy.unlink(missing_ok=True)


def _files(folder: Path, *, but: frozenset[str] = frozenset()) -> Iterator[Path]:
    """The files below a folder, those in folders of these names left out; not more than anybody wants to wait for."""
    count = 0
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - but)
        for name in sorted(names):
            count += 1
            if count > _SCANNED:
                return
            yield Path(base, name)


def _equal(source: Path, copy: Path, state: os.stat_result) -> bool:
    """Whether a copy of an earlier run will do."""
    try:
        made = copy.lstat()
    except OSError:
        return False
    return (made.st_size, made.st_mtime_ns) == (state.st_size, state.st_mtime_ns) and _same(source, copy)


def _same(source: Path, copy: Path) -> bool:
    """Whether both are regular files with the same content."""
    try:
        both = all(stat.S_ISREG(place.lstat().st_mode) for place in (source, copy))
        alike = both and source.lstat().st_size == copy.lstat().st_size
        # Not `filecmp`: it remembers its answers by size and time, and both can be set.
        return alike and regular.read(source, follow=False) == regular.read(copy, follow=False)
    except OSError:
        return False

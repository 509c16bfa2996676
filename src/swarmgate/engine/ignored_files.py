"""Snapshots git-ignored files while agents work: restores the user's files, and finds code hidden there.

Tests run with what was there before the agents, and with nothing that these made of it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from swarmgate.gates.source.behaviour import is_code
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.checkout.backups import Backups, Skipped
from swarmgate.workspace.checkout.ignored_files import IncludedFiles, Item, Touched
from swarmgate.workspace.files import paths
from swarmgate.workspace.files.folders import make
from swarmgate.workspace.git.concealed.hidden_files import hidden, ignored, rule_against
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.runner_files import may_steer

_BINARIES = (".so", ".pyd", ".dylib", ".node", ".dll", ".jar", ".class", ".pyc", ".pth")


class IgnoredFiles:
    """The git-ignored files of a run's work tree."""

    def __init__(self, repository: Repository, folder: SwarmFolder) -> None:
        self._repository = repository
        self._folder = folder
        self._git = Driver(repository.root)
        self._copies = Backups(repository.root, folder.runtime / "ignored")
        self._included = IncludedFiles(repository.root, self._copies, folder.runtime / "ignored.json")
        self._at_work = folder.runtime / "at-work"
        self._died_at_ns: int | None = None
        self._since = 0
        self._hidden: frozenset[str] | None = None

    def begin(self, tree: Callable[[], str]) -> Skipped | None:
        """Before a step: at the first of a run, copies are made; gives what is too much for that, else None.

        Args:
            tree: gives the tree whose rules for ignoring count.
        """
        left = None
        if self._hidden is None:
            self._since = time.time_ns()
            found = ignored(self._git)
            self._hidden = hidden(self._repository, tree(), matters, git=self._git, found=found)
            left = self._copies.take(found, but=self._included.begin(found, died_at_ns=self._died_at_ns))
        self._at_work.touch()
        return left

    def end(self) -> None:
        """After a step and what has to be done then: what changes from now on is the user's own doing."""
        self._at_work.unlink(missing_ok=True)

    def left_by_the_dead(self, quarantine: Path) -> tuple[str, ...]:
        """Hands over what a run did to ignored files that died in a step; the paths of those files."""
        if self._hidden is not None or not self._at_work.exists():
            return ()
        self._died_at_ns = self._at_work.lstat().st_ctime_ns
        self._copies.resume()
        return self.taken_out(quarantine)

    def taken_out(self, quarantine: Path) -> tuple[str, ...]:
        """Puts the copies of files that were changed or deleted since into the quarantine; the paths of the files."""
        lost = self._copies.lost()
        self._copies.hand_over(lost, quarantine)
        return lost

    def touched(self) -> Touched:
        """The changes that agents made to ignored files which tests may need; empty where no step was watched."""
        return self._included.scan(ignored(self._git)) if self._hidden is not None else Touched()

    def items(self) -> tuple[Item, ...] | None:
        """The ignored files that a checkout includes; None where their earlier content is unknown."""
        return self._included.items() if self._hidden is not None else None

    def rule_against(self, path: str) -> str:
        """The rule by which git ignores a path; empty where it does not."""
        return rule_against(self._git, path)

    def put_away(self, tree: str, quarantine: Path) -> tuple[str, ...]:
        """Moves code into the quarantine that new rules for ignoring hide; its paths.

        Args:
            tree: whose rules count.
            quarantine: the folder, made only when needed.
        """
        if self._hidden is None:  # no step of this run was watched: what is there is the user's
            return ()
        found = sorted(hidden(self._repository, tree, matters, git=self._git) - self._hidden)
        for path in found:
            name = os.fsdecode(paths.encode(path))
            target = quarantine / name
            make(target.parent)
            shutil.move(self._repository.root / name, target)
            for folder in PurePosixPath(name).parents[:-1]:
                try:
                    (self._repository.root / folder).rmdir()
                except OSError:  # not empty
                    break
        return tuple(found)

    def spare(self, place: Path) -> None:
        """Before a tool writes or deletes: an ignored file that is older than the run and has no copy gets one."""
        try:
            path = paths.decode(os.fsencode(place.relative_to(self._repository.root)))
        except ValueError:
            return
        if self._hidden is None or self._copies.holds(path) or not place.is_file():
            return
        entries = ignored(self._git) if place.lstat().st_mtime_ns < self._since else ()
        if any(path == each or (each.endswith("/") and path.startswith(each)) for each in entries):
            self._copies.add(path)


def matters(path: str) -> bool:
    """Whether a hidden file could change what tests show."""
    return is_code(path) or may_steer(path) or path.endswith(_BINARIES)

"""Judges texts that an editor has not saved: in a copy of the work tree, so that no file of the user's is touched."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates import baseline
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.definition import Stage, load
from swarmgate.gates.pipeline.pipeline import GatesOptions
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.scanners import Dependence
from swarmgate.gates.verbs.request import Target
from swarmgate.gates.verbs.run import judged
from swarmgate.workspace.files import atomic
from swarmgate.workspace.git import revisions
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from swarmgate.domain.review.finding import GateReport

_FIXES = "lint_fix"


@dataclass(frozen=True)
class _Copy:
    """The copy of a tree, and what ends it."""

    tree: str
    repository: Repository
    ends: contextlib.ExitStack


class Unsaved:
    """The texts of one repository as an editor has them. Not for several threads at once.

    Args:
        root: of the repository.

    Raises:
        NotAProject: there is no repository.
    """

    def __init__(self, root: Path) -> None:
        self.home = Repository.discover(root, lenient=True)
        self._copy: _Copy | None = None

    def close(self) -> None:
        """Removes the copy."""
        if self._copy is not None:
            self._copy.ends.close()
            self._copy = None

    def judge(self, path: str, texts: Mapping[str, str]) -> GateReport:
        """What the gates that look at files by themselves say of one text against HEAD.

        Args:
            path: of its file, from the root of the repository.
            texts: of all files that are not saved, by path.

        Raises:
            SwarmError: the repository cannot be looked at.
        """
        gates = load(self.home.root)
        by_file = tuple(
            gate.id
            for gate in gates
            if gate.stage is Stage.CHECK and gate.adapter and gate.record.scope is not Dependence.CHANGE
        )
        return self._report(self._laid_out(texts), path, by_file, fix=False)

    def fixed(self, path: str, texts: Mapping[str, str]) -> str:
        """The text with what is safe to mend mended; as it was where there is nothing.

        Raises:
            SwarmError: the repository cannot be looked at.
        """
        there = self._laid_out(texts)
        self._report(there, path, (_FIXES,), fix=True)
        return (there.root / path).read_bytes().decode("utf-8", "replace")

    # --- inside ---

    def _report(self, there: Repository, path: str, only: tuple[str, ...], *, fix: bool) -> GateReport:
        base = revisions.empty_tree(self.home) if self.home.unborn else self.home.head_tree()
        target = Target(self.home, there, self.home.root, base, Scope(paths=(path,), by_hand=True), "", "", fix=fix)
        memory = None if fix else Memory()
        return asyncio.run(judged(target, baseline.on_disk(self.home.root), GatesOptions(only=only), memory)).report

    def _laid_out(self, texts: Mapping[str, str]) -> Repository:
        """The copy with these texts in it; where the work tree has changed since, a new one."""
        tree = self.home.snapshot()
        if self._copy is None or self._copy.tree != tree:
            self.close()
            head = revisions.empty_tree(self.home) if self.home.unborn else self.home.head_tree()
            ends = contextlib.ExitStack()
            there = ends.enter_context(revisions.checkout(self.home, tree, head=head))
            self._copy = _Copy(tree, there, ends)
        else:
            revisions.put_back(self._copy.repository)
        there = self._copy.repository
        for path, text in texts.items():
            place = there.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(place, text.encode("utf-8", "surrogateescape"), durable=False)
        return there

"""Fixtures: two trees of files and the test integrity findings between them, without a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.gates.project.index import Project
from swarmgate.gates.test_integrity.analysis import analyse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.review.finding import Finding


class Trees:
    """Two trees of files, as the gate asks a repository for them."""

    def __init__(self, root: Path, old: dict[str, str], new: dict[str, str]) -> None:
        self.root = root
        self._trees = {"old": old, "new": new}

    def list_tree(self, tree: str) -> tuple[str, ...]:
        return tuple(sorted(self._trees[tree]))

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        return {path: self._trees[tree][path].encode() for path in wanted if path in self._trees[tree]}


def _files(old: dict[str, str], new: dict[str, str], moved: Mapping[str, str]) -> list[ChangedFile]:
    mode = "100644"
    found = []
    for path in sorted(old.keys() | new.keys()):
        if path in moved:
            was = moved[path]
            found.append(ChangedFile(path=path, old_path=was, kind=ChangeKind.RENAMED, old_mode=mode, new_mode=mode))
        elif path not in new and path not in moved.values():
            found.append(ChangedFile(path=path, kind=ChangeKind.DELETED, old_mode=mode))
        elif path not in old:
            found.append(ChangedFile(path=path, kind=ChangeKind.ADDED, new_mode=mode))
        elif path in new and old[path] != new[path]:
            found.append(ChangedFile(path=path, kind=ChangeKind.MODIFIED, old_mode=mode, new_mode=mode))
    return found


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., list[Finding]]:
    """The findings of a change: files before and after, where moved ones were, and the words of the task."""

    def judge(
        old: dict[str, str], new: dict[str, str], announced: str | None = None, moved: Mapping[str, str] | None = None
    ) -> list[Finding]:
        change = ChangeSet(base="old", tree="new", files=tuple(_files(old, new, moved or {})))
        for path, text in new.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return analyse(Project.of(Trees(tmp_path, old, new), "old", "new"), change, announced)[0]

    return judge

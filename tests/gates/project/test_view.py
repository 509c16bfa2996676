"""Tests the view of a tree: files equal in both trees of a change are read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.gates.project.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Trees:
    """Two trees in memory, which note what is read of them."""

    files: dict[str, dict[str, bytes]]
    root: Path = Path("/nonexistent")
    read: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def list_tree(self, tree: str) -> tuple[str, ...]:
        return tuple(sorted(self.files[tree]))

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        self.read.append((tree, tuple(wanted)))
        return {path: self.files[tree][path] for path in wanted if path in self.files[tree]}


def trees() -> Trees:
    same = {"same.py": b"same", "pyproject.toml": b"", "Makefile": b"all:\n"}
    return Trees(
        {"old": {**same, "a.py": b"was", "gone.py": b"gone"}, "new": {**same, "a.py": b"is", "came.py": b"came"}}
    )


def test_what_is_equal_is_read_once() -> None:
    repository = trees()
    head = View(repository, "new")
    base = View(repository, "old", twin=(head, {"a.py", "gone.py", "came.py"}))
    wanted = ["same.py", "a.py", "gone.py", "came.py"]
    assert base.contents(wanted) == {"same.py": b"same", "a.py": b"was", "gone.py": b"gone"}
    assert head.contents(wanted) == {"same.py": b"same", "a.py": b"is", "came.py": b"came"}
    assert [path for _, paths in repository.read for path in paths].count("same.py") == 1


def test_a_file_that_only_the_other_tree_has_is_not_here() -> None:
    repository = trees()
    base = View(repository, "old", twin=(View(repository, "new"), {"a.py"}))
    assert base.content("came.py") is None


def test_what_steers_a_project_is_read_along() -> None:
    repository = trees()
    head = View(repository, "new")
    assert "a.py" in head.files
    head.fetch(["a.py"])
    assert (head.content("Makefile"), head.content("pyproject.toml")) == (b"all:\n", b"")
    assert len(repository.read) == 1

"""The labelled shapes: each weakening blocks, each other change of tests does not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.domain.finding import Finding, Severity
from swarmgate.gates.project.index import Project
from swarmgate.gates.test_integrity.analysis import analyse

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = dict[str, Any]


def _read(name: str) -> Any:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def _id(shape: Shape) -> str:
    return f"{shape['language']}: {shape['title']}"


BASES = _read("bases")
WEAKENINGS: list[Shape] = _read("weakenings")["shape"]
CHANGES: list[Shape] = _read("changes")["shape"]


class Trees:
    """Two trees of files, as the gate asks a repository for them."""

    def __init__(self, root: Path, old: dict[str, str], new: dict[str, str]) -> None:
        self.root = root
        self._trees = {"old": old, "new": new}

    def list_tree(self, tree: str) -> tuple[str, ...]:
        return tuple(sorted(self._trees[tree]))

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        return {path: self._trees[tree][path].encode() for path in wanted if path in self._trees[tree]}


def findings(root: Path, shape: Shape, announced: str | None = None) -> list[Finding]:
    old: dict[str, str] = BASES[shape["language"]]
    new, moved = dict(old), dict[str, str]()
    for edit in shape["edit"]:
        path = edit["path"]
        if "old" in edit:
            assert new[path].count(edit["old"]) >= 1, f"{path} holds no {edit['old']!r}"
            new[path] = new[path].replace(edit["old"], edit["new"], 1)
        elif "new" in edit:
            new[path] = edit["new"]
        else:
            content = new.pop(path)
            if "moved" in edit:
                new[edit["moved"]], moved[edit["moved"]] = content, path
    change = ChangeSet(base="old", tree="new", files=tuple(_files(old, new, moved)))
    for path, text in new.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return analyse(Project.of(Trees(root, old, new), "old", "new"), change, announced)[0]


def _files(old: dict[str, str], new: dict[str, str], moved: dict[str, str]) -> list[ChangedFile]:
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


def blocking(found: list[Finding]) -> list[str]:
    return [f"{each.rule}: {each.message}" for each in found if each.severity.rank >= Severity.MEDIUM.rank]


@pytest.mark.parametrize("shape", WEAKENINGS, ids=_id)
def test_a_weakening_blocks(tmp_path: Path, shape: Shape) -> None:
    assert blocking(findings(tmp_path, shape))


@pytest.mark.parametrize("shape", CHANGES, ids=_id)
def test_a_change_that_weakens_nothing_passes(tmp_path: Path, shape: Shape) -> None:
    assert blocking(findings(tmp_path, shape)) == []

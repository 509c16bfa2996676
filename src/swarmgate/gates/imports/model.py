"""The words of this package: one import, how it is guarded, and the files of a tree."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.workspace.repository import Repository


class Guard(Enum):
    """What stands between an import and its failing."""

    NONE = "none"
    TYPING = "typing"
    """Only a type checker reads it."""
    OPTIONAL = "optional"
    """The code expects that it may fail: a handler, a check of the version, the platform or of what is installed."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module and the names that are taken from it.

    Python: `level` counts the leading dots, `module` is dotted; `names` is empty for `import module`. JavaScript:
    `module` is the specifier as it stands. `deferred`: it runs when a function is called, not with the file.
    """

    module: str
    names: tuple[str, ...] = ()
    level: int = 0
    line: int = 0
    column: int = 0
    guard: Guard = Guard.NONE
    deferred: bool = False


class View:
    """The files of one tree of the repository: all names at once, contents when asked for, kept."""

    def __init__(self, repository: Repository, tree: str, known: dict[str, bytes] | None = None) -> None:
        """`known` are contents that the caller has already; `shared` keeps what is learnt of the whole tree."""
        self.repository = repository
        self.tree = tree
        self.files = frozenset(repository.list_tree(tree))
        self.folders = _folders(self.files)
        self.shared: dict[type, Any] = {}
        self._contents: dict[str, bytes | None] = dict(known or {})

    def fetch(self, paths: Iterable[str]) -> None:
        """Read those of `paths` that are files and not read yet, with one call of git."""
        wanted = [path for path in set(paths) if path in self.files and path not in self._contents]
        if wanted:
            found = self.repository.read_many(self.tree, wanted)
            self._contents |= {path: found.get(path) for path in wanted}

    def content(self, path: str) -> bytes | None:
        """The content of a file of the tree; None where there is no such file (submodules have none)."""
        if path not in self._contents:
            self.fetch((path,))
        return self._contents.get(path)

    def text(self, path: str) -> str:
        """The content as text; empty where there is no such file."""
        return (self.content(path) or b"").decode("utf-8", "replace")

    def on_disk(self, path: str) -> bool:
        """Whether the work tree has something there that the tree may not have (an ignored, generated file)."""
        return os.path.lexists(self.repository.root / os.fsdecode(encode(path)))


def ancestors(path: str) -> list[str]:
    """The folders above a path, the nearest first, the root ("") last."""
    found = []
    while path:
        path = posixpath.dirname(path)
        found.append(path)
    return found


def _folders(files: Iterable[str]) -> frozenset[str]:
    found: set[str] = {""}
    for path in files:
        folder = posixpath.dirname(path)
        while folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(found)

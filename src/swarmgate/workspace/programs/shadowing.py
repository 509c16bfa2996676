"""Forbids agents to create modules that Python would import before swarmgate's first line.

From that line on `import_path` keeps the work tree out. What comes before, no program can hold back from within:
`python -m swarmgate` looks in the current folder first, and every Python in the folders of PYTHONPATH and of packages
that are installed as editable. So in these folders such modules are nobody's to make.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.programs import import_path, trusted

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = frozenset({
    "__future__", "_collections_abc", "_distutils_hack", "_sitebuiltins", "_virtualenv", "abc", "codecs", "collections",
    "contextlib", "copyreg", "encodings", "enum", "functools", "genericpath", "importlib", "io", "keyword", "operator",
    "os", "posixpath", "re", "reprlib", "runpy", "site", "sitecustomize", "stat", "swarmgate", "types", "usercustomize",
    "warnings", "zipimport",
})  # fmt: skip
"""What is loaded when swarmgate's first line runs, by `sys.modules` of CPython 3.11 to 3.13, started by `python -m` and
by the script that pip makes; and what each start looks for (site)."""
_SUFFIXES = (".py", ".pyc", ".so")
"""The ends of names that Python imports; of an extension, between its name and `.so`, stands its ABI."""


@dataclass(frozen=True, slots=True)
class StartUp:
    """The folders of a work tree that swarmgate's Python starts with, and such modules that were there at first."""

    root: Path
    folders: tuple[Path, ...]
    present: frozenset[str] = frozenset()

    def appeared(self) -> tuple[str, ...]:
        """Modules that are there now and were not, repository-relative, git's ignored ones too."""
        return tuple(sorted(set(_modules(self.root, self.folders)) - self.present))


def survey(root: Path) -> StartUp:
    """Records which such modules exist before any agent works."""
    places = [root, *map(Path, import_path.left())]
    places += [root / entry for entry in trusted.given().get("PYTHONPATH", "").split(os.pathsep)]
    inside = (Path(os.path.normpath(place)) for place in places)
    folders = tuple(dict.fromkeys(place for place in inside if place.is_relative_to(root)))
    return StartUp(root, folders, frozenset(_modules(root, folders)))


def _modules(root: Path, folders: tuple[Path, ...]) -> Iterator[str]:
    for folder in folders:
        for entry in _entries(folder):
            name = entry.name.partition(".")[0]
            if name in NAMES and entry.suffix in _SUFFIXES:
                yield entry.relative_to(root).as_posix()
            elif entry.name in NAMES:  # without its first module it is no package that comes before Python's own
                first = (each for each in _entries(entry) if each.name.startswith("__init__."))
                yield from (each.relative_to(root).as_posix() for each in first if each.suffix in _SUFFIXES)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []

"""Maps the Python module names of a project to its files, for any layout of source roots."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates.imports.exempt_files import Kind, kind_of
from swarmgate.gates.project.view import ancestors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.project.view import View

SOURCE_SUFFIXES = (".py", ".pyi", ".pyw")
_COMPILED = (".pyx", ".pxd", ".so", ".pyd", ".pyc", ".c", ".cpp", ".cc", ".rs", ".pyx.tp", ".in")
"""A module of such a file cannot be read; that it exists is enough. `.in`: a template that the build fills in."""
_MANIFESTS = {"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "tox.ini", "pytest.ini"}
_SOURCE_FOLDERS = ("src", "lib", "python", "source", "app", "backend")


@dataclass(frozen=True, slots=True)
class Place:
    """The files that a dotted module name refers to.

    `files`: what may be read of it (empty: a namespace package, a compiled module). `missing`: the part of the module
    that is not there, with `package`, the folder that lacks it; empty when all is there. `regular`: that folder is a
    package with an `__init__.py`.
    """

    files: tuple[str, ...] = ()
    folder: str = ""
    missing: str = ""
    package: str = ""
    regular: bool = False


class PythonProject:
    """The modules of one tree."""

    def __init__(self, view: View) -> None:
        self.view = view

    @classmethod
    def of(cls, view: View) -> PythonProject:
        """The shared instance for a tree."""
        found: PythonProject = view.shared.setdefault(cls, cls(view))
        return found

    @cached_property
    def modules(self) -> dict[str, set[str]]:
        """By folder: the names that can be imported from it, modules and folders that hold some at any depth."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.view.files:
            stem, dot, suffix = posixpath.basename(path).partition(".")
            if not dot or not f".{suffix}".endswith((*SOURCE_SUFFIXES, *_COMPILED)):
                continue
            folder = posixpath.dirname(path)
            found[folder].add(stem)
            while folder:
                folder, name = posixpath.split(folder)
                if name in found[folder]:
                    break
                found[folder].add(name)
        return found

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The folders from which top-level modules are imported: the root, those with a manifest, their `src`."""
        found = {""}
        manifests = (path for path in self.view.files if posixpath.basename(path) in _MANIFESTS)
        found |= {posixpath.dirname(path) for path in manifests if kind_of(path) is not Kind.DATA}
        found |= {posixpath.join(root, name) for root in tuple(found) for name in _SOURCE_FOLDERS}
        return tuple(sorted(each for each in found & self.view.folders if not each or not self.is_package(each)))

    @cached_property
    def further_roots(self) -> tuple[str, ...]:
        """The folders that hold a top-level package elsewhere: a program of its own, which others may import or not."""
        packages = {folder for folder in self.modules if folder and self.is_package(folder)}
        found = {posixpath.dirname(folder) for folder in packages} - packages - set(self.roots)
        return tuple(sorted(each for each in found if kind_of(f"{each}/x.py") is not Kind.DATA))

    @cached_property
    def anywhere(self) -> frozenset[str]:
        """Every name that is a module or a folder of modules at any place of the tree."""
        return frozenset(name for names in self.modules.values() for name in names)

    @cached_property
    def top_level(self) -> frozenset[str]:
        """Every name that can be imported from one of the roots."""
        return frozenset(name for root in self.roots for name in self.modules.get(root, ()))

    def is_package(self, folder: str) -> bool:
        """Whether the folder has an `__init__` module."""
        return any(f"{folder}/__init__{suffix}" in self.view.files for suffix in (".py", ".pyi", ".pyx"))

    def locate(self, module: str, importer: str) -> list[Place]:
        """The places where an absolute import may lead, best first; none when its first part is not in the tree."""
        parts = module.split(".")
        places = [
            self.walk(root, parts) for root in self._search_path(importer) if parts[0] in self.modules.get(root, ())
        ]
        return sorted(places, key=lambda place: (bool(place.missing), not place.regular))

    def is_own(self, top: str, importer: str) -> bool:
        """Whether a top-level name is a package or module that the importer certainly reaches.

        A folder without `__init__.py` is not: an installed package of that name goes before it.
        """
        near = [each for each in ancestors(importer) if not each or not self.is_package(each)]
        return any(
            self.is_package(posixpath.join(root, top)) or self._files(posixpath.join(root, top))
            for root in (*near, *self.roots)
        )

    def relative(self, module: str, level: int, importer: str) -> Place | None:
        """The place of a relative import; None where it leads out of the tree."""
        folder = posixpath.dirname(importer)
        for _ in range(level - 1):
            if not folder:
                return None
            folder = posixpath.dirname(folder)
        return self.walk(folder, module.split(".") if module else [])

    def walk(self, folder: str, parts: list[str]) -> Place:
        """Follow the parts of a module down from a folder."""
        for number, name in enumerate(parts):
            if name not in self.modules.get(folder, ()):
                regular = self.is_package(folder)
                return Place((), folder, ".".join(parts[number:]), folder, regular)
            below = posixpath.join(folder, name)
            if below not in self.view.folders or below not in self.modules:
                rest = ".".join(parts[number + 1 :])
                files = self._files(below)
                # A module is no package: what is asked below it is not there, unless it cannot be read.
                return Place(files, folder, rest if files else "", below, regular=True)
            folder = below
        files = self._files(f"{folder}/__init__" if folder else "__init__") + (self._files(folder) if parts else ())
        return Place(files, folder, regular=bool(files))

    def module_of(self, path: str) -> str:
        """The dotted name of a file below its outermost package, or below the nearest root."""
        stem = path.rpartition(".")[0]
        stem = stem.removesuffix("/__init__")
        folder = posixpath.dirname(path)
        while folder and self.is_package(folder):
            folder = posixpath.dirname(folder)
        inside = posixpath.relpath(stem, folder) if folder else stem
        return inside.replace("/", ".")

    def _files(self, stem: str) -> tuple[str, ...]:
        return tuple(stem + suffix for suffix in SOURCE_SUFFIXES if stem + suffix in self.view.files)

    def _search_path(self, importer: str) -> Iterator[str]:
        seen = set()
        for root in (*ancestors(importer), *self.roots, *self.further_roots):
            # What lies inside a package is imported by its full name.
            if root not in seen and (not root or not self.is_package(root)):
                seen.add(root)
                yield root

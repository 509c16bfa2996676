"""Loads and caches the API surfaces of the Python modules on both sides of a change."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Surface, Symbol
from swarmgate.gates.contracts.python import module_facts
from swarmgate.gates.contracts.python import surface as python
from swarmgate.gates.contracts.python.bases import Bases
from swarmgate.gates.project.modules import PythonModules

if TYPE_CHECKING:
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import Revision, SourceFile


class PythonSurfaces:
    """The API surfaces of a project's modules before and after a change.

    Attributes:
        project: the repository.
        present: the paths that are there now.
        was_present: those that were before.
        modules: finds modules among the present paths; `old_modules` among those that were.
        bases: finds what a class inherits.
    """

    def __init__(self, project: Project, pairs: list[SourceFile]) -> None:
        self.project = project
        removed = {pair.old.path for pair in pairs if pair.old} - {pair.new.path for pair in pairs if pair.new}
        added = {pair.new.path for pair in pairs if pair.new} - {pair.old.path for pair in pairs if pair.old}
        self.present = project.head.files
        self.was_present = frozenset((self.present - added) | removed)
        self.modules, self.old_modules = PythonModules(self.present), PythonModules(self.was_present)
        self.bases = Bases(project, self.modules)
        self._read: dict[tuple[str, bool], Surface] = {}

    def read(self, side: Revision, *, old: bool) -> Surface:
        """The surface of a module of the change, on one side.

        Raises:
            Unreadable: it is no valid Python.
        """
        key = side.path, old
        if key not in self._read:
            surface = self._read[key] = python.read(side.path, side.content)
            self._expand(surface, old=old)
        return self._read[key]

    def _expand(self, surface: Surface, *, old: bool) -> None:
        """Star imports of the project's own modules become names; any other one leaves the surface open."""
        modules = self.old_modules if old else self.modules
        for star in surface.stars:
            path = modules.locate(star, surface.path)
            side = self.project.base if old else self.project.head
            content = side.content(path) if path and path != surface.path else None
            try:
                target = python.read(path, content) if content is not None else None
            except module_facts.Unreadable:
                target = None
            surface.open |= target is None or target.open or bool(target.stars)
            surface.spoken |= target.spoken if target else set()
            package = posixpath.basename(surface.path) == "__init__.py"
            for name, symbol in target.symbols.items() if target else ():
                if symbol.public and name not in surface.symbols:
                    surface.symbols[name] = Symbol(name, "alias", 1, public=package, path=surface.path)

    def surface(self, path: str) -> Surface | None:
        """The surface of a changed module after the change."""
        return self._read.get((path, False))

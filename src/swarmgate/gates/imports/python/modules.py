"""Checks whether a module of the project defines a name: definitions, star imports, submodules."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.gates.imports.python import source

if TYPE_CHECKING:
    from swarmgate.gates.imports.python.project import Place, PythonProject
    from swarmgate.gates.imports.python.source import Definitions
    from swarmgate.gates.project.view import View

_OF_EVERY_MODULE = {
    "__name__", "__file__", "__doc__", "__path__", "__package__", "__spec__", "__loader__", "__dict__", "__builtins__",
    "__annotations__", "__cached__",
}  # fmt: skip


_AT_MARGIN = re.compile(rb"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^([^\W\d]\w*)[ \t]*(?::(?!=)|=[^=])", re.MULTILINE)


class PythonNames:
    """The names of the modules of one tree."""

    def __init__(self, view: View, project: PythonProject) -> None:
        self._view = view
        self._project = project
        self._definitions: dict[str, Definitions] = {}
        self._plain: dict[str, frozenset[str]] = {}

    def has(self, place: Place, name: str) -> bool:
        """Whether `from <place> import <name>` succeeds; True where that is not certain."""
        below = self._project.walk(place.folder, [name])
        if not below.missing or name in _OF_EVERY_MODULE or self._view.on_disk(f"{place.folder}/{name}.py"):
            return True
        if not place.files:
            return self._project.is_package(place.folder) or place.folder not in self._view.folders
        return any(self._binds(path, name, set()) for path in place.files)

    def of(self, path: str) -> Definitions:
        """The names that one module defines."""
        if path not in self._definitions:
            self._definitions[path] = source.definitions(self._view.content(path) or b"")
        return self._definitions[path]

    def known(self, place: Place) -> list[str]:
        """The names that a module defines itself, to suggest one of."""
        return [name for path in place.files for name in self.of(path).names]

    def _binds(self, path: str, name: str, seen: set[str]) -> bool:
        if path in seen:
            return False
        seen.add(path)
        content = self._view.content(path)
        if content is None:
            return True
        if path not in self._plain:
            self._plain[path] = _plainly(content)
        if name in self._plain[path]:
            return True
        defined = self.of(path)
        if defined.dynamic or name in defined.names:
            return True
        return any(self._star(path, star.module, star.level, name, seen) for star in defined.stars)

    def _star(self, path: str, module: str, level: int, name: str, seen: set[str]) -> bool:
        """Whether a star import may bring the name; True where it leads out of the project."""
        project = self._project
        if level:
            place = project.relative(module, level, path)
            places = [place] if place else []
        else:
            places = project.locate(module, path)
        found = [each for each in places if not each.missing]
        if not found or not found[0].files:
            return True
        if (
            any(posixpath.basename(each).startswith("__init__") for each in found[0].files)
            and not project.walk(found[0].folder, [name]).missing
        ):
            return True
        return any(self._binds(each, name, seen) for each in found[0].files)


def _plainly(content: bytes) -> frozenset[str]:
    """The names that lines at the left margin bind: no parsing is needed."""
    found = _AT_MARGIN.findall(content)
    return frozenset((one or other).decode("utf-8", "surrogateescape") for one, other in found)

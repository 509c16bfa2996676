"""Lists which files of the project one file imports: the edges of the import graph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.imports.model import Guard, Import
from swarmgate.gates.imports.python import source as python_source
from swarmgate.gates.imports.script import source as script_source
from swarmgate.gates.project.files import suffixes_of
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.imports.python.project import PythonProject
    from swarmgate.gates.imports.script.project import ScriptProject

PYTHON = suffixes_of("python")
SCRIPT = suffixes_of("typescript", "javascript", "vue", "svelte")
_PYTHON_LINE = re.compile(
    r"^(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#]*)|import[ \t]+([\w.]+[^\n#]*))", re.MULTILINE
)
_SCRIPT_LINE = re.compile(
    r"^(?:import|export)\b(?!\s+type\b)[^;'\"`]*?\bfrom\s*['\"]([^'\"\n]+)['\"]|^import\s*['\"]([^'\"\n]+)['\"]|"
    r"^(?:const|let|var)\b[^;\n]*=\s*require\(\s*['\"]([^'\"\n]+)['\"]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Edge:
    """One import statement of a file and a file of the project that it leads to."""

    target: str
    by: Import
    submodule: bool = False
    """The import takes the target as a whole, and no name out of it."""


class Edges:
    """The import edges of the files of one tree."""

    def __init__(self, python: PythonProject, script: ScriptProject) -> None:
        self._python = python
        self._script = script

    def of(self, path: str, content: bytes) -> list[Edge]:
        """The edges of a file from its syntax tree; none for one that does not parse."""
        edges = self._python_edges if path.endswith(PYTHON) else self._script_edges
        return [edge for each in _read(path, content) for edge in edges(path, each)]

    @staticmethod
    def statements(path: str, content: bytes) -> set[tuple[str, int, tuple[str, ...]]]:
        """The import statements that run at import time: module, level, names."""
        found = (each for each in _read(path, content) if each.guard is not Guard.TYPING and not each.deferred)
        return {(each.module, each.level, each.names) for each in found}

    def at_import(self, path: str, content: bytes) -> list[Edge]:
        """The edges along which code runs at import time."""
        return [edge for edge in self.of(path, content) if edge.by.guard is not Guard.TYPING and not edge.by.deferred]

    def quick(self, path: str, content: bytes) -> list[str]:
        """The targets of the imports at the left margin, found without parsing: good enough to search with."""
        text = content.decode("utf-8", "replace")
        if path.endswith(PYTHON):
            return [edge.target for each in _python_lines(text) for edge in self._python_edges(path, each)]
        found = (Import(one or two or three) for one, two, three in _SCRIPT_LINE.findall(text))
        return [edge.target for each in found for edge in self._script_edges(path, each)]

    def _python_edges(self, path: str, each: Import) -> Iterator[Edge]:
        if each.level:
            place = self._python.relative(each.module, each.level, path)
            places = [place] if place else []
        else:
            places = self._python.locate(each.module, path)
        found = next((place for place in places if not place.missing), None)
        if found is None:
            return
        rest = []
        for name in each.names:
            below = self._python.walk(found.folder, [name])
            if below.missing:
                rest.append(name)
            for target in below.files:
                if target != path:
                    yield Edge(target, each, submodule=True)
        if rest or not each.names:
            yield from (Edge(target, each, submodule=not each.names) for target in found.files if target != path)

    def _script_edges(self, path: str, each: Import) -> Iterator[Edge]:
        relative = each.module.startswith(".")
        found = self._script.relative(each.module, path) if relative else self._script.by_paths(each.module, path)
        for target in (found or [])[:1]:
            if target.endswith(SCRIPT) and target != path:
                yield Edge(target, each, submodule=not each.names)


def _read(path: str, content: bytes) -> tuple[Import, ...]:
    """The imports of a file; none of one that does not parse."""
    try:
        return python_source.imports(content) if path.endswith(PYTHON) else script_source.imports(content, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError, grammars.TooSlow):
        return ()


def _python_lines(text: str) -> Iterator[Import]:
    for source, names, plain in _PYTHON_LINE.findall(text):
        if plain:
            yield from (Import(part.split()[0]) for part in plain.split(",") if part.split())
            continue
        module = source.lstrip(".")
        words = [part.split()[0] for part in re.sub(r"#[^\n]*", "", names).strip("() \\\n").split(",") if part.split()]
        yield Import(module, tuple(words), len(source) - len(module))

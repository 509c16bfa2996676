"""Finds the breaking API changes of the Python modules in a change."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.compare import Dialect, compare
from swarmgate.gates.contracts.model import Break, Surface, Symbol
from swarmgate.gates.contracts.python import module_facts as python_facts
from swarmgate.gates.contracts.python.impact import impact
from swarmgate.gates.contracts.python.surfaces import PythonSurfaces
from swarmgate.gates.project.files import is_test
from swarmgate.gates.project.modules import module_of, unit_of
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.contracts.impact import Usage
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import Revision

_DIALECT = Dialect(keywords=True)
_SCRIPTS = {"setup.py", "conf.py", "__main__.py", "noxfile.py", "conftest.py", "manage.py"}


class PythonChange:
    """The Python files of a change. `unread` counts files that do not parse, on one side or the other."""

    def __init__(self, project: Project, pairs: list[SourceFile], memory: Memory | None = None) -> None:
        self._project, self.unread, self._memory = project, 0, memory
        self._surfaces = surfaces = PythonSurfaces(project, pairs)
        self._present, self._was_present, self._modules = surfaces.present, surfaces.was_present, surfaces.modules
        self.new = {unit_of(pair.new.path, self._present): pair.new for pair in pairs if pair.new}
        self.old = {unit_of(pair.old.path, self._was_present): pair for pair in pairs if pair.old}

    def breaks(self) -> Iterator[Break]:
        """Every breaking change of every module, public or not."""
        for unit, pair in self.old.items():
            old, new = pair.old, self.new.get(unit)
            if old is None or (new and old.content == new.content):
                continue
            name = module_of(old.path, self._was_present)
            if new is None and pair.new and module_of(pair.new.path, self._present) == name:
                new = pair.new  # the folder of the whole package moved
            try:
                yield from self._module(name, old, new, pair)
            except (python_facts.Unreadable, RecursionError):
                self.unread += 1

    def impact(self, breaks: Sequence[Break]) -> tuple[dict[int, Usage], str]:
        """The users of each breaking change, by its index."""
        return impact(self._surfaces, breaks)

    def _module(self, unit: str, old: Revision, new: Revision | None, pair: SourceFile) -> Iterator[Break]:
        if new is None:
            yield from self._removed(unit, old, pair)
            return
        if self._sound(old, new):
            return
        was, now = self._surfaces.read(old, old=True), self._surfaces.read(new, old=False)
        was.unit = now.unit = unit
        if set(now.stars) <= set(was.stars):
            now.open = now.made  # what stars brought before is no news
        self._follow(was, now)
        exported = self._exports(old)
        for each in compare(was, now, _DIALECT, self._surfaces.bases.supplies):
            top = each.name.partition(".")[0]
            public = each.public if exported is None else top in exported and _outspoken(each.name)
            if each.new is None and self._is_module(new, each.name):
                continue
            yield replace(each, public=public and not is_test(old.path))

    def _sound(self, old: Revision, new: Revision) -> bool:
        """Whether nothing broke between two revisions, whatever the rest of the project is."""

        def judge(_: SourceFile) -> Sequence[Finding] | str:
            if python_facts.only_adds(old.content, new.content):
                return ()
            was, now = self._surfaces.read(old, old=True), self._surfaces.read(new, old=False)
            relevant = was.stars or now.stars or any(self._moved(was, now)) or compare(was, now, _DIALECT, _nothing)
            return "the project has to be asked" if relevant else ()

        pair = SourceFile(old, new)
        return not isinstance(self._memory.of_pair("contracts", pair, judge) if self._memory else judge(pair), str)

    def _removed(self, unit: str, old: Revision, pair: SourceFile) -> Iterator[Break]:
        surface = self._surfaces.read(old, old=True)
        if not surface.symbols or posixpath.basename(old.path) in _SCRIPTS:
            return
        public = (
            self._exports(old) is None and not is_test(old.path) and any(s.public for s in surface.symbols.values())
        )
        now = pair.new.path if pair.new else ""
        detail = f"module {unit} was {f'renamed: it is {now} now' if now else 'removed'}"
        symbol = Symbol(unit.rpartition(".")[2], "module", 0, path=old.path, members=surface.symbols)
        yield Break(
            "contract-module-removed", unit, "", detail, symbol, None, public=public, path=now or old.path,
            home=old.path,
        )  # fmt: skip

    def _follow(self, was: Surface, now: Surface) -> None:
        """A name that moved to another changed file and is imported from there: compare with what it is there."""
        for name, here in list(self._moved(was, now)):
            module, original = now.origins.get(name, ("", ""))
            side = next((s for s in self.new.values() if s.path == self._modules.locate(module, now.path)), None)
            target = self._surfaces.read(side, old=False).symbols.get(original) if side and original else None
            if target is not None and target.kind != "alias":
                traits = (target.traits - {"exported"}) | (here.traits & {"exported"})
                now.symbols[name] = replace(target, public=here.public, traits=traits)

    @staticmethod
    def _moved(was: Surface, now: Surface) -> Iterator[tuple[str, Symbol]]:
        """The names that the module had of its own and imports now."""
        for name, symbol in was.symbols.items():
            here = now.symbols.get(name)
            if here is not None and here.kind == "alias" and symbol.kind != "alias":
                yield name, here

    def _is_module(self, package: Revision, name: str) -> bool:
        """Whether a name that vanished from a package is a module of it still."""
        folder = posixpath.dirname(package.path)
        return f"{folder}/{name}.py" in self._present or f"{folder}/{name}/__init__.py" in self._present

    def _exports(self, side: Revision) -> set[str] | None:
        """Of a private module, the names that a package above it re-exports or its own `__all__` names; else None."""
        parts = posixpath.splitext(side.path)[0].split("/")
        if parts[-1] + ".py" in _SCRIPTS:
            return set()
        if not any(part.startswith("_") and part != "__init__" for part in parts):
            return None
        exported = self._surfaces.read(side, old=True).symbols.values()
        names = {symbol.name for symbol in exported if "exported" in symbol.traits}
        folder = posixpath.dirname(side.path)
        while folder:
            names |= self._taken(f"{folder}/__init__.py", side)
            folder = posixpath.dirname(folder)
        return names

    def _taken(self, package: str, side: Revision) -> set[str]:
        content = self._project.head.content(package) if package in self._present and package != side.path else None
        try:
            facts = python_facts.Facts(python_facts.parse(content), package) if content else None
        except python_facts.Unreadable:
            facts = None
        if facts is None:
            return set()
        names = {
            original
            for name, (module, original) in facts.imports.items()
            if not name.startswith("_") and self._modules.locate(module, package) == side.path
        }
        if any(self._modules.locate(star, package) == side.path for star in facts.stars):
            names |= {symbol.name for symbol in self._surfaces.read(side, old=True).symbols.values() if symbol.public}
        return names


def _nothing(_surface: Surface, _symbol: Symbol, _key: str) -> bool:
    """That bases supply nothing: with whatever they do supply, less is broken."""
    return False


def _outspoken(name: str) -> bool:
    return not any(part.startswith("_") and not part.endswith("__") for part in name.split("."))

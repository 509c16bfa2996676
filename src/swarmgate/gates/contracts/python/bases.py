"""Resolves the base classes that a Python class inherits from outside of its own file."""

from __future__ import annotations

import builtins
import importlib.util
import sys
import sysconfig
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.compare import inherited
from swarmgate.gates.contracts.python import module_facts
from swarmgate.gates.contracts.python import surface as python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.contracts.model import Surface, Symbol
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.project.modules import PythonModules

_NEVER_IMPORTED = {"antigravity", "idlelib", "lib2to3", "pip", "test", "this", "tkinter", "turtle", "turtledemo"}
_DEPTH = 8


class Bases:
    """Resolves base classes; each file is read once."""

    def __init__(self, project: Project, modules: PythonModules) -> None:
        self.project, self.modules = project, modules
        self._surfaces: dict[str, Surface | None] = {}

    def supplies(self, surface: Surface, symbol: Symbol, key: str) -> bool:
        """Whether a base class has the member `key`; with `base:NAME`, whether it is an ancestor."""
        wanted = key.removeprefix("base:")
        for where, base in self.ancestors(surface, symbol):
            if isinstance(base, type):
                names = {each.__name__ for each in base.__mro__} if key != wanted else set(dir(base))
                if wanted in names - set(dir(object)):
                    return True
            elif base.open or (base.name == wanted if key != wanted else wanted in inherited(where, base)):
                return True
        return False

    def known(self, surface: Surface, symbol: Symbol) -> bool:
        """Whether every base class could be resolved."""
        found = {base if isinstance(base, str) else base.__name__ for _, base in self._walk(surface, symbol, _DEPTH)
                 if isinstance(base, str | type)}  # fmt: skip
        return not any(base.startswith("?") for base in found)

    def ancestors(self, surface: Surface, symbol: Symbol) -> Iterator[tuple[Surface, Symbol | type]]:
        """The bases of a class as far as they can be found, each with the surface it was found in."""
        for where, base in self._walk(surface, symbol, _DEPTH):
            if not isinstance(base, str):
                yield where, base

    def _walk(self, surface: Surface, symbol: Symbol, depth: int) -> Iterator[tuple[Surface, Symbol | type | str]]:
        for text in symbol.derives if depth else ():
            head, _, rest = text.partition(".")
            here = surface.symbols.get(head)
            if here is not None and here.kind == "class" and not rest:
                yield surface, here
                yield from self._walk(surface, here, depth - 1) if here is not symbol else ()
            elif head in surface.origins:
                yield from self._imported(surface, text, depth)
            else:
                found = getattr(builtins, head, None)
                yield surface, found if isinstance(found, type) and not rest else f"?{text}"

    def _imported(self, surface: Surface, text: str, depth: int) -> Iterator[tuple[Surface, Symbol | type | str]]:
        head, _, rest = text.partition(".")
        module, name = surface.origins[head]
        chain = [part for part in (name, *rest.split(".")) if part]
        if not name and module != head:  # `import a.b` binds a
            chain = f"{module}.{rest}".split(".") if module.startswith(f"{head}.") else chain
            module = head if module.startswith(f"{head}.") else module
        standard = _standard(module, chain)
        if standard is not None:
            yield surface, standard
            return
        while len(chain) > 1:
            module, chain = f"{module}{'/' if module.startswith('/') else '.'}{chain[0]}", chain[1:]
        target = self._surface(self.modules.locate(module, surface.path)) if chain else None
        base = target.symbols.get(chain[0]) if target else None
        if target is None or base is None:
            yield surface, f"?{text}"
        elif base.kind == "alias":
            again = "" if base.name not in target.origins else base.name
            yield from self._imported(target, again, depth - 1) if again and depth > 1 else iter([(target, f"?{text}")])
        else:
            yield target, base
            yield from self._walk(target, base, depth - 1)

    def _surface(self, path: str) -> Surface | None:
        if path and path not in self._surfaces:
            try:
                self._surfaces[path] = python.read(path, self.project.head.content(path) or b"")
            except module_facts.Unreadable:
                self._surfaces[path] = None
        return self._surfaces.get(path)


def _standard(module: str, chain: list[str]) -> type | None:
    """A class of the standard library, which is safe to import and is not the user's code."""
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names - _NEVER_IMPORTED:
        return None
    try:
        spec = importlib.util.find_spec(top)
        origin = (spec and spec.origin) or ""
        if origin not in {"built-in", "frozen"} and not origin.startswith(sysconfig.get_path("stdlib")):
            return None  # a file of the user's by that name
        found: object = importlib.import_module(module)
    except (ImportError, ValueError):
        return None
    for part in chain:
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None

"""Writes python_stdlib.txt: the names of the standard library, from typeshed and from the interpreter that runs this.

    python gates/names/render_python_stdlib.py    # where mypy is installed, which brings typeshed

One line is a module (`json: dump dumps ...`) or a class of one (`json.decoder:JSONDecoder: decode ...`), what it
inherits included. `name@module`: a class that is written there; `name>=3.12`: from that version on; `name<3.13`: gone
in that version; `*`: answers for any name. Names that only the interpreter has (what a module imports itself) stand
there without a version: nobody is blocked for using them. Names with a leading underscore are not judged, and not here.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import sys
import warnings
from abc import ABCMeta
from dataclasses import dataclass, field, replace
from enum import EnumType
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Version = tuple[int, int]
FIRST, LAST = (3, 0), (3, 99)
_SILENT = {"antigravity", "this", "idlelib", "test", "turtledemo", "lib2to3", "__main__"}
_DYNAMIC = {"__getattr__", "__getattribute__"}
_NO_CLASSES = ("tkinter", "turtle", "lib2to3", "distutils", "msilib", "encodings", "typing", "collections.abc", "types")
"""Modules whose classes are not written: few use them, or their objects are not what they are called."""


@dataclass(frozen=True)
class Span:
    """The versions in which a name is there: from the first, up to and without the second."""

    since: Version = FIRST
    until: Version = LAST

    def within(self, other: Span) -> Span:
        """The part of both."""
        return Span(max(self.since, other.since), min(self.until, other.until))

    def joined(self, other: Span) -> Span:
        """The smallest span that holds both."""
        return Span(min(self.since, other.since), max(self.until, other.until))

    @property
    def empty(self) -> bool:
        """Whether no version is left."""
        return self.since >= self.until


@dataclass
class Scope:
    """The names of a module or of a class; `bases` and `stars` are what it takes over."""

    names: dict[str, Span] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)
    stars: list[tuple[str, Span]] = field(default_factory=list)
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)
    classes: dict[str, Scope] = field(default_factory=dict)
    open: bool = False

    def add(self, name: str, span: Span) -> None:
        """Take up a name, which may be there already for other versions."""
        known = self.names.get(name)
        self.names[name] = known.joined(span) if known else span


class Typeshed:
    """The stubs of the standard library."""

    def __init__(self, folder: Path) -> None:
        self.lives = dict(_versions(folder / "VERSIONS"))
        self.modules: dict[str, Scope] = {}
        for path in sorted(folder.rglob("*.pyi")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            scope = Scope()
            package = name if parts[-1] == "__init__" else name.rpartition(".")[0]
            _read(ast.parse(path.read_text("utf-8")).body, scope, Span(), package)
            self.modules[name] = scope
        for name in self.modules:
            parent, _, last = name.rpartition(".")
            if parent in self.modules:
                self.modules[parent].add(last, self.life(name))

    def life(self, module: str) -> Span:
        """The versions that have a module."""
        while module and module not in self.lives:
            module = module.rpartition(".")[0]
        return self.lives.get(module, Span())

    def names(self, module: str, seen: frozenset[str] = frozenset()) -> dict[str, Span]:
        """The names of a module, star imports included."""
        scope = self.modules[module]
        found = dict(scope.names)
        for star, span in scope.stars:
            if star in self.modules and star not in seen:
                for name, own in self.names(star, seen | {module}).items():
                    if name.startswith("_"):
                        continue
                    found[name] = found[name].joined(own.within(span)) if name in found else own.within(span)
        return found

    def members(self, module: str, name: str, depth: int = 0) -> tuple[dict[str, Span], bool]:
        """The members of a class with those of its bases; True: it answers for any name, or a base is not known."""
        place = self._class(module, name)
        if place is None or depth > 20:  # noqa: PLR2004 - no chain of bases is so long
            return {}, True
        home, scope = place
        found, is_open = dict(scope.names), scope.open or bool(_DYNAMIC & scope.names.keys())
        for base in scope.bases:
            if base in {"object", "Generic", "Protocol", "typing.Generic"}:
                continue
            inherited, other = self.members(home, base, depth + 1)
            is_open |= other
            for key, span in inherited.items():
                found[key] = found[key].joined(span) if key in found else span
        return found, is_open

    def home(self, module: str, name: str) -> str:
        """The module that holds the class which a name of a module stands for; empty where it is no class."""
        found = self._class(module, name) if name in self.names(module) else None
        return found[0] if found else ""

    def _class(self, module: str, name: str, depth: int = 0) -> tuple[str, Scope] | None:
        """The class that a name of a module leads to, and the module that holds it."""
        scope = self.modules.get(module)
        if scope is None or depth > 10:  # noqa: PLR2004 - no chain of re-exports is so long
            return None
        head, _, rest = name.partition(".")
        if rest:
            origin, original = scope.origins.get(head, ("", ""))
            return self._class(f"{origin}.{original}".rstrip("."), rest, depth + 1) if origin else None
        if name in scope.classes:
            return module, scope.classes[name]
        if name in scope.origins:
            return self._class(*scope.origins[name], depth + 1)
        for star, _ in scope.stars:
            found = self._class(star, name, depth + 1)
            if found:
                return found
        return self._class("builtins", name, depth + 1) if module != "builtins" else None


def _versions(path: Path) -> Iterator[tuple[str, Span]]:
    for line in path.read_text("utf-8").splitlines():
        name, colon, span = line.partition("#")[0].strip().partition(": ")
        if colon:
            since, _, until = span.partition("-")
            last = _version(until) if until else LAST
            yield name, Span(_version(since), (last[0], last[1] + 1) if until else LAST)


def _version(text: str) -> Version:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _read(body: list[ast.stmt], scope: Scope, span: Span, package: str) -> None:
    for node in body:
        if isinstance(node, ast.If):
            _branches(node, scope, span, package)
        elif isinstance(node, ast.ClassDef):
            inner = Scope(bases=[ast.unparse(base).partition("[")[0] for base in node.bases])
            inner.open = any(keyword.arg == "metaclass" and "ABC" not in ast.unparse(keyword.value)
                             and "Enum" not in ast.unparse(keyword.value) for keyword in node.keywords)  # fmt: skip
            _read(node.body, inner, Span(), package)
            earlier = scope.classes.get(node.name)
            if earlier:
                for name, own in earlier.names.items():
                    inner.add(name, own)
                inner.bases += earlier.bases
                inner.open |= earlier.open
            scope.classes[node.name] = inner
            scope.add(node.name, span)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope.add(node.name, span)
            returns = ast.unparse(node.returns) if node.returns else ""
            scope.open |= node.name == "__new__" and returns not in {"Self", "Self | None"}
        elif isinstance(node, ast.ImportFrom):
            _import(node, scope, span, package)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                scope.origins[alias.asname or alias.name] = (alias.name, "")
        else:
            _assigned(node, scope, span)


def _assigned(node: ast.stmt, scope: Scope, span: Span) -> None:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            scope.add(each.id, span)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        for target in node.targets:
            if isinstance(target, ast.Name) and node.value.id in scope.classes:
                scope.classes[target.id] = scope.classes[node.value.id]


def _import(node: ast.ImportFrom, scope: Scope, span: Span, package: str) -> None:
    above = package.split(".")[: len(package.split(".")) - (node.level - 1)] if node.level else []
    origin = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append((origin, span))
        else:
            scope.origins[alias.asname or alias.name] = (origin, alias.name)
            if alias.asname == alias.name:  # what a stub imports otherwise is its own business
                scope.add(alias.name, span)


def _branches(node: ast.If, scope: Scope, span: Span, package: str) -> None:
    yes, no = _condition(node.test)
    for body, own in ((node.body, yes), (node.orelse, no)):
        inside = span.within(own)
        if not inside.empty:
            _read(body, scope, inside, package)


def _condition(test: ast.expr) -> tuple[Span, Span]:
    """The versions in which a test of a stub may hold, and those in which it may not."""
    if isinstance(test, ast.BoolOp):
        sides = [_condition(each) for each in test.values]
        yes, no = sides[0]
        for more, less in sides[1:]:
            both = isinstance(test.op, ast.And)
            yes = yes.within(more) if both else yes.joined(more)
            no = no.joined(less) if both else no.within(less)
        return yes, no
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return tuple(reversed(_condition(test.operand)))  # type: ignore[return-value]  # a pair stays a pair
    if not isinstance(test, ast.Compare) or ast.unparse(test.left) != "sys.version_info":
        return Span(), Span()
    bound = ast.literal_eval(test.comparators[0])[:2]
    below, above = Span(until=bound), Span(since=bound)
    return (above, below) if isinstance(test.ops[0], ast.GtE) else (below, above)


def _at_runtime(stubs: Typeshed) -> dict[str, object]:
    """Every module of the standard library that this interpreter can import."""
    found = {}
    known = {name for name in stubs.modules if name.partition(".")[0] in sys.stdlib_module_names}
    for name in sorted(known | set(sys.stdlib_module_names)):
        if name.partition(".")[0] in _SILENT or name.endswith("__main__"):
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = importlib.import_module(name)
        except (ImportError, OSError, AttributeError):
            continue
    return found


def _word(name: str, span: Span, life: Span) -> str:
    span = replace(span, since=FIRST) if span.since <= life.since else span
    word = name
    if span.since > max(FIRST, (3, 8)):
        word += f">={span.since[0]}.{span.since[1]}"
    if span.until < min(LAST, life.until):
        word += f"<{span.until[0]}.{span.until[1]}"
    return word


def _line(title: str, words: dict[str, str], runtime: list[str], *, is_open: bool) -> str:
    shown = {name: name for name in runtime} | words
    return " ".join(
        [f"{title}:", *(["*"] if is_open else []), *(shown[name] for name in sorted(shown) if name[0] != "_")]
    )


def lines() -> Iterator[str]:
    """The lines of the file."""
    import mypy  # noqa: PLC0415 - a dependency of development, which brings typeshed

    stubs = Typeshed(Path(mypy.__file__).parent / "typeshed" / "stdlib")
    runtime, classes = _at_runtime(stubs), set()
    for module in sorted(stubs.modules.keys() | runtime.keys()):
        names = stubs.names(module) if module in stubs.modules else {}
        life, words = stubs.life(module), {}
        for name, span in names.items():
            home = stubs.home(module, name)
            judged = home and not module.startswith(("_", *_NO_CLASSES)) and not name.startswith("_")
            if judged and _has_members(stubs, home, name, runtime):
                classes.add((home, name))
            words[name] = _word(f"{name}@{home}" if (home, name) in classes and home != module else name, span, life)
        is_open = "__getattr__" in names or module not in stubs.modules
        yield _line(_word(module, life, Span()), words, dir(runtime.get(module)), is_open=is_open)
    for home, name in sorted(classes):
        members, _ = stubs.members(home, name)
        cls = getattr(runtime.get(home), name, None)
        life = stubs.names(home)[name]
        words = {each: _word(each, span, life) for each, span in members.items()}
        yield _line(f"{home}:{name}", words, dir(cls) if cls else [], is_open=False)


def _has_members(stubs: Typeshed, home: str, name: str, runtime: dict[str, object]) -> bool:
    """Whether it is a class whose members are all known, here as in the stubs."""
    cls = getattr(runtime.get(home), name, None)
    return (
        name in stubs.modules[home].classes
        and not stubs.members(home, name)[1]
        and (cls is None or type(cls) in {type, ABCMeta, EnumType})
    )


if __name__ == "__main__":
    target = Path(__file__).with_name("python_stdlib.txt")
    target.write_text("\n".join(lines()) + "\n", "utf-8")

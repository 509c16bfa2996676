"""Extracts the imports and defined names of one Python file from its syntax tree."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from swarmgate.gates.imports.model import Guard, Import
from swarmgate.gates.source import python_tree
from swarmgate.gates.source.parse_cache import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEPT_BYTES = 8_000_000
"""Of so much source the readings are kept: head and base, the checks and the graph ask for the same."""

_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_PROBES = re.compile(
    r"version_info|hexversion|platform|implementation|\bos\.name|available|installed|find_spec|import|"
    r"\bhas_|\bhave_|_has_|with_|supports?|\bPY\d|\bPY_|PYPY|\bIS_|\bis_|\bPEP_?\d|enabled|WINDOWS|WIN32|py3|py2|python",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"hasattr|version_info|hexversion|platform|implementation|\bos\.name|find_spec|\bPY\d|\bPY_|PYPY|WINDOWS|WIN32|"
    r"\bHAS_|\bHAVE_|available|installed|supports?|py[23]|\bPEP_?\d",
    re.IGNORECASE,
)
_SKIPS = re.compile(r"skip|require|xfail")
_SKIPPED = re.compile(r"skip|require")
_TYPING = re.compile(r"TYPE_CHECKING")
_SIMPLE = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Import,
    ast.ImportFrom, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal,
)  # fmt: skip
_EXECUTES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_APART = frozenset({*_EXECUTES, ast.ClassDef})
_BINDING = frozenset({
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.Import, ast.ImportFrom, ast.Global,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar, getattr(ast, "TypeAlias", None),
})  # fmt: skip
_GUARDING = frozenset({
    ast.If, ast.Try, ast.TryStar, ast.With, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef,
})  # fmt: skip
"""Kinds of nodes: most are of none of these, and asking by kind costs a tenth of `isinstance`."""
_DYNAMIC = re.compile(
    rb"\bglobals\(\)\s*(?:\[|\.update|\.setdefault|$|[,)])|sys\.modules\[__name__\]|sys\.meta_path|"
    rb"lazy_loader|LazyModule|lazy_import|attach_stub|deprecated_import|moved_module|global_enum|_convert_\b",
    re.MULTILINE,
)
_MAKERS = {"globals", "vars", "locals", "exec", "setattr"}
_LOADERS = {"import_module", "__import__", "importorskip"}


@dataclass(frozen=True, slots=True)
class Definitions:
    """The names that a module binds at its top level, with the first line of each.

    `stars` are the modules whose names it takes over. `dynamic`: it makes names in ways that no reading tells.
    """

    names: dict[str, int] = field(default_factory=dict)
    stars: tuple[Import, ...] = ()
    dynamic: bool = False


@once(KEPT_BYTES)
def imports(content: bytes) -> tuple[Import, ...]:
    """Every import of a file, those in functions and by `importlib.import_module("literal")` too.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: see `gates.source.python_tree.parse`.
    """
    reader = _Imports(calls=any(name.encode() in content for name in _LOADERS))
    for statement in python_tree.parse(content).body:
        reader.visit(statement, Guard.NONE, deferred=False)
    return tuple(
        replace(each, guard=Guard.OPTIONAL) if not each.level and each.module.split(".")[0] in reader.skipped else each
        for each in reader.found
    )


@once(KEPT_BYTES)
def definitions(content: bytes) -> Definitions:
    """The names that a module defines. A file that does not parse counts as dynamic."""
    try:
        parsed = python_tree.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Definitions(dynamic=True)
    names: dict[str, int] = {}
    stars, dynamic = [], False
    for node in _of_module(parsed, globals_too=b"global " in content):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            stars.append(_from(node, Guard.NONE, deferred=False))
        dynamic = dynamic or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in _MAKERS)
        for name in _bound(node):
            names.setdefault(name, getattr(node, "lineno", 0))
    dynamic = dynamic or "__getattr__" in names or _DYNAMIC.search(content) is not None
    return Definitions(names, tuple(stars), dynamic)


def bindings(content: bytes) -> Iterator[tuple[str, ast.AST]]:
    """Each name that a module binds at its top level or by `global`, with the node that does it; none if unreadable."""
    try:
        parsed = python_tree.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in _of_module(parsed, globals_too=b"global " in content):
        yield from ((name, node) for name in _bound(node))


def bound_in(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Each name that the statements of a class bind, with its node."""
    for node in _of_module(ast.Module(body, []), globals_too=False):
        yield from ((name, node) for name in _bound(node))


def guarded_lines(content: bytes) -> list[tuple[int, int]]:
    """The line ranges of code guarded by a check of version, platform or availability."""
    spans = []
    for node in python_tree.walk(python_tree.parse(content)):
        if isinstance(node, ast.If | ast.IfExp):
            guarded = _matches(_ASKS, node.test)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            guarded = any(_matches(_SKIPS, each) for each in node.decorator_list)
        elif isinstance(node, ast.ExceptHandler):
            guarded = _catches(node)  # what it does where something is missing
        else:
            continue
        if guarded:
            spans.append((node.lineno, node.end_lineno or node.lineno))
    return spans


class _Imports:
    """One walk over a file: the imports, each with its guard."""

    def __init__(self, *, calls: bool) -> None:
        self.found: list[Import] = []
        self.skipped: set[str] = set()
        self._calls = calls  # without one, no expression can hold an import

    def visit(self, node: ast.AST, guard: Guard, *, deferred: bool) -> None:
        if isinstance(node, ast.Import):
            self.found += [
                Import(alias.name, (), 0, node.lineno, node.col_offset + 1, guard, deferred) for alias in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            self.found.append(_from(node, guard, deferred=deferred))
        elif isinstance(node, ast.Call):
            self._call(node, guard, deferred=deferred)
        if not self._calls and isinstance(node, _SIMPLE):
            return  # holds nothing but expressions
        parts = python_tree.children(node)
        for child, own in _guarded(node, parts, guard):
            if self._calls or not isinstance(child, ast.expr | ast.expr_context):
                self.visit(child, own, deferred=deferred or isinstance(node, _EXECUTES))

    def _call(self, node: ast.Call, guard: Guard, *, deferred: bool) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        argument = node.args[0] if node.args else None
        if name not in _LOADERS or not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            return
        module = argument.value
        if name == "importorskip":
            self.skipped.add(module.split(".")[0])
        elif re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module) and len(node.args) == 1:
            self.found.append(Import(module, (), 0, node.lineno, node.col_offset + 1, guard, deferred))


def _guarded(node: ast.AST, parts: Iterable[ast.AST], guard: Guard) -> Iterator[tuple[ast.AST, Guard]]:
    """The children of a node, each with the guard that it stands under."""
    if type(node) not in _GUARDING:
        yield from ((part, guard) for part in parts)
        return
    inner = guard
    own: list[ast.stmt] = []
    if isinstance(node, ast.If):
        if _matches(_TYPING, node.test):
            inner, own = Guard.TYPING if guard is Guard.NONE else guard, node.body
        elif _matches(_PROBES, node.test):
            inner, own = Guard.OPTIONAL, [*node.body, *node.orelse]
    elif isinstance(node, ast.Try | ast.TryStar) and any(map(_catches, node.handlers)):
        handled = [part for handler in node.handlers for part in handler.body]
        inner, own = Guard.OPTIONAL, [*node.body, *handled, *node.orelse]
    elif isinstance(node, ast.With) and any(_expects(item.context_expr) for item in node.items):
        inner, own = Guard.OPTIONAL, node.body
    elif any(_matches(_SKIPPED, each) for each in getattr(node, "decorator_list", ())):
        inner, own = Guard.OPTIONAL, node.body  # type: ignore[attr-defined]  # only definitions have decorators
    marked = {id(statement) for statement in own}
    handlers = {id(handler) for handler in node.handlers} if own and isinstance(node, ast.Try) else set()
    for part in parts:
        yield part, inner if id(part) in marked or id(part) in handlers else guard


def _matches(pattern: re.Pattern[str], node: ast.expr) -> bool:
    """Whether an expression, written out, holds one of the words of a pattern.

    Writing it out takes thirty times as long as looking at its names and texts, which hold whatever the whole holds.
    """
    return pattern.search(" ".join(_words(node))) is not None and pattern.search(ast.unparse(node)) is not None


def _words(node: ast.expr) -> Iterator[str]:
    for each in python_tree.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield "os.name" if each.attr == "name" else each.attr
        elif isinstance(each, ast.Constant):
            yield str(each.value)
        elif isinstance(each, ast.keyword | ast.arg):
            yield each.arg or ""


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(kind, "id", getattr(kind, "attr", "")) in _CATCHES for kind in kinds)


def _expects(call: ast.expr) -> bool:
    """`contextlib.suppress(ImportError)`, `pytest.raises(ImportError)` and their like."""
    return isinstance(call, ast.Call) and any(
        getattr(kind, "id", getattr(kind, "attr", "")) in _CATCHES for kind in python_tree.walk(call)
    )


def _from(node: ast.ImportFrom, guard: Guard, *, deferred: bool) -> Import:
    names = tuple(alias.name for alias in node.names)
    return Import(node.module or "", names, node.level, node.lineno, node.col_offset + 1, guard, deferred)


def _of_module(module: ast.Module, *, globals_too: bool) -> Iterator[ast.AST]:
    """Every node that runs in the module's own scope, and if wanted the `global` statements of functions."""
    stack: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(module.body)]
    while stack:
        node, own = stack.pop()
        if own or isinstance(node, ast.Global):
            yield node
        nested = type(node) in _APART
        if nested and not globals_too:
            continue
        stack.extend((child, own and not nested) for child in reversed(python_tree.children(node)))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that one node binds."""
    if type(node) not in _BINDING:
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Import):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Global):
        yield from node.names
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif type(node).__name__ == "TypeAlias":  # Python 3.12
        yield getattr(getattr(node, "name", None), "id", "")

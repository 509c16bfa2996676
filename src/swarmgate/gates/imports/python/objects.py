"""Reads the functions and classes of the project from the syntax tree, where their members are certain.

Certain means: bound once in a module that makes no names at run time, not decorated by what may change it, and of a
class all bases are certain as well. What is not certain is None.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Parameter, ParameterKind
from swarmgate.gates.contracts.python.module_facts import OPEN_CLASS
from swarmgate.gates.imports.python import source as python_source
from swarmgate.gates.imports.python import stdlib
from swarmgate.gates.source import python_tree as source
from swarmgate.gates.source.parse_cache import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.contracts.model import Signature
    from swarmgate.gates.imports.python.project import Place, PythonProject
    from swarmgate.gates.project.view import View

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_HOPS = 6
"""So many re-exports, and so many bases above each other, are followed."""
_SAME_CALL = {
    "staticmethod", "classmethod", "abstractmethod", "override", "final", "lru_cache", "cache", "contextmanager",
    "asynccontextmanager", "deprecated", "no_type_check",
}  # fmt: skip
"""Decorators that leave the way in which a function is called as it is."""
_SAME_CLASS = {"dataclass", "total_ordering", "final", "runtime_checkable", "unique"}
_PLAIN_BASES = {"object", "ABC", "Protocol", "Generic"}
_OPENS = re.compile(rb"\bsetattr\(|__dict__|\bvars\(|\bglobals\(|__slots__|\blocals\(")


@dataclass(frozen=True)
class Function:
    """A function: its parameters (of a method without the receiver) and whether it is called on the class."""

    signature: Signature
    bound: bool = False
    """Whether a call through an object of the class leaves out the receiver."""
    gives: tuple[str, Class] | None = None
    """The class of the project of which its annotation says that it returns an object, by name."""


@dataclass(frozen=True)
class Class:
    """A class: its names, and those methods that are certain.

    `maker`: how it is called; None where that is not certain. `hidden`: a base of the standard library may have private
    names that are not in `members`.
    """

    members: frozenset[str]
    methods: dict[str, Function] = field(default_factory=dict)
    maker: Function | None = None
    hidden: bool = False

    def lacks(self, name: str) -> bool:
        """Whether it certainly has no such name."""
        return name not in self.members and not name.startswith("__") and not (self.hidden and name.startswith("_"))


_OF_OBJECT = Function(())
"""How a class without an `__init__` is called."""


class Objects:
    """The functions and classes of one tree whose members are certain."""

    def __init__(self, view: View, project: PythonProject) -> None:
        self._view, self._project = view, project
        self._found: dict[tuple[str, str], Function | Class | None] = {}

    def find(self, place: Place, name: str) -> Function | Class | None:
        """The function or class that a name of a module certainly refers to."""
        return self.of_file(place.files[0], name) if len(place.files) == 1 else None

    def of_file(self, path: str, name: str, depth: int = 0) -> Function | Class | None:
        """The function or class that a name of a file certainly refers to."""
        if depth > _HOPS:
            return None
        if (path, name) not in self._found:
            self._found[path, name] = None  # a class that derives from itself is not certain
            self._found[path, name] = self._find(path, name, depth)
        return self._found[path, name]

    def _find(self, path: str, name: str, depth: int) -> Function | Class | None:
        content = self._view.content(path) or b""
        if not path.endswith(".py") or python_source.definitions(content).dynamic:
            return None
        bound = _bindings(content).get(name, ())
        node = bound[0] if len(bound) == 1 else None
        if isinstance(node, ast.ImportFrom):
            return self._onward(path, node, name, depth)
        if isinstance(node, ast.ClassDef):
            return self._class(path, node, content, depth)
        made = _function(node, method=False) if node is not None else None
        return replace(made, gives=self._given(path, node, depth)) if made is not None else None

    def _given(self, path: str, node: ast.AST | None, depth: int) -> tuple[str, Class] | None:
        """The class that the annotation of a plain function names; of a coroutine the call gives another object."""
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return None
        returned = node.returns.value if isinstance(node.returns, ast.Constant) else getattr(node.returns, "id", "")
        name = returned if isinstance(returned, str) and returned.isidentifier() else ""
        found = self.of_file(path, name, depth + 1) if name else None
        return (name, found) if isinstance(found, Class) else None

    def _onward(self, path: str, node: ast.ImportFrom, name: str, depth: int) -> Function | Class | None:
        original = next((each.name for each in node.names if (each.asname or each.name) == name), "")
        if node.level:
            place = self._project.relative(node.module or "", node.level, path)
            places = [place] if place else []
        else:
            places = self._project.locate(node.module or "", path)
        if not original or not places or places[0].missing or len(places[0].files) != 1:
            return None
        return self.of_file(places[0].files[0], original, depth + 1)

    def _class(self, path: str, node: ast.ClassDef, content: bytes, depth: int) -> Class | None:
        words = {_last(each) for each in node.decorator_list}
        lines = b"\n".join(content.split(b"\n")[node.lineno - 1 : node.end_lineno])
        if words - _SAME_CLASS or any(each.arg != "metaclass" for each in node.keywords) or _OPENS.search(lines):
            return None
        if any(_last(each.value) != "ABCMeta" for each in node.keywords):
            return None
        own = _own_names(node)
        if OPEN_CLASS & own.keys() or "__new__" in own or "__init_subclass__" in own:
            return None
        members = set(own)
        methods: dict[str, Function] = {}
        maker: Function | None = _OF_OBJECT
        hidden = False
        for base in reversed(node.bases):
            above = self._base(path, base, content, depth)
            if above is None:
                return None
            members |= above.members
            hidden |= above.hidden
            methods |= above.methods
            maker = maker if above.maker is _OF_OBJECT else above.maker  # the first base that has one of its own
        methods = {name: each for name, each in methods.items() if name not in own}
        for name, bound in own.items():
            made = _function(bound[0], method=True) if len(bound) == 1 else None
            if made is not None:
                methods[name] = made
        if "__init__" in own:
            maker = methods.get("__init__")
        simple = not words - {"final", "total_ordering"} and (not node.bases or maker is not None)
        members |= set(_stored(node))
        return Class(frozenset(members), methods, maker if simple else None, hidden)

    def _base(self, path: str, base: ast.expr, content: bytes, depth: int) -> Class | None:
        """What a base brings; of the standard library only the names."""
        text = ast.unparse(base).partition("[")[0]
        head, _, rest = text.partition(".")
        bound = _bindings(content).get(head, ())
        if not bound and not rest:
            return _standard("builtins", head)
        node = bound[0] if len(bound) == 1 else None
        if isinstance(node, ast.ImportFrom) and not node.level and not rest:
            original = next((each.name for each in node.names if (each.asname or each.name) == head), "")
            module = node.module or ""
            if stdlib.knows(module) and not self._project.locate(module, path):
                return _standard(module, original)
        if isinstance(node, ast.Import) and rest and not self._project.locate(head, path):
            return _standard(head, rest) if stdlib.knows(head) and "." not in rest else None
        found = self.of_file(path, head, depth + 1) if not rest else None
        return found if isinstance(found, Class) else None


def _standard(module: str, name: str) -> Class | None:
    if name in _PLAIN_BASES:
        return Class(frozenset(), {}, _OF_OBJECT)
    names = stdlib.names(module) or {}
    home = names[name].home if name in names else ""
    members = stdlib.names(f"{home or module}:{name}")
    return None if members is None else Class(frozenset(members), hidden=True)


@once(python_source.KEPT_BYTES)
def _bindings(content: bytes) -> dict[str, tuple[ast.AST, ...]]:
    """The statements that bind each name of a module."""
    found: dict[str, tuple[ast.AST, ...]] = {}
    for name, node in python_source.bindings(content):
        found[name] = (*found.get(name, ()), node)
    return found


def _own_names(node: ast.ClassDef) -> dict[str, tuple[ast.AST, ...]]:
    found: dict[str, tuple[ast.AST, ...]] = {}
    for name, each in python_source.bound_in(node.body):
        found[name] = (*found.get(name, ()), each)
    return found


def _stored(node: ast.ClassDef) -> Iterator[str]:
    """The names of attributes that the class assigns, on whatever object."""
    for each in source.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.attr


def _function(node: ast.AST, *, method: bool) -> Function | None:
    if not isinstance(node, _Function):
        return None
    words = {_last(each) for each in node.decorator_list}
    if words - _SAME_CALL:
        return None
    parameters = list(_parameters(node.args))
    bound = method and "staticmethod" not in words
    if bound:
        if not parameters or not parameters[0].kind.positional:
            return None
        parameters = parameters[1:]
    return Function(tuple(parameters), bound and "classmethod" not in words)


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    placed = [*arguments.posonlyargs, *arguments.args]
    needed = len(placed) - len(arguments.defaults)
    for number, each in enumerate(placed):
        kind = ParameterKind.POSITIONAL if number < len(arguments.posonlyargs) else ParameterKind.EITHER
        yield Parameter(each.arg, kind, required=number < needed)
    if arguments.vararg:
        yield Parameter(arguments.vararg.arg, ParameterKind.REST, required=False)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(each.arg, ParameterKind.KEYWORD, required=default is None)
    if arguments.kwarg:
        yield Parameter(arguments.kwarg.arg, ParameterKind.KEYWORD_REST, required=False)


def _last(node: ast.expr) -> str:
    """The last part of a decorator's or base's name."""
    inner = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(inner).partition("[")[0].rpartition(".")[2]

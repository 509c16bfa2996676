"""Reads from a Python module's syntax tree its imports, star imports, redefinitions and dynamic names."""

from __future__ import annotations

import ast
import posixpath
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN_CLASS = {"__getattr__", "__getattribute__"}
"""A class with one of these answers for names that it does not show."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Unreadable(Exception):
    """Raised for a file that is not valid Python in this interpreter's version."""


def parse(content: bytes) -> ast.Module:
    """The shared syntax tree; it must not be changed.

    Raises:
        Unreadable: it does not parse.
    """
    try:
        return python_tree.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(str(error)) from error


def decode(content: bytes) -> str:
    """The text of a file that parsed: UTF-8, or what Latin-1 makes of it (names and signatures are ASCII then)."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def only_adds(old: bytes, new: bytes) -> bool:
    """Whether the change only adds functions and classes, so that nothing can break.

    What is compared is the module without the bodies of its functions.

    Raises:
        Unreadable: one of them does not parse.
    """
    left = [each for node in parse(old).body if (each := _outline_of(node))]
    known, matched = unicodedata.normalize("NFKC", decode(old)), 0  # as the compiler reads names
    for node in parse(new).body:
        outline = _outline_of(node)
        if matched < len(left) and outline == left[matched]:
            matched += 1
        elif outline and not (isinstance(node, _DEFINITIONS) and node.name not in known):
            return False
    return matched == len(left)


def _outline_of(node: ast.stmt) -> tuple[str, ...]:
    """Texts that differ whenever a contract may differ."""
    return tuple(_outline([node]))


def _outline(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{type(node).__name__} {node.name}"
            yield from (ast.dump(each) for each in (node.args, *node.decorator_list, node.returns) if each)
            yield from sorted(_stores(node)) if node.name == "__init__" else ()
        elif isinstance(node, ast.ClassDef):
            yield f"class {node.name}"
            yield from (ast.dump(each) for each in (*node.bases, *node.keywords, *node.decorator_list))
            yield from _outline(node.body)
            yield "end"
        elif hasattr(node, "body"):
            yield from (ast.dump(each) for each in python_tree.children(node) if isinstance(each, ast.expr))
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield part
                inside = getattr(node, part, [])
                for each in inside if part == "handlers" else ():
                    yield from _outline(each.body)
                yield from _outline(inside) if part != "handlers" else ()
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield ast.dump(node)


def _stores(node: ast.AST) -> set[str]:
    """The names of attributes that are assigned below a node, on whatever object."""
    return {
        each.attr
        for each in python_tree.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    }


class Facts:
    """A module's imports, star imports, double definitions and dynamic names."""

    def __init__(self, tree: ast.Module, path: str) -> None:
        self.path = path
        self.imports: dict[str, tuple[str, str]] = {}
        self.stars: list[str] = []
        self.explicit: set[str] = set()
        self.dynamic = False
        self.answering, self.made = False, False
        self.spoken: set[str] = set()
        self.repeated: set[str] = set()
        self.stores: dict[str, set[str]] = {}
        self._scope(tree.body, "")
        if self.dynamic or self.answering:
            self.spoken = _words(tree)

    def _scope(self, body: list[ast.stmt], prefix: str) -> None:
        defined, assigned = Counter[str](), set[str]()
        for node in statements(body):
            if isinstance(node, ast.Import | ast.ImportFrom) and not prefix:
                self._import(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.dynamic |= not prefix and node.name == "__getattr__"
                self.answering |= node.name in OPEN_CLASS
                defined[node.name] += not _companion(node)
            elif isinstance(node, ast.ClassDef):
                defined[node.name] += 1
                self.stores[f"{prefix}{node.name}"] = _stores(node)
                self._scope(node.body, f"{prefix}{node.name}.")
            elif not prefix and _touches_globals(node):
                self.dynamic = True
            elif isinstance(node, ast.Assign):
                assigned |= {each.id for each in node.targets if isinstance(each, ast.Name)}
                self.made |= not prefix and "__getattr__" in assigned
        self.repeated |= {f"{prefix}{name}" for name, count in defined.items() if count + (name in assigned) > 1}

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for each in node.names:
                self.imports[each.asname or each.name.split(".")[0]] = (each.name, "")
            return
        origin = absolute(self.path, node)
        for each in node.names:
            if each.name == "*":
                self.stars.append(origin)
                continue
            self.imports[each.asname or each.name] = (origin, each.name)
            if each.asname == each.name:
                self.explicit.add(each.name)


def absolute(path: str, node: ast.ImportFrom) -> str:
    """Where a `from` import leads: a dotted name, or for a relative one a path without suffix, with `/` in front."""
    if not node.level:
        return node.module or ""
    folder = posixpath.dirname(path)
    for _ in range(node.level - 1):
        folder = posixpath.dirname(folder)
    return "/" + posixpath.join(folder, *(node.module or "").split(".") if node.module else ())


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope, those inside `if`, `try`, `with` and loops too."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


def _companion(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """An overload, or a property's setter: it does not define its name anew."""
    names = {part for each in node.decorator_list for part in ast.unparse(each).replace("(", ".").split(".")}
    return bool(names & {"overload", "setter", "deleter", "getter", "register"})


def _touches_globals(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr | ast.Assign | ast.For | ast.AugAssign):
        return False
    calls = (each.func for each in python_tree.walk(node) if isinstance(each, ast.Call))
    return any(isinstance(call, ast.Name) and call.id in {"globals", "setattr", "vars"} for call in calls)


def _words(tree: ast.Module) -> set[str]:
    """The words of every string that is no docstring."""
    silent = {id(each.value) for each in python_tree.walk(tree) if isinstance(each, ast.Expr)}
    texts = (each.value for each in python_tree.walk(tree) if isinstance(each, ast.Constant) and id(each) not in silent)
    return {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}

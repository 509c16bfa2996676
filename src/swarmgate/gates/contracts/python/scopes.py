"""Resolves the names of a Python file by scope: to imports, own definitions, or objects of a known class.

A binding is certain or it is nothing: a name that is bound twice in its scope leads nowhere.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.python.module_facts import absolute, statements
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Ref:
    """A place in the project as the file names it: a module (`python.absolute`'s form) and a path of names below it.

    `instance`: an object of the class that it names. `own`: reached through `self`. `declared`: an annotation says so.
    """

    module: str
    names: tuple[str, ...] = ()
    instance: bool = False
    own: bool = False
    declared: bool = False

    def below(self, name: str) -> Ref:
        """The reference to its attribute `name`."""
        return replace(self, names=(*self.names, name))


Scope = dict[str, Ref | None]
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_DEFINING = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_SETTING = _DEFINING | {ast.Global, ast.Nonlocal}
_BINDING = _DEFINING | {
    ast.Import, ast.ImportFrom, ast.Assign, ast.Name, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
}  # fmt: skip
"""Kinds of nodes: most of a function are of none of these, and asking by kind costs a tenth of `isinstance`."""


def module_scope(tree: ast.Module, own: str) -> Scope:
    """The names of the module; its own definitions are `Ref`s below `own`, its module."""
    scope: Scope = {}
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known = node.name not in scope or scope[node.name] == Ref(own, (node.name,))
            scope[node.name] = Ref(own, (node.name,)) if known else None
    _bind(scope, _walk(tree.body), own)
    return scope


def function_scope(node: _Function, outer: Scope, own: str) -> Scope:
    """The names that a function binds: parameters, assignments, imports."""
    scope: Scope = {}
    arguments = node.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        made = _ref(each.annotation, outer) if each.annotation else None
        scope[each.arg] = replace(made, instance=True, declared=True) if made else None
    for star in (arguments.vararg, arguments.kwarg):
        if star:
            scope[star.arg] = None
    if not isinstance(node, ast.Lambda):
        parameters = set(scope)
        inner: Scope = {}
        nodes = list(_walk(node.body))
        _bind(inner, nodes, own, outer=outer | scope)
        scope |= {name: None if name in parameters else ref for name, ref in inner.items()}
        for inside in nodes:
            if type(inside) not in _SETTING:
                continue
            if isinstance(inside, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                scope[inside.name] = None  # one of its own, whatever the module has by that name
            elif isinstance(inside, ast.Global | ast.Nonlocal):
                for name in inside.names:
                    scope.pop(name, None)
    return scope


def _bind(scope: Scope, nodes: Iterable[ast.AST], own: str, outer: Scope | None = None) -> None:
    seen: dict[str, int] = {}
    for node in nodes:
        if type(node) not in _BINDING or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            continue
        for name, ref in _bound(node, own, outer if outer is not None else scope):
            seen[name] = seen.get(name, 0) + 1
            same = name in scope and scope[name] == ref and ref is not None
            scope[name] = ref if same or (seen[name] == 1 and name not in scope) else None


def _bound(node: ast.AST, own: str, outer: Scope) -> Iterator[tuple[str, Ref | None]]:
    if isinstance(node, ast.Import):
        for each in node.names:
            yield each.asname or each.name.partition(".")[0], Ref(each.name if each.asname else each.name.split(".")[0])
    elif isinstance(node, ast.ImportFrom):
        module = absolute(own[1:] + ".py", node)  # `own` is a path without suffix, with `/` in front
        for each in node.names:
            if each.name != "*":
                yield each.asname or each.name, Ref(module, (each.name,))
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, _made(node.value, outer)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if Ref(own, (node.name,)) != outer.get(node.name):
            yield node.name, None
    else:
        yield from _other(node)


def _other(node: ast.AST) -> Iterator[tuple[str, None]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id, None
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, None


def _made(value: ast.expr, outer: Scope) -> Ref | None:
    ref = _ref(value.func, outer) if isinstance(value, ast.Call) else None
    return replace(ref, instance=True) if ref and not ref.instance else None


def _ref(node: ast.expr, scope: Scope) -> Ref | None:
    if isinstance(node, ast.Attribute):
        ref = _ref(node.value, scope)
        return ref.below(node.attr) if ref else None
    return scope.get(node.id) if isinstance(node, ast.Name) else None


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of a scope; the insides of functions, classes and lambdas are scopes of their own."""
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if type(node) in _DEFINING:
            stack.extend(node.decorator_list)  # type: ignore[attr-defined]  # by its kind
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            stack.append(node.value)  # its target is bound by itself
        elif not isinstance(node, ast.Lambda):
            stack.extend(python_tree.children(node))

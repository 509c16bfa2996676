"""Decides which of bandit's shell, `eval` and `exec` findings block: those whose command is not constant.

bandit and ruff tell every such call. One whose command is a literal, or put together of literals, harms nobody; what a
caller hands over does. `eval` and `exec` have honest uses (they load a configuration file): they block where a
parameter of the function is itself the code.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHELLS = {"system", "popen", "popen2", "popen3", "popen4", "getoutput", "getstatusoutput"}
_RUNS = {"eval", "exec"}
_LOOPS = {"asyncio.run", "anyio.run", "trio.run", "uvloop.run"}
_LOADS, _OF_TEXTS = {"load", "load_all"}, {"BaseLoader", "CBaseLoader"}
_COMMANDS = {"args", "command", "cmd"}
_HARMLESS = {"quote", "int", "float", "len", "getpid", "mkdtemp", "abs", "round", "bool", "ord", "hex"}
"""Calls whose result is no command: quoted text (shlex), numbers, names that the system chooses."""
_PASSING = {"format", "strip", "lstrip", "rstrip", "join", "replace", "encode", "decode", "str", "dedent", "compile"}
"""Calls whose result is the text that they got."""
_MOST_STEPS = 200

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Scope = ast.Module | _Function


def open_calls(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """The calls that run a command or code that is not constant: bandit's test, first and last line."""
    for call, scopes in _calls(tree, ()):
        called, last = _last_name(call.func), call.end_lineno or call.lineno
        if called in _RUNS and call.args and _is_handed(call.args[0], scopes):
            yield from ((test, call.lineno, last) for test in ("B102", "B307"))
        if any(each.arg == "shell" for each in call.keywords) and _command_is_open(call, scopes):
            yield "B602", call.lineno, last
        if called in _SHELLS and _command_is_open(call, scopes):
            yield "B605", call.lineno, last


def harmless_calls(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """The calls for which a bandit test is always wrong: the test, first and last line.

    A loader of YAML that builds nothing but texts, lists and dicts runs nothing, and a loop of asyncio serves nobody.
    """
    for node in python_tree.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) in _LOADS:
            named = [each.value for each in node.keywords if each.arg == "Loader"]
            if any(_last_name(each) in _OF_TEXTS for each in (*node.args[1:2], *named)):
                yield "B506", node.lineno, node.end_lineno or node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _LOOPS:
            yield "B201", node.lineno, node.lineno


def _calls(node: ast.AST, scopes: tuple[_Scope, ...]) -> Iterator[tuple[ast.Call, tuple[_Scope, ...]]]:
    """Every call with the scopes that it stands in, the innermost last."""
    waiting: list[tuple[ast.AST, tuple[_Scope, ...]]] = [(node, scopes)]
    while waiting:
        each, around = waiting.pop()
        if isinstance(each, _Scope):
            around = (*around, each)
        if isinstance(each, ast.Call):
            yield each, around
        waiting += [(below, around) for below in python_tree.children(each)]


def _command_is_open(call: ast.Call, scopes: tuple[_Scope, ...]) -> bool:
    named = [each.value for each in call.keywords if each.arg in _COMMANDS]
    command = next(iter([*call.args, *named]), None)
    return command is not None and not _Fixed(scopes).holds(command)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


class _Fixed:
    """Whether an expression has the same value whoever calls."""

    def __init__(self, scopes: tuple[_Scope, ...]) -> None:
        self._scopes = scopes
        self._seen: set[str] = set()
        self._steps = 0

    def holds(self, node: ast.expr) -> bool:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return False
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id.isupper() or self._name(node.id)
        if isinstance(node, ast.Attribute):
            return node.attr.isupper() or ast.unparse(node) in {"sys.executable", "os.sep", "sys.platform", "os.name"}
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self.holds(node.value)
        parts = _PARTS.get(type(node))
        return parts is not None and all(
            self.holds(each) for field in parts for each in _expressions(getattr(node, field))
        )

    def _call(self, node: ast.Call) -> bool:
        called = _last_name(node.func)
        if called in _HARMLESS or ast.unparse(node.func) == "shlex.join":
            return True
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        given = [*receiver, *node.args, *(each.value for each in node.keywords)]
        return called in _PASSING and all(self.holds(each) for each in given)

    def _name(self, name: str) -> bool:
        if name in self._seen:
            return True
        self._seen.add(name)
        for scope in reversed(self._scopes):
            if not isinstance(scope, ast.Module) and name in _parameters(scope):
                return False
            bound = list(_bindings(scope, name))
            if bound:
                return all(each is not None and self.holds(each) for each in bound)
        return False


_PARTS: dict[type[ast.expr], tuple[str, ...]] = {
    ast.JoinedStr: ("values",), ast.FormattedValue: ("value",), ast.BinOp: ("left", "right"), ast.List: ("elts",),
    ast.Tuple: ("elts",), ast.Set: ("elts",), ast.IfExp: ("body", "orelse"), ast.BoolOp: ("values",),
    ast.Dict: ("values",), ast.Starred: ("value",), ast.NamedExpr: ("value",),
}  # fmt: skip
"""The parts of an expression of which its value is made."""


def _expressions(value: ast.expr | list[ast.expr]) -> list[ast.expr]:
    return value if isinstance(value, list) else [value]


def _parameters(function: _Function) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return {each.arg for each in every}


def _bindings(scope: _Scope, name: str) -> Iterator[ast.expr | None]:
    """What a scope binds to a name; None for what is not followed (an import, a part of a tuple, a `with`)."""
    for node in _own(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    yield node.value
                elif not isinstance(target, ast.Name) and _binds(target, name):
                    yield None
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For | ast.AsyncFor):
            if isinstance(node.target, ast.Name) and node.target.id == name:
                yield node.iter if isinstance(node, ast.For | ast.AsyncFor) else node.value
            elif _binds(node.target, name):
                yield None
        elif isinstance(node, ast.withitem) and node.optional_vars is not None and _binds(node.optional_vars, name):
            yield None


def _binds(target: ast.expr, name: str) -> bool:
    """Whether a target binds the name itself; `name.x = 1` and `name[0] = 1` do not."""
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in ast.walk(target)
    )


def _own(scope: _Scope) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions in it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function):
            waiting += ast.iter_child_nodes(node)


def _is_handed(code: ast.expr, scopes: tuple[_Scope, ...]) -> bool:
    """Whether a parameter is the code that is run, or a part of its text."""
    functions = [each for each in scopes if not isinstance(each, ast.Module)]
    if not functions:
        return False
    handed = set().union(*map(_parameters, functions)) - {"self", "cls"}
    followed: set[str] = set()
    waiting = [code]
    while waiting and len(followed) < _MOST_STEPS:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if node.id in handed:
                return True
            if node.id not in followed:
                followed.add(node.id)
                waiting += [each for scope in functions for each in _bindings(scope, node.id) if each is not None]
        elif isinstance(node, ast.Call):
            if _last_name(node.func) in _PASSING:
                receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
                waiting += [*receiver, *node.args[:1]]
        else:
            waiting += [each for field in _PARTS.get(type(node), ()) for each in _expressions(getattr(node, field))]
    return False

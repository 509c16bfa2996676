"""Interprets a Python file for the taint analysis and reports which outside input reaches which sink.

Constants are computed, branches that a constant condition excludes are not taken, a slot of a list or dict holds what
was put into it, functions and classes of the file are entered. An unknown condition goes both ways, a loop runs twice.
Every function is also run on its own, its parameters unknown or, where a framework calls it, from outside.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows import sources
from swarmgate.gates.sast.flows.calls import Calls
from swarmgate.gates.sast.flows.expressions import Expressions
from swarmgate.gates.sast.flows.sinks import Places
from swarmgate.gates.sast.flows.state import Frame, State
from swarmgate.gates.sast.flows.statements import Statements
from swarmgate.gates.sast.flows.values import UNKNOWN, Function, Object, Ref, Text, content, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from swarmgate.gates.sast.flows.rule import Flows
    from swarmgate.gates.sast.flows.state import Found
    from swarmgate.gates.sast.flows.values import Env, Origins, Value

_DEEPEST = 4
_MOST_ENTERED = 30_000
"""Steps in functions that are called; beyond, a call passes its arguments on."""


class Interpreter:
    """Interprets files and functions.

    Its parts share one state: expressions give values, calls are expressions that may enter functions again, statements
    bind values and choose ways, places are sinks that are no calls.
    """

    def __init__(self, flows: Flows) -> None:
        self._state = State(flows)
        self._expressions = Expressions(self._state, self._call)
        places = Places(self._state)
        self._calls = Calls(self._state, self._expressions, places, self.run)
        self._statements = Statements(self._state, self._expressions, places)
        self._running: list[ast.AST] = []
        self._results: dict[tuple[object, ...], Value] = {}
        self._entered = 0

    def _call(self, node: ast.Call) -> Value:
        return self._calls.call(node)

    @property
    def found(self) -> dict[Found, Origins]:
        """The findings: where outside input reaches a sink, with its source."""
        return self._state.found

    def file(self, tree: ast.Module) -> None:
        """Run the module, then each function as an entry."""
        self._state.frame = Frame({})
        self._statements.block(tree.body)
        while self._state.waiting:
            self._enter(self._state.waiting.pop(0))

    def _enter(self, function: Function) -> None:
        node = function.node
        if isinstance(node, ast.Lambda):
            return
        owner = function.owner
        bases = None if owner is None else " ".join(ast.unparse(base) for base in owner.node.bases)
        env: Env = {}
        given = [*node.args.posonlyargs, *node.args.args]
        for arg, kind in sources.parameters(node, bases):
            if arg.arg in {"request", "req"}:
                env[arg.arg] = Ref("request")
            elif owner is not None and given and arg is given[0] and arg.arg in {"self", "cls"}:
                env[arg.arg] = Object(owner.node.name, made_by=owner)
            else:
                env[arg.arg] = Text(frozenset({(kind, arg.lineno)})) if kind else UNKNOWN
        self._body(function, env, entry=True)

    def run(self, function: Function, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """The return value of a function for these arguments."""
        node = function.node
        if node in self._running or len(self._running) >= _DEEPEST or self._entered > _MOST_ENTERED:
            return content([*arguments, *keywords.values()])
        key = (
            id(node),
            *map(_form, (function.bound, *arguments)),
            *((name, _form(each)) for name, each in keywords.items()),
        )
        if key not in self._results:
            started = self._state.steps
            self._results[key] = self._entered_with(function, arguments, keywords)
            self._entered += self._state.steps - started
        return self._results[key]

    def _entered_with(self, function: Function, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        node = function.node
        spec = node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        env: Env = dict.fromkeys([*names, *(arg.arg for arg in spec.kwonlyargs)], UNKNOWN)
        for name, default in zip(reversed(names), reversed(spec.defaults), strict=False):
            env[name] = default.value if isinstance(default, ast.Constant) else UNKNOWN
        given = [function.bound, *arguments] if function.bound is not None else list(arguments)
        env.update(zip(names, given, strict=False))
        env.update((name, value) for name, value in keywords.items() if name in env)
        if spec.vararg:
            env[spec.vararg.arg] = given[len(names) :]
        if spec.kwarg:
            env[spec.kwarg.arg] = {name: value for name, value in keywords.items() if name not in env}
        return self._body(function, env)

    def _body(self, function: Function, env: Env, *, entry: bool = False) -> Value:
        node, before = function.node, self._state.frame
        self._state.frame = Frame(env, function.scope, fixed_path=before.fixed_path)
        if entry and not isinstance(node, ast.Lambda):
            bases = "" if function.owner is None else " ".join(map(ast.unparse, function.owner.node.bases))
            imported = (each.name for env in function.scope for each in env.values() if isinstance(each, Ref))
            self._state.frame.page = sources.answers_with_page(node, bases, imported)
            self._state.frame.fixed_path = sources.has_fixed_path(node)
        self._running.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self._expressions.value(node.body)
            self._statements.block(node.body)
            returned = self._state.frame.returned + ([None] if self._state.frame.env is not None else [])
            return joined(returned) if returned else None
        finally:
            self._running.pop()
            self._state.frame = before


def _form(value: Value) -> object:
    """What of an argument decides a call's result: equal forms give equal results."""
    if isinstance(value, Text):
        return value.origins, value.safe, value.start, value.resolved
    if isinstance(value, list | dict):
        return id(value)  # it may be changed by the call
    if isinstance(value, Object):
        held = content(value)
        return value.name, held.origins, held.safe
    return (type(value), value) if not isinstance(value, Ref) else value.name

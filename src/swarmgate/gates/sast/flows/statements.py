"""Evaluates statements in the taint analysis; an unknown condition takes both branches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows import operations
from swarmgate.gates.sast.flows.expressions import truth
from swarmgate.gates.sast.flows.values import UNKNOWN, Class, Function, Ref, Text, content, copied, merged, widened
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from swarmgate.gates.sast.flows.expressions import Expressions
    from swarmgate.gates.sast.flows.sinks import Places
    from swarmgate.gates.sast.flows.state import State
    from swarmgate.gates.sast.flows.values import Env, Value


class Statements:
    """Runs statements.

    Args:
        state: what is known.
        expressions: gives the values.
        places: looks at what is kept and returned.
    """

    def __init__(self, state: State, expressions: Expressions, places: Places) -> None:
        self._state, self._expressions, self._places = state, expressions, places

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Run statements until one leaves."""
        for statement in statements:
            if self._state.frame.env is None:
                return
            self._state.step()
            handler: Callable[..., None] | None = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if handler:
                handler(statement)
            else:
                self._do_others(statement)

    def _do_others(self, node: ast.stmt) -> None:
        for child in python_tree.children(node):
            if isinstance(child, ast.expr):
                self._expressions.value(child)

    def _do_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults, *node.decorator_list):
            if default is not None:
                self._expressions.value(default)
        function = Function(node, (self._state.frame.env or {}, *self._state.frame.scope))
        self._state.set(node.name, function)
        self._state.wait_for(function)

    _do_asyncfunctiondef = _do_functiondef

    def _do_classdef(self, node: ast.ClassDef) -> None:
        members: Env = {}
        made = Class(
            node,
            (self._state.frame.env or {}, *self._state.frame.scope),
            members,
            tuple(map(self._expressions.value, node.bases)),
        )
        self._state.set(node.name, made)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                members[statement.name] = Function(statement, made.scope, owner=made)
                self._state.wait_for(members[statement.name])
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], self._expressions.value(statement.value)
                if isinstance(target, ast.Name):
                    members[target.id] = value
                    self._places.named(target.id, value, statement.value)
            else:
                self._do_others(statement)

    def _do_import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self._state.set(alias.asname or name, Ref(name))

    def _do_importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._state.set(
                alias.asname or alias.name, Ref(f"{node.module}.{alias.name}" if node.module else alias.name)
            )

    def _do_global(self, node: ast.Global | ast.Nonlocal) -> None:
        self._state.frame.outer |= frozenset(node.names)

    _do_nonlocal = _do_global

    def _do_expr(self, node: ast.Expr) -> None:
        self._expressions.value(node.value)

    def _do_return(self, node: ast.Return) -> None:
        value = self._expressions.value(node.value) if node.value else None
        if self._state.frame.page and node.value is not None:
            self._places.page(value, node.value)
        self._state.frame.returned.append(value)
        self._state.frame.env = None

    def _do_raise(self, node: ast.Raise) -> None:
        self._do_others(node)
        self._state.frame.env = None

    def _do_assert(self, node: ast.Assert) -> None:
        self._expressions.value(node.test)
        self._state.vouch(node.test, truth=True)

    def _do_assign(self, node: ast.Assign) -> None:
        value = self._expressions.value(node.value)
        for target in node.targets:
            self._expressions.bind(target, value)
            self._places.place(target, value, node.value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value:
            value = self._expressions.value(node.value)
            self._expressions.bind(node.target, value)
            self._places.place(node.target, value, node.value)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        # Reading a target gives what it holds. (No copy of the node: bandit hangs its own tree on ast's shared parts.)
        value = operations.binary(node.op, self._expressions.value(node.target), self._expressions.value(node.value))
        self._expressions.bind(node.target, value)

    def _do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._expressions.bind(target, UNKNOWN)

    def _do_if(self, node: ast.If) -> None:
        held = truth(self._expressions.value(node.test))
        if held is not None:
            self.block(node.body if held else node.orelse)
            return
        before, ends = self._state.frame.env, []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            self._state.frame.env = None if before is None else copied(before)
            self._state.vouch(node.test, truth=holds)
            self.block(branch)
            ends.append(self._state.frame.env)
        self._state.frame.env = merged(ends)

    def _do_match(self, node: ast.Match) -> None:
        subject, ends, before = self._expressions.value(node.subject), [], self._state.frame.env
        certain = False
        for case in node.cases:
            fits = _fits(case.pattern, subject)
            if fits is False:
                continue
            self._state.frame.env = None if before is None else copied(before)
            for each in python_tree.walk(case.pattern):
                if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name:
                    whole = isinstance(each, ast.MatchAs) and each is case.pattern
                    self._state.set(each.name, subject if whole else content(subject))
            if (
                isinstance(case.pattern, ast.MatchValue)
                and isinstance(subject, Text)
                and isinstance(node.subject, ast.Name)
            ):
                self._state.set(node.subject.id, subject.made_safe(self._state.flows.every))
            guard = truth(self._expressions.value(case.guard)) if case.guard else True
            if guard is False:
                continue
            self.block(case.body)
            ends.append(self._state.frame.env)
            certain = bool(fits and guard)
            if certain:
                break
        self._state.frame.env = merged(ends if certain else [*ends, before])

    def _do_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self._expressions.value(item.context_expr)
            if item.optional_vars:
                self._expressions.bind(item.optional_vars, value)
        self.block(node.body)

    _do_asyncwith = _do_with

    def _do_try(self, node: ast.Try) -> None:
        # A handler may start after any statement of the body.
        before = None if self._state.frame.env is None else copied(self._state.frame.env)
        stops: list[Env | None] = [before]
        for statement in node.body:
            if self._state.frame.env is None:
                break
            self.block([statement])
            if self._state.frame.env is not None:
                stops.append(copied(self._state.frame.env))
        self.block(node.orelse)
        ends = [self._state.frame.env]
        for handler in node.handlers:
            self._state.frame.env = merged([None if each is None else copied(each) for each in stops])
            if handler.name:
                self._state.set(handler.name, UNKNOWN)
            self.block(handler.body)
            ends.append(self._state.frame.env)
        self._state.frame.env = merged(ends)
        if node.finalbody:
            left = self._state.frame.env is None
            self._state.frame.env = merged(stops) if left else self._state.frame.env
            self.block(node.finalbody)
            self._state.frame.env = None if left else self._state.frame.env

    _do_trystar = _do_try

    def _do_for(self, node: ast.For | ast.AsyncFor) -> None:
        group = self._expressions.value(node.iter)
        self._loop(node, lambda: self._expressions.bind(node.target, self._expressions.element(group)))

    _do_asyncfor = _do_for

    def _do_while(self, node: ast.While) -> None:
        if truth(self._expressions.value(node.test)) is False:
            self.block(node.orelse)
            return
        self._loop(node, lambda: self._held(node.test))

    def _held(self, test: ast.expr) -> None:
        self._expressions.value(test)
        self._state.vouch(test, truth=True)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], None]) -> None:
        env = self._state.frame.env or {}
        for name in _changed(node):
            if name in env:
                env[name] = widened(env[name])
        exits: list[Env] = []
        self._state.frame.breaks.append(exits)
        for _ in range(2):
            before = copied(self._state.frame.env or {})
            begin()
            self.block(node.body)
            self._state.frame.env = merged([before, self._state.frame.env])
        self._state.frame.breaks.pop()
        if not exits or node.orelse:
            self.block(node.orelse)
        self._state.frame.env = merged([*exits, self._state.frame.env])

    def _do_break(self, node: ast.Break) -> None:
        del node
        if self._state.frame.breaks and self._state.frame.env is not None:
            self._state.frame.breaks[-1].append(self._state.frame.env)
        self._state.frame.env = None

    def _do_continue(self, node: ast.Continue) -> None:
        # What a turn that ends early leaves goes on after the loop, as that of a broken one.
        self._do_break(ast.copy_location(ast.Break(), node))


def _fits(pattern: ast.pattern, subject: Value) -> bool | None:
    """Whether a case is taken; None where that is not known."""
    if isinstance(pattern, ast.MatchAs):
        return True if pattern.pattern is None else _fits(pattern.pattern, subject)
    if isinstance(pattern, ast.MatchOr):
        results = [_fits(each, subject) for each in pattern.patterns]
        return True if True in results else None if None in results else False
    known = isinstance(subject, str | bytes | int | float)
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant) and known:
        return bool(pattern.value.value == subject)
    return None


def _changed(node: ast.AST) -> Iterator[str]:
    """Names that a piece of code binds, or whose content it may change."""
    for each in python_tree.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del):
            yield from _root(each)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            yield from _root(each.func)


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id

"""The statements of Python functions, for the interpreter of flows: an unknown condition goes both ways."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from swarmgate.gates.sast import folding
from swarmgate.gates.sast.expressions import truth
from swarmgate.gates.sast.places import Places
from swarmgate.gates.sast.values import (
    UNKNOWN,
    Class,
    Function,
    Ref,
    Text,
    Thing,
    content,
    copied,
    merged,
    widened,
)
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from swarmgate.gates.sast.values import Env, Value


class Statements(Places):
    """Runs statements."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Run statements until one leaves."""
        for statement in statements:
            if self.frame.env is None:
                return
            self.step()
            handler: Callable[..., None] | None = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if handler:
                handler(statement)
            else:
                self._do_others(statement)

    def _do_others(self, node: ast.stmt) -> None:
        for child in python_tree.children(node):
            if isinstance(child, ast.expr):
                self.value(child)

    def _do_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults, *node.decorator_list):
            if default is not None:
                self.value(default)
        function = Function(node, (self.frame.env or {}, *self.frame.scope))
        self.set(node.name, function)
        self.wait_for(function)

    _do_asyncfunctiondef = _do_functiondef

    def _do_classdef(self, node: ast.ClassDef) -> None:
        members: Env = {}
        made = Class(node, (self.frame.env or {}, *self.frame.scope), members, tuple(map(self.value, node.bases)))
        self.set(node.name, made)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                members[statement.name] = Function(statement, made.scope, owner=made)
                self.wait_for(members[statement.name])
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], self.value(statement.value)
                if isinstance(target, ast.Name):
                    members[target.id] = value
                    self.named(target.id, value, statement.value)
            else:
                self._do_others(statement)

    def _do_import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.set(alias.asname or name, Ref(name))

    def _do_importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.set(alias.asname or alias.name, Ref(f"{node.module}.{alias.name}" if node.module else alias.name))

    def _do_global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.frame.outer |= frozenset(node.names)

    _do_nonlocal = _do_global

    def _do_expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _do_return(self, node: ast.Return) -> None:
        value = self.value(node.value) if node.value else None
        if self.frame.page and node.value is not None:
            self.page(value, node.value)
        self.frame.returned.append(value)
        self.frame.env = None

    def _do_raise(self, node: ast.Raise) -> None:
        self._do_others(node)
        self.frame.env = None

    def _do_assert(self, node: ast.Assert) -> None:
        self.value(node.test)
        self.vouch(node.test, truth=True)

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)
            self.place(target, value, node.value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value:
            value = self.value(node.value)
            self.bind(node.target, value)
            self.place(node.target, value, node.value)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        # Reading a target gives what it holds. (No copy of the node: bandit hangs its own tree on ast's shared parts.)
        value = folding.binary(node.op, self.value(node.target), self.value(node.value))
        self.bind(node.target, value)

    def _do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.bind(target, UNKNOWN)

    def _do_if(self, node: ast.If) -> None:
        held = truth(self.value(node.test))
        if held is not None:
            self.block(node.body if held else node.orelse)
            return
        before, ends = self.frame.env, []
        for way, holds in ((node.body, True), (node.orelse, False)):
            self.frame.env = None if before is None else copied(before)
            self.vouch(node.test, truth=holds)
            self.block(way)
            ends.append(self.frame.env)
        self.frame.env = merged(ends)

    def _do_match(self, node: ast.Match) -> None:
        subject, ends, before = self.value(node.subject), [], self.frame.env
        certain = False
        for case in node.cases:
            fits = _fits(case.pattern, subject)
            if fits is False:
                continue
            self.frame.env = None if before is None else copied(before)
            for each in python_tree.walk(case.pattern):
                if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name:
                    whole = isinstance(each, ast.MatchAs) and each is case.pattern
                    self.set(each.name, subject if whole else content(subject))
            if (
                isinstance(case.pattern, ast.MatchValue)
                and isinstance(subject, Text)
                and isinstance(node.subject, ast.Name)
            ):
                self.set(node.subject.id, subject.made_safe(self.flows.every))
            guard = truth(self.value(case.guard)) if case.guard else True
            if guard is False:
                continue
            self.block(case.body)
            ends.append(self.frame.env)
            certain = bool(fits and guard)
            if certain:
                break
        self.frame.env = merged(ends if certain else [*ends, before])

    def _do_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars:
                self.bind(item.optional_vars, value)
        self.block(node.body)

    _do_asyncwith = _do_with

    def _do_try(self, node: ast.Try) -> None:
        # A handler may start after any statement of the body.
        before = None if self.frame.env is None else copied(self.frame.env)
        stops: list[Env | None] = [before]
        for statement in node.body:
            if self.frame.env is None:
                break
            self.block([statement])
            if self.frame.env is not None:
                stops.append(copied(self.frame.env))
        self.block(node.orelse)
        ends = [self.frame.env]
        for handler in node.handlers:
            self.frame.env = merged([None if each is None else copied(each) for each in stops])
            if handler.name:
                self.set(handler.name, UNKNOWN)
            self.block(handler.body)
            ends.append(self.frame.env)
        self.frame.env = merged(ends)
        if node.finalbody:
            left = self.frame.env is None
            self.frame.env = merged(stops) if left else self.frame.env
            self.block(node.finalbody)
            self.frame.env = None if left else self.frame.env

    _do_trystar = _do_try

    def _do_for(self, node: ast.For | ast.AsyncFor) -> None:
        group = self.value(node.iter)
        self._loop(node, lambda: self.bind(node.target, self.element(group)))

    _do_asyncfor = _do_for

    def _do_while(self, node: ast.While) -> None:
        if truth(self.value(node.test)) is False:
            self.block(node.orelse)
            return
        self._loop(node, lambda: self._held(node.test))

    def _held(self, test: ast.expr) -> None:
        self.value(test)
        self.vouch(test, truth=True)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], None]) -> None:
        env = self.frame.env or {}
        for name in _changed(node):
            if name in env:
                env[name] = widened(env[name])
        exits: list[Env] = []
        self.frame.breaks.append(exits)
        for _ in range(2):
            before = copied(self.frame.env or {})
            begin()
            self.block(node.body)
            self.frame.env = merged([before, self.frame.env])
        self.frame.breaks.pop()
        if not exits or node.orelse:
            self.block(node.orelse)
        self.frame.env = merged([*exits, self.frame.env])

    def _do_break(self, node: ast.Break) -> None:
        del node
        if self.frame.breaks and self.frame.env is not None:
            self.frame.breaks[-1].append(self.frame.env)
        self.frame.env = None

    def _do_continue(self, node: ast.Continue) -> None:
        # What a turn that ends early leaves goes on after the loop, as that of a broken one.
        self._do_break(ast.copy_location(ast.Break(), node))

    def bind(self, target: ast.expr, value: Value) -> None:
        """See `Expressions.bind`."""
        if isinstance(target, ast.Name):
            self.set(target.id, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, [value] if not isinstance(value, list) else value)
        elif isinstance(target, ast.Attribute):
            holder = self.value(target.value)
            if isinstance(holder, Thing):
                holder.fields[target.attr] = value
        elif isinstance(target, ast.Subscript):
            self._bind_slot(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            fits = isinstance(value, list) and len(value) == len(target.elts)
            exact = fits and not any(isinstance(each, ast.Starred) for each in target.elts)
            for position, each in enumerate(target.elts):
                self.bind(each, value[position] if exact else self.element(value))

    def _bind_slot(self, target: ast.Subscript, value: Value) -> None:
        holder = self.value(target.value)
        key = UNKNOWN if isinstance(target.slice, ast.Slice) else self.value(target.slice)
        if isinstance(holder, list | dict | Thing):
            folding.store(holder, key, value)
        elif isinstance(holder, Text) and content(value).origins and isinstance(target.value, ast.Name):
            self.set(target.value.id, content([holder, value]))


def _fits(pattern: ast.pattern, subject: Value) -> bool | None:
    """Whether a case is taken; None where that is not known."""
    if isinstance(pattern, ast.MatchAs):
        return True if pattern.pattern is None else _fits(pattern.pattern, subject)
    if isinstance(pattern, ast.MatchOr):
        said = [_fits(each, subject) for each in pattern.patterns]
        return True if True in said else None if None in said else False
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

"""Evaluates expressions in the taint analysis."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows import operations, sources
from swarmgate.gates.sast.flows.values import (
    UNKNOWN,
    Class,
    Function,
    Object,
    Ref,
    Text,
    combined,
    content,
    copied,
    joined,
    known,
)
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.gates.sast.flows.state import State
    from swarmgate.gates.sast.flows.values import Value

_NUMERIC = re.compile(r"^[^a-zA-Z%]*[bcdeEfFgGnxX%]$")
_NOT_CONTENT = {"status_code", "size", "content_length", "ndim", "shape", "pk", "id"}


class Expressions:
    """Evaluates expressions and binds names.

    Args:
        state: what is known.
        call: gives what a call gives.
    """

    def __init__(self, state: State, call: Callable[[ast.Call], Value]) -> None:
        self._state, self._call = state, call

    def value(self, node: ast.expr) -> Value:
        """The abstract value of an expression; every part of it is evaluated."""
        self._state.step()
        handler: Callable[..., Value] | None = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        value = handler(node) if handler else self._of_others(node)
        self._state.seen[id(node)] = value
        return value

    def _of_others(self, node: ast.expr) -> Value:
        for child in python_tree.children(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return UNKNOWN

    def _of_constant(self, node: ast.Constant) -> Value:
        return node.value if known(node.value) else UNKNOWN

    def _of_name(self, node: ast.Name) -> Value:
        return self._state.get(node.id)

    def _of_call(self, node: ast.Call) -> Value:
        return self._call(node)

    def _of_namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    def _of_await(self, node: ast.Await | ast.Starred | ast.FormattedValue) -> Value:
        return self.value(node.value)

    _of_starred = _of_await

    def _of_yield(self, node: ast.Yield) -> Value:
        if node.value:
            self._state.frame.returned.append([self.value(node.value)])
        return UNKNOWN

    def _of_attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.value(node.value), node.attr, node.lineno)

    def attribute(self, holder: Value, name: str, line: int) -> Value:
        """`holder.name`."""
        if isinstance(holder, Ref):
            if name == "path" and self._state.frame.fixed_path and sources.REQUEST.match(holder.name):
                return UNKNOWN
            source = sources.of_attribute(holder.name, name, line)
            if source is None:
                return Ref(f"{holder.name}.{name}")
            return source.made_safe(self._state.flows.vouched("hosts")) if name in sources.OWN_ADDRESS else source
        if isinstance(holder, Object):
            return _of_object(holder, name)
        if isinstance(holder, Class):
            member = holder.find(name)
            return UNKNOWN if member is None else member
        if isinstance(holder, Text) and holder.origins:
            if name in _NOT_CONTENT:
                return UNKNOWN
            part = replace(holder, start="", whole=holder, part=name)
            last = name in {"name", "stem", "suffix"} and holder.resolved and not holder.start
            return replace(part, safe=part.made_safe(self._state.flows.vouched("folders")).safe) if last else part
        return Ref("?.request") if name == "request" else UNKNOWN

    def _of_joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = [self._filled(each) for each in node.values]
        if all(isinstance(part, str) for part in parts):
            return "".join(parts)
        start = ""
        for part in parts:
            if isinstance(part, str):
                start += part
                continue
            start += part.start if isinstance(part, Text) else ""
            break
        return combined(parts, start=start)

    def _filled(self, node: ast.expr) -> Value:
        """One part of an f-string as text."""
        if not isinstance(node, ast.FormattedValue):
            return self.value(node)
        value = self.value(node.value)
        spec = self.value(node.format_spec) if node.format_spec else ""
        if isinstance(spec, str) and spec and _NUMERIC.match(spec):
            return UNKNOWN
        if known(value) and not spec and node.conversion in {-1, ord("s")}:
            return str(value)
        text = content(value)
        return text.made_safe(self._state.flows.cleaned_by("repr")) if node.conversion in {ord("r"), ord("a")} else text

    def _of_binop(self, node: ast.BinOp) -> Value:
        return operations.binary(node.op, self.value(node.left), self.value(node.right))

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        return operations.unary(node.op, self.value(node.operand))

    def _of_compare(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        if len(node.ops) == 1:
            return operations.compared(node.ops[0], *values)
        results = [
            operations.compared(op, *pair) for op, pair in zip(node.ops, itertools.pairwise(values), strict=True)
        ]
        return all(results) if all(map(known, results)) else UNKNOWN

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        conjunction, possible = isinstance(node.op, ast.And), []
        before = None if self._state.frame.env is None else dict(self._state.frame.env)
        for part in node.values:
            value = self.value(part)
            held = truth(value)
            if held is not None and held is not conjunction:
                possible.append(value)
                break
            if held is None or part is node.values[-1]:
                possible.append(value)
            self._state.vouch(part, truth=conjunction)
        # What one part checks holds for the parts after it, not for what stands after the whole.
        if before is not None and self._state.frame.env is not None:
            self._state.frame.env.update({name: value for name, value in before.items() if isinstance(value, Text)})
        return joined(possible) if len(possible) > 1 else possible[0]

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        held = truth(self.value(node.test))
        if held is not None:
            return self.value(node.body if held else node.orelse)
        return joined([self._under(node.test, node.body, truth=True), self._under(node.test, node.orelse, truth=False)])

    def _under(self, test: ast.expr, node: ast.expr, *, truth: bool) -> Value:
        """An expression where a condition held (or did not)."""
        before = self._state.frame.env
        self._state.frame.env = None if before is None else dict(before)
        self._state.vouch(test, truth=truth)
        value = self.value(node)
        self._state.frame.env = before
        return value

    def _of_list(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        for each in node.elts:
            value = self.value(each)
            if not isinstance(each, ast.Starred):
                items.append(value)
            else:
                items += value if isinstance(value, list) else [content(value)]
        return items

    _of_tuple = _of_list
    _of_set = _of_list

    def _of_dict(self, node: ast.Dict) -> Value:
        slots: dict[object, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            held = self.value(value)
            if key is None:
                slots.update(held) if isinstance(held, dict) else operations.store(slots, UNKNOWN, content(held))
            else:
                operations.store(slots, self.value(key), held)
        return slots

    def _of_subscript(self, node: ast.Subscript) -> Value:
        holder = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.value(each) if each else None for each in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return operations.cut(holder, *bounds)
        key = self.value(node.slice)
        if isinstance(holder, Ref):
            environ = holder.name.endswith("environ") and sources.is_cgi_variable(key)
            return Text(frozenset({("web", node.lineno)})) if environ else UNKNOWN
        if isinstance(holder, Text) and holder.origins:
            return replace(holder, start="", whole=holder, part="[]")
        return operations.item(holder, key)

    def _of_lambda(self, node: ast.Lambda) -> Value:
        return Function(node, ((self._state.frame.env or {}), *self._state.frame.scope))

    def _of_listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        made = self._comprehension(node.generators, [node.elt])
        return content(made[0]) if content(made[0]).origins else UNKNOWN

    _of_setcomp = _of_listcomp
    _of_generatorexp = _of_listcomp

    def _of_dictcomp(self, node: ast.DictComp) -> Value:
        return combined(self._comprehension(node.generators, [node.key, node.value]))

    def _comprehension(self, loops: Sequence[ast.comprehension], results: Sequence[ast.expr]) -> list[Value]:
        before = self._state.frame.env
        self._state.frame.env = None if before is None else copied(before)
        for loop in loops:
            self.bind(loop.target, self.element(self.value(loop.iter)))
            for test in loop.ifs:
                self.value(test)
                self._state.vouch(test, truth=True)
        values = [self.value(each) for each in results]
        self._state.frame.env = before
        return values

    def element(self, group: Value) -> Value:
        """The value of a loop variable over a container."""
        if isinstance(group, list):
            return joined([UNKNOWN if known(each) else each for each in group]) if group else UNKNOWN
        if isinstance(group, dict):
            return UNKNOWN
        if isinstance(group, Text) and group.origins:
            return replace(group, start="", whole=group, part="[]")
        return content(group) if isinstance(group, Object) else UNKNOWN

    def bind(self, target: ast.expr, value: Value) -> None:
        """An assignment to a target."""
        if isinstance(target, ast.Name):
            self._state.set(target.id, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, [value] if not isinstance(value, list) else value)
        elif isinstance(target, ast.Attribute):
            holder = self.value(target.value)
            if isinstance(holder, Object):
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
        if isinstance(holder, list | dict | Object):
            operations.store(holder, key, value)
        elif isinstance(holder, Text) and content(value).origins and isinstance(target.value, ast.Name):
            self._state.set(target.value.id, content([holder, value]))


def truth(value: Value) -> bool | None:
    """Whether a value is true; None where that is not known."""
    if known(value):
        return bool(value)
    if isinstance(value, Class | Function):
        return True
    return None


def _of_object(holder: Object, name: str) -> Value:
    """An attribute of an object that was made here."""
    if name in holder.fields:
        return holder.fields[name]
    member = holder.made_by.find(name) if holder.made_by else None
    if isinstance(member, Function):
        return replace(member, bound=holder)
    if member is not None:
        return member
    if name in {"request", "req"}:
        return Ref("self.request")
    owner = "self" if holder.made_by else holder.name
    return holder.content if holder.content.origins else Ref(f"{owner}.{name}")

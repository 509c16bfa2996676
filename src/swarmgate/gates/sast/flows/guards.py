"""Evaluates conditions in the taint analysis: which weaknesses a check rules out for a value.

An unknown condition says nothing. A check is believed by what it does: membership in a list, the whole value of a
harmless form, no character that ends a literal, a host or a folder that is compared.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows.values import Object, Ref, Text, content, known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.gates.sast.flows.rule import Flows
    from swarmgate.gates.sast.flows.values import Value

    Evaluate = Callable[[ast.expr], Value]
    """The value that an expression had when it was last seen."""
    Vouched = Iterator[tuple[Text, frozenset[str]]]

_WORDS = {"isdigit", "isalnum", "isdecimal", "isnumeric", "isidentifier", "isalpha"}
_MATCHES = {"fullmatch": True, "match": False}
_HOSTS = {"netloc", "hostname", "host"}


class Guards:
    """Evaluates conditions for the rules of `flows`."""

    def __init__(self, flows: Flows, evaluate: Evaluate) -> None:
        self._flows, self._value = flows, evaluate

    def vouch(self, test: ast.expr, *, truth: bool) -> Vouched:
        """The values that `test` proves harmless when it is true (or false), with the rules concerned."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self.vouch(test.operand, truth=not truth)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is truth:  # all parts of a true `and` are true, of a false `or` false
                for part in test.values:
                    yield from self.vouch(part, truth=truth)
        elif isinstance(test, ast.NamedExpr):
            yield from self.vouch(test.value, truth=truth)
        elif isinstance(test, ast.Compare):
            yield from self._compare(test, truth=truth)
        elif isinstance(test, ast.Call):
            yield from self._call(test, truth=truth)

    def _compare(self, test: ast.Compare, *, truth: bool) -> Vouched:
        if len(test.ops) != 1:
            return
        left, right, kind = test.left, test.comparators[0], test.ops[0]
        holds = truth is not isinstance(kind, ast.NotIn | ast.NotEq | ast.IsNot)
        if isinstance(kind, ast.In | ast.NotIn):
            if holds:
                yield from self._equal(left, right)
            else:
                yield from self._refused(left, right)
            yield from self._inside(left, right) if holds else ()
        elif isinstance(kind, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) and holds:
            yield from self._equal(left, right)
            yield from self._equal(right, left)
            if isinstance(left, ast.Call) and _name(left).endswith("commonpath"):
                yield from self._all(left, self._flows.vouched("folders"))
        elif isinstance(kind, ast.LtE) and truth and isinstance(left, ast.Call) and _name(left) == "set":
            yield from self._all(left, self._flows.every)

    def _equal(self, subject: ast.expr, other: ast.expr) -> Vouched:
        """`subject` is one of `other`, or equal to it: harmless if that is not from outside itself."""
        if content(self._value(other)).origins:
            return
        value = self._value(subject)
        if isinstance(value, Text) and value.origins:
            yield from ((each, self._flows.every) for each in _forms(value))
            if any(each.part in _HOSTS for each in _wholes(value)):
                yield from ((each, self._flows.vouched("hosts")) for each in _wholes(value))

    def _refused(self, part: ast.expr, subject: ast.expr) -> Vouched:
        """`part` does not occur in `subject`."""
        text, value = self._value(part), self._value(subject)
        if isinstance(text, str) and text and isinstance(value, Text):
            rules = self._flows.without(text)
            yield from ((each, rules) for each in _wholes(value))

    def _inside(self, folder: ast.expr, subject: ast.expr) -> Vouched:
        """`folder in path.parents`."""
        if (
            isinstance(subject, ast.Attribute)
            and subject.attr == "parents"
            and not content(self._value(folder)).origins
        ):
            value = self._value(subject.value)
            if isinstance(value, Text):
                yield from ((each, self._flows.vouched("folders")) for each in _wholes(value))

    def _call(self, test: ast.Call, *, truth: bool) -> Vouched:
        name = _name(test)
        last = name.rpartition(".")[2]
        if last in {"any", "all"} and len(test.args) == 1 and isinstance(test.args[0], ast.GeneratorExp):
            yield from self._each(test.args[0], every=last == "all", truth=truth)
            return
        if isinstance(test.func, ast.Attribute) and truth:
            yield from self._method(test, test.func)
        rules = self._flows.guarded_by(name)
        if truth and rules:
            yield from self._all(test, rules)

    def _method(self, test: ast.Call, function: ast.Attribute) -> Vouched:
        holder = self._value(function.value)
        if isinstance(holder, Text) and holder.origins:
            if function.attr in _WORDS:
                yield from ((each, self._flows.every) for each in _forms(holder))
            elif function.attr == "is_relative_to" or (function.attr == "startswith" and holder.resolved):
                yield from ((each, self._flows.vouched("folders")) for each in _wholes(holder))
            elif function.attr == "startswith" and test.args:
                yield from self._begins(holder, self._value(test.args[0]))
        elif function.attr in _MATCHES and test.args:
            yield from self._matches(test, function.attr, holder)

    def _begins(self, holder: Text, start: Value) -> Vouched:
        starts = start if isinstance(start, list) else [start]
        if all(isinstance(each, str) for each in starts):
            rules = frozenset(
                flow.rule
                for flow in self._flows.all
                if flow.start and all(re.search(flow.start, each) for each in starts)
            )
            yield holder, rules

    def _matches(self, test: ast.Call, method: str, holder: Value) -> Vouched:
        direct = isinstance(holder, Ref) and holder.name in {"re", "regex", "re2"}
        compiled = holder.fields.get("pattern") if isinstance(holder, Object) else None
        pattern = self._value(test.args[0]) if direct else compiled
        subject = test.args[1] if direct and len(test.args) > 1 else test.args[0]
        if isinstance(pattern, str):
            rules = self._flows.matched(pattern, whole=_MATCHES[method])
        else:  # a pattern that is not here to be read is believed where it sees the whole value
            rules = self._flows.every if not content(pattern).origins else frozenset()
        value = self._value(subject)
        if isinstance(value, Text):
            yield from ((each, rules) for each in _forms(value))

    def _each(self, loop: ast.GeneratorExp, *, every: bool, truth: bool) -> Vouched:
        """`any(c in x for c in BAD)` that is false, `all(c in ALLOWED for c in x)` that is true."""
        inner, test = loop.generators[0], loop.elt
        if len(loop.generators) != 1 or every is not truth:
            return
        if every and isinstance(test, ast.Compare | ast.Call):
            yield from self._all(inner.iter, self._flows.every)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
            items, value = self._value(inner.iter), self._value(test.comparators[0])
            if isinstance(items, str | list) and isinstance(value, Text):
                rules = frozenset().union(*(self._flows.without(each) for each in items if isinstance(each, str)))
                yield from ((each, rules) for each in _wholes(value))
            elif isinstance(value, Text) or not known(items):
                yield from self._all(inner.iter, self._flows.every)

    def _all(self, node: ast.expr, rules: frozenset[str]) -> Vouched:
        """Every value that stands somewhere in an expression."""
        for each in ast.walk(node):
            value = self._value(each) if isinstance(each, ast.expr) else None
            if isinstance(value, Text) and value.origins:
                yield from ((text, rules) for text in _wholes(value))


def _forms(value: Text) -> Iterator[Text]:
    """A value and the same in other forms (stripped, in lower case): not what it is only a part of."""
    for each in _wholes(value):
        yield each
        if each.part:
            return


def _wholes(value: Text) -> Iterator[Text]:
    """A value and what it was cut or parsed from."""
    each: Text | None = value
    for _ in range(8):
        if each is None:
            return
        yield each
        each = each.whole


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Attribute):
        return ast.unparse(call.func) if len(ast.dump(call.func)) < 600 else call.func.attr  # noqa: PLR2004 - a name
    return ""

"""Conditions of tasks, as the reference writes them: `context.count >= 3 && !(context.mode == "fast")`.

A small language of its own, which can look at the context of the request and at nothing else.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from swarmgate.errors import UsageError

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<word>true|false|null|undefined)(?![\w.])|context\.(?P<path>[A-Za-z_][\w.]*)"""
    r"""|(?P<sign>===|!==|==|!=|>=|<=|&&|\|\||[<>()!]))""",
    re.ASCII,
)
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_DEEPEST = 50
"""Parentheses and negations inside of each other."""

Token = tuple[str, Any]


def holds(condition: str, context: Mapping[str, Any]) -> bool:
    """Whether a condition holds. What the context does not have is null; what cannot be compared is not so.

    Raises:
        UsageError: it is no condition; the message says where.
    """
    parser = _Parser(list(_tokens(condition)), context)
    found = parser.either(0)
    if parser.left:
        raise UsageError(f"The condition goes on behind its end: {parser.left[0][1]!r:.40}.", hint=_FORM)
    return bool(found)


_FORM = 'Such as: context.count >= 3 && context.mode == "fast"'


def _tokens(condition: str) -> Iterator[Token]:
    at, end = 0, len(condition.rstrip())
    while at < end:
        found = _TOKEN.match(condition, at)
        if found is None:
            raise UsageError(f"The condition cannot be read at {condition[at:].strip()[:20]!r}.", hint=_FORM)
        at, kind = found.end(), str(found.lastgroup)
        said = found[kind]
        if kind == "number":
            yield "value", float(said)
        elif kind == "text":
            yield "value", re.sub(r"\\(.)", r"\1", said[1:-1])
        elif kind == "word":
            yield "value", _WORDS[said]
        else:
            yield kind, said


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same one: true is no 1, and text is no number."""
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def found(one: Any, other: Any) -> bool:
        both_numbers = all(isinstance(each, int | float) for each in (one, other))
        both_texts = all(isinstance(each, str) for each in (one, other))
        return (both_numbers or both_texts) and compare(one, other)

    return found


_COMPARES: dict[str, Callable[[Any, Any], bool]] = {
    "==": _same,
    "===": _same,
    "!=": lambda one, other: not _same(one, other),
    "!==": lambda one, other: not _same(one, other),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
}


class _Parser:
    """Reads and evaluates: `||` binds least, then `&&`, `!`, and comparisons.

    Args:
        tokens: what is left to read.
        context: of the request.
    """

    def __init__(self, tokens: list[Token], context: Mapping[str, Any]) -> None:
        self.left, self._context = tokens, context

    def either(self, depth: int) -> Any:
        value = self._both(depth)
        while self._takes("||"):
            other = self._both(depth)
            value = bool(value) or bool(other)
        return value

    def _both(self, depth: int) -> Any:
        value = self._negated(depth)
        while self._takes("&&"):
            other = self._negated(depth)
            value = bool(value) and bool(other)
        return value

    def _negated(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise UsageError("The condition is nested too deeply.", hint=_FORM)
        if self._takes("!"):
            return not self._negated(depth + 1)
        value = self._value(depth)
        if self.left and self.left[0][0] == "sign" and self.left[0][1] in _COMPARES:
            compare = _COMPARES[self.left.pop(0)[1]]
            return compare(value, self._value(depth))
        return value

    def _value(self, depth: int) -> Any:
        if self._takes("("):
            value = self.either(depth + 1)
            if not self._takes(")"):
                raise UsageError("A parenthesis of the condition is not closed.", hint=_FORM)
            return value
        kind, said = self.left.pop(0) if self.left else ("", "")
        if kind == "path":
            return _looked_up(self._context, said)
        if kind != "value":
            raise UsageError(
                f"The condition lacks a value{f' before {said!r}' if said else ' at its end'}.", hint=_FORM
            )
        return said

    def _takes(self, sign: str) -> bool:
        if self.left and self.left[0] == ("sign", sign):
            self.left.pop(0)
            return True
        return False


def _looked_up(context: Any, path: str) -> Any:
    for part in path.split("."):
        context = context.get(part) if isinstance(context, Mapping) else None
    return context

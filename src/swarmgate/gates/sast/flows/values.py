"""The abstract values of the taint analysis: what an expression may hold, and how two values join.

A value is a constant (itself), a list or dict whose slots are known, a `Object` (an object that was made here), a `Ref`
(a dotted name of another module), a `Function` or `Class` of this file, or a `Text`: anything else, with the places
outside of the program that it comes from. Lists, dicts and things are shared like Python's own and change in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

SIMPLE = (str, bytes, int, float, bool, type(None))
Value = Any
Env = dict[str, Value]
Origins = frozenset[tuple[str, int]]
"""(kind of source, line) of each place that a value comes from."""

_LONGEST = 10_000
_DEEPEST = 10


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """An unknown value, possibly tainted. Without `origins` it is not known to come from outside.

    `safe` says for which weaknesses (rule ids) what came from which origin was made harmless, `start` is its known
    beginning, `resolved` says that a path was made absolute without `..`, `whole` is what it was made from, `part`
    which part of that it is (an attribute's name, `[]`); empty where it is all of it in another form.
    """

    origins: Origins = frozenset()
    safe: frozenset[tuple[str, tuple[str, int]]] = frozenset()
    start: str = ""
    resolved: bool = False
    whole: Text | None = None
    part: str = ""

    def made_safe(self, rules: frozenset[str]) -> Text:
        """A copy that is harmless for more rules."""
        pairs = frozenset((rule, origin) for rule in rules for origin in self.origins)
        return self if pairs <= self.safe else replace(self, safe=self.safe | pairs, whole=self, part="")


UNKNOWN = Text()


@dataclass(slots=True, eq=False)
class Object:
    """An object: `name` is the call that made it, `fields` its attributes (a parser's sections, keywords)."""

    name: str
    fields: Env = field(default_factory=dict)
    content: Text = UNKNOWN
    made_by: Class | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A reference to a name of another module, or a builtin."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of this file with its enclosing scope; `bound` is `self` for a method."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: tuple[Env, ...]
    bound: Value = None
    owner: Class | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of this file; `bases` as values."""

    node: ast.ClassDef
    scope: tuple[Env, ...]
    members: Env
    bases: tuple[Value, ...] = ()

    def find(self, name: str, depth: int = 0) -> Value | None:
        """A member of the class or of its base classes in this file."""
        if name in self.members or depth > _DEEPEST:
            return self.members.get(name)
        found = (base.find(name, depth + 1) for base in self.bases if isinstance(base, Class))
        return next((each for each in found if each is not None), None)


def known(value: Value) -> bool:
    """Whether a value is a constant."""
    return isinstance(value, SIMPLE)


def content(value: Value) -> Text:
    """A value and all its elements as one text, with the origins of all."""
    if isinstance(value, Text):
        return value
    return combined(_leaves(value)) if isinstance(value, list | dict | Object) else UNKNOWN


def _leaves(value: Value) -> list[Text]:
    """The texts in a container and in those in it, each container once."""
    found: list[Text] = []
    waiting, seen = [value], {id(value)}
    while waiting:
        each = waiting.pop()
        if isinstance(each, Text):
            found.append(each)
            continue
        inner = each if isinstance(each, list) else [*(each if isinstance(each, dict) else each.fields).values()]
        for part in inner if not isinstance(each, Object) else [*inner, each.content]:
            if isinstance(part, Text | list | dict | Object) and id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return found


def combined(parts: Iterable[Value], start: str = "") -> Text:
    """A text made of several: tainted where any is, harmless for what all of them are."""
    texts = [each if isinstance(each, Text) else content(each) for each in parts]
    tainted = [each for each in texts if each.origins]
    if not tainted:
        return Text(start=start) if start else UNKNOWN
    if len(tainted) == 1 and len(texts) == 1 and not start:
        return tainted[0]
    origins = frozenset().union(*(each.origins for each in tainted))
    pairs = frozenset().union(*(each.safe for each in tainted))
    safe = frozenset(
        pair for pair in pairs if all(pair in each.safe or pair[1] not in each.origins for each in tainted)
    )
    return Text(origins, safe, start[:_LONGEST])


def joined(values: Sequence[Value], memo: dict[tuple[int, ...], Value] | None = None) -> Value:
    """Join the values of a name after branches; `memo` keeps shared objects shared."""
    first = values[0] if values else UNKNOWN
    if all(value is first for value in values):
        return first
    if known(first) and all(type(value) is type(first) and value == first for value in values):
        return first
    if isinstance(first, list | dict | Object) and all(type(value) is type(first) for value in values):
        memo = {} if memo is None else memo
        key = tuple(map(id, values))
        if key not in memo:
            memo[key] = UNKNOWN  # what holds itself
            memo[key] = _slots_joined(first, values, memo)
        return memo[key]
    text = combined(values)
    if not text.origins:
        return UNKNOWN
    starts = {value if isinstance(value, str) else getattr(value, "start", "") for value in values}
    resolved = all(value.resolved for value in values if isinstance(value, Text) and value.origins)
    return replace(text, start=starts.pop() if len(starts) == 1 else "", resolved=resolved)


def _slots_joined(first: Value, values: Sequence[Value], memo: dict[tuple[int, ...], Value]) -> Value:
    """Containers of one kind, slot by slot where they are of one form."""
    if isinstance(first, list):
        same = all(len(value) == len(first) for value in values)
        return [joined(each, memo) for each in zip(*values, strict=True)] if same else combined(values)
    if isinstance(first, dict):
        keys = {key: None for value in values for key in value}
        return {key: joined([value.get(key, UNKNOWN) for value in values], memo) for key in keys}
    if any(value.name != first.name for value in values):
        return combined(values)
    fields = {key: None for value in values for key in value.fields}
    held = {key: joined([value.fields.get(key, UNKNOWN) for value in values], memo) for key in fields}
    return Object(first.name, held, combined([value.content for value in values]), first.made_by)


def merged(ends: Sequence[Env | None]) -> Env | None:
    """Join the names after branches; None where no branch goes on."""
    alive = [end for end in ends if end is not None]
    if len(alive) < 2:  # noqa: PLR2004 - nothing to join
        return alive[0] if alive else None
    memo: dict[tuple[int, ...], Value] = {}
    names = {name: None for end in alive for name in end}
    # A name that a branch does not bind has no value there: what the others bind is all that it can hold.
    return {name: joined([end[name] for end in alive if name in end], memo) for name in names}


def copied(env: Env) -> Env:
    """Copy the names with all mutable values, so that branches do not affect each other."""
    memo: dict[int, Value] = {}
    return {name: _copy(value, memo) for name, value in env.items()}


def _copy(value: Value, memo: dict[int, Value]) -> Value:
    if not isinstance(value, list | dict | Object):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Object):
        copy = memo[id(value)] = Object(value.name, {}, value.content, value.made_by)
        copy.fields.update((key, _copy(each, memo)) for key, each in value.fields.items())
        return copy
    if isinstance(value, list):
        items = memo[id(value)] = []
        items += [_copy(each, memo) for each in value]
        return items
    slots = memo[id(value)] = {}
    slots.update((key, _copy(each, memo)) for key, each in value.items())
    return slots


def widened(value: Value) -> Value:
    """Widen a value for a loop: constants become unknown, contents stay."""
    if known(value):
        return UNKNOWN
    if isinstance(value, list | dict):
        return content(value)
    return value

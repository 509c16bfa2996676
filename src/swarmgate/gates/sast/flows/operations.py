"""Evaluates operators, subscripts and methods in the taint analysis: constant folding and taint propagation."""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sast.flows.values import SIMPLE, UNKNOWN, Object, Text, combined, content, joined, known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.gates.sast.flows.values import Value

_LONGEST = 10_000
_MOST_ITEMS = 300
_LARGEST = 10**12
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_,
    ast.IsNot: operator.is_not, ast.Not: operator.not_, ast.USub: operator.neg, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.In: lambda item, group: item in group, ast.NotIn: lambda item, group: item not in group,
}  # fmt: skip
_COMPARES = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Not)
_PURE = {
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "split", "format", "join", "encode", "decode", "title",
    "startswith", "endswith", "find", "index", "count", "isdigit", "isalpha", "isalnum", "splitlines", "partition",
    "rpartition", "zfill", "casefold", "capitalize", "removeprefix", "removesuffix", "hex", "rfind", "rsplit",
}  # fmt: skip
_BUILTINS: dict[str, Callable[..., Any]] = {
    "str": str, "int": int, "float": float, "len": len, "bool": bool, "ord": ord, "chr": chr, "abs": abs, "min": min,
    "max": max, "repr": repr,
}  # fmt: skip
_ADDS = {
    "append", "appendleft", "add", "insert", "extend", "extendleft", "update", "setdefault", "put", "put_nowait",
    "write", "writelines", "push", "read_string", "read_dict", "set", "add_argument",
}  # fmt: skip
_NUMBERS = re.compile(r"%[-+ #0]*\d*(\.\d+)?[dioxXeEfFgG]|%%")
_PARSERS = re.compile(r"(^|\.)(Raw|Safe)?ConfigParser$")


def binary(kind: ast.AST, left: Value, right: Value) -> Value:
    """`left <kind> right`."""
    if known(left) and known(right):
        return computed(_OPERATORS.get(type(kind)), left, right)
    if isinstance(kind, _COMPARES):
        return UNKNOWN
    if isinstance(kind, ast.Add) and isinstance(left, list) and isinstance(right, list):
        return [*left, *right] if len(left) + len(right) <= _MOST_ITEMS else combined([left, right])
    if isinstance(kind, ast.Mod) and isinstance(left, str):
        if not re.search("%", _NUMBERS.sub("", left)):
            return UNKNOWN
        return combined([right], start=left.partition("%")[0])
    start = left if isinstance(left, str) else getattr(left, "start", "")
    return combined([left, right], start=start if isinstance(kind, ast.Add | ast.Div) else "")


def unary(kind: ast.AST, value: Value) -> Value:
    """`<kind> value`."""
    if isinstance(kind, ast.Not) and isinstance(value, list | dict):
        return not value
    return computed(_OPERATORS.get(type(kind)), value) if known(value) else UNKNOWN


def compared(kind: ast.AST, left: Value, right: Value) -> Value:
    """One comparison; membership of a constant in a list of constants is known too."""
    if isinstance(kind, ast.In | ast.NotIn) and known(left) and isinstance(right, list | dict):
        if all(map(known, right)):
            return computed(_OPERATORS[type(kind)], left, right)
        return UNKNOWN
    return computed(_OPERATORS.get(type(kind)), left, right) if known(left) and known(right) else UNKNOWN


def computed(function: Callable[..., Any] | None, *values: Value) -> Value:
    """Evaluate a call on constants, bounded; UNKNOWN where it would raise or is not constant."""
    heavy = function in {operator.mul, operator.mod} and any(isinstance(value, str | bytes) for value in values)
    large = any(isinstance(value, int) and abs(value) > _LARGEST for value in values)
    if function is None or heavy or large:
        return UNKNOWN
    try:
        result = function(*values)
    except Exception:  # noqa: BLE001 - whatever the operation would raise at run time
        return UNKNOWN
    return constant(result)


def constant(result: Any) -> Value:
    """Convert a Python constant to an abstract value."""
    if isinstance(result, list | tuple):
        return [constant(each) for each in result]
    if isinstance(result, str | bytes) and len(result) > _LONGEST:
        return UNKNOWN
    return result if isinstance(result, SIMPLE) else UNKNOWN


def item(holder: Value, key: Value) -> Value:
    """`holder[key]`."""
    if isinstance(holder, dict):
        if known(key):
            return holder[key] if key in holder else joined(list(holder.values())) if None in holder else UNKNOWN
        return content(holder)
    if isinstance(holder, list):
        if isinstance(key, int):
            return holder[key] if -len(holder) <= key < len(holder) else UNKNOWN
        return joined(holder) if holder else UNKNOWN
    if isinstance(holder, str | bytes) and isinstance(key, int):
        return computed(operator.getitem, holder, key)
    if isinstance(holder, Object):
        return holder.fields.get(key, holder.content) if isinstance(key, str) else content(holder)
    return holder if isinstance(holder, Text) else UNKNOWN


def cut(holder: Value, low: Value, high: Value, step: Value) -> Value:
    """`holder[low:high:step]`; a part of a text's known beginning is known."""
    bounds = (low, high, step)
    if not all(isinstance(each, int | None) for each in bounds):
        return replace(holder, start="", whole=holder, part="[]") if isinstance(holder, Text) else content(holder)
    if isinstance(holder, str | bytes | list):
        return holder[slice(*bounds)] if step != 0 else UNKNOWN
    if isinstance(holder, Text) and holder.origins:
        first = low or 0
        if high is not None and step in {None, 1} and 0 <= first <= high <= len(holder.start):
            return holder.start[first:high]
        start = holder.start[first:] if first >= 0 and step in {None, 1} and high is None else ""
        return replace(holder, start=start, whole=holder, part="[]")
    return content(holder)


def store(holder: Value, key: Value, value: Value) -> None:
    """`holder[key] = value`, in place. What stands under an unknown key may stand under each."""
    if isinstance(holder, dict):
        if known(key):
            holder[key] = value
        else:
            for each in holder:
                holder[each] = joined([holder[each], value])
            holder[None] = joined([holder[None], value]) if None in holder else value
    elif isinstance(holder, list):
        if isinstance(key, int) and -len(holder) <= key < len(holder):
            holder[key] = value
        else:
            holder[:] = [joined([each, value]) for each in holder] or [value]
    elif isinstance(holder, Object):
        if isinstance(key, str):
            holder.fields[key] = value
        else:
            holder.content = combined([holder.content, value])


def builtin(name: str, values: Sequence[Value]) -> Value:
    """A builtin on constants or known containers; NotImplemented for others."""
    if name in {"list", "tuple", "sorted", "reversed", "iter"} and len(values) == 1 and isinstance(values[0], list):
        return list(values[0])
    if name == "dict" and not values:
        return {}
    if name in {"list", "set"} and not values:
        return []
    if name == "len" and len(values) == 1 and isinstance(values[0], list | dict):
        return len(values[0])
    function = _BUILTINS.get(name)
    if function and values and all(map(known, values)):
        return computed(function, *values)
    return NotImplemented


def made(name: str, values: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """A new object of a class of another module, where its attributes are worth following."""
    if _PARSERS.search(name):
        return Object("ConfigParser")
    if name in {"io.StringIO", "io.BytesIO", "StringIO", "BytesIO"}:
        return Object(name, content=combined(values))
    del keywords
    return NotImplemented


def method(holder: Value, name: str, values: list[Value]) -> Value:
    """The value of a method call, with its effect on the holder; NotImplemented when unknown."""
    if isinstance(holder, list):
        return _list(holder, name, values)
    if isinstance(holder, dict):
        return _dict(holder, name, values)
    if isinstance(holder, Object):
        return _settings(holder, name, values) if holder.name == "ConfigParser" else _of_object(holder, name, values)
    if isinstance(holder, str | bytes) and name in _PURE:
        return _text(holder, name, values)
    return NotImplemented


def adds(name: str) -> bool:
    """Whether a method of this name adds its arguments to its object."""
    return name in _ADDS


def _text(holder: str | bytes, name: str, values: list[Value]) -> Value:
    plain = [value for value in values if not isinstance(value, list) or all(map(known, value))]
    if len(plain) == len(values) and all(known(value) or isinstance(value, list) for value in values):
        return computed(getattr(holder, name, None), *values)
    if name == "format" and isinstance(holder, str):
        return combined(values, start=holder.partition("{")[0])
    return combined(values)


def _list(holder: list[Value], name: str, values: list[Value]) -> Value:
    if len(holder) > _MOST_ITEMS:
        holder[:] = [content(holder)]
    if name in {"append", "add"} and len(values) == 1:
        holder.append(values[0])
    elif name == "appendleft" and len(values) == 1:
        holder.insert(0, values[0])
    elif name == "insert" and len(values) == 2 and isinstance(values[0], int):  # noqa: PLR2004 - position and value
        holder.insert(values[0], values[1])
    elif name == "extend" and len(values) == 1:
        holder.extend(values[0] if isinstance(values[0], list) else [content(values[0])])
    elif name in {"pop", "popleft"} and all(isinstance(value, int) for value in values):
        position = 0 if name == "popleft" else values[0] if values else -1
        return holder.pop(position) if -len(holder) <= position < len(holder) else UNKNOWN
    else:
        return _reordered(holder, name)
    return None


def _reordered(holder: list[Value], name: str) -> Value:
    if name == "clear":
        holder.clear()
    elif name == "reverse":
        holder.reverse()
    elif name == "copy":
        return list(holder)
    elif name in {"remove", "sort"}:
        every = joined(holder) if holder else UNKNOWN
        holder[:] = [every] * max(len(holder) - (name == "remove"), 1)
    else:
        return NotImplemented
    return None


def _dict(holder: dict[Any, Value], name: str, values: list[Value]) -> Value:
    if name in {"get", "pop", "setdefault"} and values:
        other = values[1] if len(values) > 1 else None
        if known(values[0]) and values[0] in holder:
            return holder.pop(values[0]) if name == "pop" else holder[values[0]]
        if known(values[0]) and None not in holder:
            if name == "setdefault":
                holder[values[0]] = other
            return other
        return combined([holder, other])
    if name == "update" and len(values) == 1:
        if isinstance(values[0], dict):
            holder.update(values[0])
        else:
            store(holder, UNKNOWN, content(values[0]))
        return None
    if name == "values":
        return list(holder.values())
    if name == "items":
        return [[key, value] for key, value in holder.items()]
    if name == "keys":
        return list(holder)
    return dict(holder) if name == "copy" else NotImplemented


def _settings(holder: Object, name: str, values: list[Value]) -> Value:
    """A parser of settings: section -> key -> value."""
    section = holder.fields.get(values[0], {}) if values and known(values[0]) else None
    if name == "add_section" and values and known(values[0]):
        holder.fields.setdefault(values[0], {})
        return None
    if name == "set" and len(values) == 3:  # noqa: PLR2004 - section, key, value
        if section is None:
            holder.content = combined([holder.content, values[2]])
        else:
            store(holder.fields.setdefault(values[0], {}), values[1], values[2])
        return None
    if name == "get" and len(values) > 1:
        if isinstance(section, dict) and known(values[1]) and values[1] in section:
            return section[values[1]]
        return holder.content if section is not None and known(values[1]) else content(holder)
    if name.startswith("read"):
        holder.content = combined([holder.content, *values])
        return None
    return NotImplemented


def _of_object(holder: Object, name: str, values: list[Value]) -> Value:
    if holder.made_by is None and name in _ADDS:
        holder.content = combined([holder.content, *values])
        return UNKNOWN
    return NotImplemented

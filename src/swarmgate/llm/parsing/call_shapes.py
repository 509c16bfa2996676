"""Recognizes tool calls in decoded JSON: the keys that models use, and the forms of arguments. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from swarmgate.domain.text.json_text import DuplicateKey, loaded
from swarmgate.llm.model import ToolSpec
from swarmgate.llm.parsing.relaxed_json import CUT, NESTED, Unreadable, relaxed_at

Tools = Mapping[str, ToolSpec]
"""The tools on offer, by name."""

_NAMED_BY = ("tool", "name", "tool_name", "recipient_name", "function", "action")
_GIVEN_BY = ("arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs")
_LISTED_BY = ("tool_calls", "calls", "tool_uses", "function_calls")
_WRAPPED_BY = ("tool_call", "function_call", "functionCall", "function")
_ASIDE = frozenset({"id", "type", "index", "tool_call_id", "thought", "thoughts", "thinking", "reasoning", "analysis"})
"""Keys beside a call that are no arguments of it, where its schema does not know them."""

_SPACES = re.compile(
    r"\A(?:functions|tools?|default_api|multi_tool_use)[.:](?=\w)|(?:<\|.*|:\d{1,4}|\(\s*\))\Z", re.DOTALL
)
_FENCED = re.compile(r"\A\s*`{3,}\w*\s*\n?(.*?)\n?\s*`{3,}\s*\Z", re.DOTALL)
_BEHIND = re.compile(r"(?:\s|</?[A-Za-z_]{1,30}>|<\|[^|<>\n]{1,40}\|>)*")
"""What may stand behind arguments: marks of a template that the endpoint's parser left there."""
_LONGEST_SOURCE = 200_000
"""Characters of text that is tried as calls of Python."""

TWO_WAYS = frozenset({CUT, NESTED})
"""Repairs by which a text might say something else: never of a call that is part of the answer, such as a verdict."""


class Entry(NamedTuple):
    """A call: the name of the tool, the decoded arguments, and what had to be put right. `unclear`: two readings."""

    name: str
    arguments: Any
    repairs: tuple[str, ...] = ()
    unclear: bool = False


def own_name(name: str) -> str:
    """A tool's name without the name space that some models put before it, and tokens of a template behind it."""
    return _SPACES.sub("", name.strip())


def entries_of(value: Any, tools: Tools) -> tuple[Entry, ...]:
    """The calls that a decoded value means; none where any entry of it means something else."""
    try:
        return _entries_of(value, tools)
    except RecursionError:  # calls within calls within calls: nobody means that
        return ()


def _entries_of(value: Any, tools: Tools) -> tuple[Entry, ...]:
    if isinstance(value, dict):
        return _entries(value, tools)
    found = [_entries(each, tools) if isinstance(each, dict) else () for each in value]
    return tuple(entry for each in found for entry in each) if all(found) else ()


def _entries(value: dict[str, Any], tools: Tools) -> tuple[Entry, ...]:
    """The calls of an object: its own, or those that it holds. Where it has both, none of them is clear."""
    held: list[tuple[Entry, ...]] = []
    for key in (*_LISTED_BY, *_WRAPPED_BY):
        inner = value.get(key)
        wrapped = isinstance(inner, dict) and key in _WRAPPED_BY and bool({*inner} & {*_NAMED_BY})
        listed = isinstance(inner, list) and key in _LISTED_BY
        if (wrapped or listed) and (entries := _entries_of(inner, tools)):
            repair = f"under `{key}`"
            held.append(tuple(each._replace(repairs=(repair, *each.repairs)) for each in entries))
    own = _entry(value, tools)
    sources = [*held, *([(own,)] if own else [])]
    return tuple(each._replace(unclear=each.unclear or len(sources) > 1) for entries in sources for each in entries)


def _entry(value: dict[str, Any], tools: Tools) -> Entry | None:
    names = [key for key in _NAMED_BY if isinstance(value.get(key), str)]
    if not names:
        return _keyed(value, tools)
    given = [key for key in _GIVEN_BY if key in value]
    key = names[0]
    name = own_name(value[key]) if own_name(value[key]) in tools else value[key]
    if not given:
        return _flat(value, key, name, tools)
    spoken = given[0] == "arguments" and isinstance(value[given[0]], dict | str)
    if name not in tools and key != "tool" and not spoken:
        return None
    ours = key == "tool" and given[0] == "arguments" and name == value[key]
    repairs = () if ours else (f"`{key}` and `{given[0]}`",)
    overlapping = {*_properties(tools.get(name))} & value.keys() - {*names} - {given[0]}
    unclear = bool(overlapping) or len(given) > 1 or len({own_name(value[each]) for each in names}) > 1
    return Entry(name, value[given[0]], repairs, unclear)


def _keyed(value: dict[str, Any], tools: Tools) -> Entry | None:
    """`{"NAME": {...}}`, where the tool takes that."""
    if len(value) != 1:
        return None
    ((key, arguments),) = value.items()
    spec = tools.get(own_name(key))
    if spec is None or not _takes(spec, arguments):
        return None
    return Entry(spec.name, arguments, ("the name as a key",))


def _flat(value: dict[str, Any], key: str, name: str, tools: Tools) -> Entry | None:
    """A call without arguments, or with them beside its name."""
    spec = tools.get(name)
    rest = {each: value[each] for each in value if each != key}
    if spec is None:
        return Entry(name, {}) if key == "tool" and not rest else None
    arguments = {each: rest[each] for each in rest if each not in _ASIDE or each in _properties(spec)}
    if not arguments and (key == "tool" or not spec.parameters.get("required")):
        return Entry(name, {})
    return Entry(name, arguments, ("arguments beside the name",)) if _takes(spec, arguments) else None


def _properties(spec: ToolSpec | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = spec.parameters.get("properties", {}) if spec else {}
    return found


def _takes(spec: ToolSpec, arguments: Any) -> bool:
    """Whether an object may be the arguments of a tool: all that it requires, and nothing that it does not know."""
    required = set(spec.parameters.get("required", ()))
    return isinstance(arguments, dict) and required <= arguments.keys() <= {*_properties(spec), *required}


def argument_text(value: Any, spec: ToolSpec | None) -> tuple[str, tuple[str, ...]]:
    """Arguments as JSON, and what was put right: a fence around them, or liberties in what was encoded twice."""
    if not isinstance(value, str):
        return json.dumps({} if value is None else value), ()
    return mended(value, spec)


def mended(text: str, spec: ToolSpec | None) -> tuple[str, tuple[str, ...]]:
    """Arguments as a model spelt them, in JSON that can be read, and what was put right; as they came where none is.

    What might say something else than was meant stays as it is: whoever reads it says what is wrong.
    """
    repairs: tuple[str, ...] = ()
    if fenced := _FENCED.match(text):
        text, repairs = fenced[1], ("a fence around the arguments",)
    try:
        value = loaded(text.strip() or "{}", strict=False)
    except DuplicateKey:
        return text, ()
    except ValueError:
        pass
    else:
        return (value, (*repairs, "arguments encoded twice")) if _is_object(value) else (text, repairs)
    try:
        found = relaxed_at(text, len(text) - len(text.lstrip()))
    except Unreadable:
        return text, ()
    doubtful = found.doubled or (TWO_WAYS & {*found.repairs} and (spec is None or spec.answers))
    behind = text[found.end :].strip()
    if doubtful or not _BEHIND.fullmatch(behind) or not isinstance(found.value, dict):
        return text, ()
    marks = ("marks behind the arguments",) if behind else ()
    return json.dumps(found.value), (*repairs, *found.repairs, *marks)


def _is_object(value: Any) -> TypeGuard[str]:
    """Whether a value is a text that is a JSON object: arguments that were encoded once too often."""
    try:
        return isinstance(value, str) and isinstance(loaded(value, strict=False), dict)
    except ValueError:
        return False


def python_calls(source: str, tools: Tools) -> tuple[Entry, ...]:
    """The calls of a text that is nothing but calls of Python with literals, `[read_file(path="a.py")]`; else none."""
    if len(source) > _LONGEST_SOURCE or not any(name in source for name in tools):
        return ()
    try:
        body = ast.parse(source.strip()).body
        nodes = [node for line in body for node in _called(line)]
        return tuple(_python_call(node, tools) for node in nodes)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ()


_PYTHON_PIECE = re.compile(
    r"\"{3}.*?\"{3}|'{3}.*?'{3}|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|(?P<opens>[\[({])|(?P<closes>[\])}])",
    re.DOTALL,
)


def python_list_end(text: str, start: int) -> int:
    """Where the list of Python's that begins at a place ends; 0 where it does not."""
    depth = 0
    for piece in _PYTHON_PIECE.finditer(text, start, start + _LONGEST_SOURCE):
        depth += (piece["opens"] is not None) - (piece["closes"] is not None)
        if depth <= 0:
            return piece.end()
    return 0


def _called(line: ast.stmt) -> list[ast.expr]:
    value = getattr(line, "value", None)
    if value is None or type(line) is not ast.Expr:
        raise SyntaxError("a statement")
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _python_call(node: ast.expr, tools: Tools) -> Entry:
    """One call.

    Raises:
        SyntaxError, ValueError: it is no call of a tool on offer with literals for arguments.
    """
    if type(node) is not ast.Call:
        raise SyntaxError("no call")
    if isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1:
        return _python_call(node.args[0], tools)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    spec = tools.get(name)
    if spec is None or any(word.arg is None for word in node.keywords):
        raise ValueError("no tool on offer")
    places = list(_properties(spec))[: len(node.args)]
    given = {key: ast.literal_eval(each) for key, each in zip(places, node.args, strict=True)}
    named = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
    unclear = bool(given.keys() & named.keys()) or (bool(given) and spec.answers)
    arguments = given | named
    json.dumps(arguments)
    return Entry(name, arguments, ("a call of Python",), unclear)

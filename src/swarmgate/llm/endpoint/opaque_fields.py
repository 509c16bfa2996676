"""Stores provider-specific fields of an answer and sends them back unchanged. Pure.

Reasoning of DeepSeek, Kimi and GLM (`reasoning_content`), OpenRouter, vLLM and Ollama (`reasoning`,
`reasoning_details`), LiteLLM (`thinking_blocks`, `provider_specific_fields`), Gemini's thought signatures
(`extra_content`, of a message or of a tool call): everything that the protocol does not name is opaque.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

MESSAGE = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "name", "tool_call_id"}
)
"""The fields of a message that the protocol names."""
CALL = frozenset({"id", "type", "index", "function"})
"""Those of a tool call."""
FUNCTION = frozenset({"name", "arguments"})
"""Those of the function of a tool call."""

_FIXED = re.compile(
    r"(^|_)(type|id|index|format|role|name|object|model|status|kind|provider|version|encoding|timestamp|created)$"
)
"""Keys whose text is said anew with each part of a stream; that of any other key goes on where it was."""
_DEEPEST = 100
"""Levels of nesting."""
_SEALS = ("signature", "data", "encrypted", "encrypted_content")
"""What ends a block that has no index (Anthropic's, by LiteLLM): the next one of its type is another."""


class OpaqueFields:
    """Assembles opaque fields as they arrive: joins texts, and merges objects and list items by index."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def add(self, fields: Mapping[str, Any]) -> int:
        """Take in more of them; how many characters that was. Null says nothing.

        Raises:
            RecursionError: they are nested too deeply to be anything in good faith.
        """
        if not _shallow(fields):
            raise RecursionError("too deep")
        _merge(self._fields, fields)
        return sum(len(each) if isinstance(each, str) else len(json.dumps(each)) for each in fields.values())

    @property
    def text(self) -> str:
        """All of them as one JSON object; empty where there are none."""
        return json.dumps(_plain(self._fields), ensure_ascii=False) if self._fields else ""


def extra_fields(record: Mapping[str, Any], named: frozenset[str]) -> dict[str, Any]:
    """The fields of a record that the protocol does not name, and that say something."""
    return {key: value for key, value in record.items() if key not in named and value is not None}


def of_call(call: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
    """The extra fields of a tool call, with those of its function."""
    inner = extra_fields(function, FUNCTION)
    return extra_fields(call, CALL) | ({"function": inner} if inner else {})


def loaded(text: str) -> dict[str, Any]:
    """The fields that `OpaqueFields.text` spells; none where it was masked or spoilt."""
    try:
        fields = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def names(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The opaque fields in messages of the wire: where they stand (`message`, `call`, `function`), and their names."""
    for message in messages:
        yield from (("message", key) for key in message.keys() - MESSAGE)
        for call in message.get("tool_calls") or ():
            yield from (("call", key) for key in call.keys() - CALL)
            yield from (("function", key) for key in call["function"].keys() - FUNCTION)


def _shallow(value: Any) -> bool:
    """Whether a value is nested less deeply than what recursion takes."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return True
    return False


class _Text:
    """A text in the pieces in which it came."""

    def __init__(self, first: str) -> None:
        self.pieces = [first]


def _merge(into: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for key, value in fields.items():
        if value is not None:
            into[key] = _joined(into.get(key), value, key)


def _joined(old: Any, new: Any, key: str) -> Any:
    if isinstance(new, str):
        if isinstance(old, _Text) and not _FIXED.search(key):
            old.pieces.append(new)
            return old
        return _Text(new)
    if isinstance(new, dict):
        whole = old if isinstance(old, dict) else {}
        _merge(whole, new)
        return whole
    if isinstance(new, list):
        items = old if isinstance(old, list) else []
        _extend(items, new)
        return items
    return new


def _extend(items: list[Any], more: list[Any]) -> None:
    """Items go on by their index. Without one, the first goes on with the last item of before, if that is open."""
    before = len(items)
    for number, item in enumerate(more):
        at = _place(items[:before], item, first=number == 0)
        if at is None:
            items.append(_joined(None, item, ""))
        else:
            _merge(items[at], item)


def _place(items: list[Any], item: Any, *, first: bool) -> int | None:
    """Which of the items of before goes on; None: it is a new one."""
    if not isinstance(item, dict):
        return None
    if item.get("index") is None:
        last = items[-1] if items and first else None
        same = isinstance(last, dict) and last.get("index") is None and _alike(last, item) and not _sealed(last)
        return len(items) - 1 if same else None
    fitting = (at for at, old in enumerate(items) if isinstance(old, dict) and old.get("index") == item["index"])
    return next((at for at in fitting if _alike(items[at], item)), None)


def _alike(old: dict[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two items are of one type, and of one id as far as both have one."""
    pairs = ((_plain(old.get(key)), new.get(key)) for key in ("type", "id"))
    return all(one is None or other is None or one == other for one, other in pairs)


def _sealed(item: dict[str, Any]) -> bool:
    return any(_plain(item.get(key)) for key in _SEALS)


def _plain(value: Any) -> Any:
    if isinstance(value, _Text):
        return "".join(value.pieces)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value

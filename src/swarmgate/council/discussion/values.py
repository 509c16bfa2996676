"""Values of an answer's JSON as the records want them: texts, lists of them, whole numbers within bounds, ids."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from swarmgate.council.json_objects import PLACES, taken_apart, unfenced
from swarmgate.council.voting import MOST_TEXT

_TEXT_KEYS = ("text", "statement", "summary", "insight", "question", "description", "topic")


def text_of(value: Any) -> str:
    """A value as text: a string, the text of an object, the lines of a list; nothing for nothing."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, Mapping):
        found = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
        return found.strip() if found else json.dumps(value, ensure_ascii=False)
    return "" if value is None else json.dumps(value)


def texts_of(value: Any) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    return tuple(filter(None, map(text_of, value if isinstance(value, list) else [value])))


def dicts_of(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; one object is a list of one."""
    listed = value if isinstance(value, list) else [value]
    return tuple(each for each in listed if isinstance(each, Mapping))


def items_of(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; a text in it stands for an object with that text."""
    listed = value if isinstance(value, list) else [value]
    return tuple(
        each if isinstance(each, Mapping) else {"text": text_of(each)} for each in listed if each not in (None, "")
    )


def first_of(found: Mapping[str, Any], *keys: str) -> Any:
    """The value under the first of these keys that there is one under."""
    return next((found[key] for key in keys if found.get(key) is not None), None)


def ids_of(value: Any) -> tuple[str, ...]:
    """Ids of messages, each once, in order; a blank or an object is none."""
    listed = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(each.strip().strip("[]") for each in listed if isinstance(each, str) and each.strip()))


def known(ids: Iterable[str], shown: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids that were shown, and those that were not."""
    listed = tuple(ids)
    return tuple(each for each in listed if each in shown), tuple(each for each in listed if each not in shown)


def number_of(value: Any) -> float | None:
    """A JSON number; a word, a truth value or an infinite one is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def clamped(name: str, value: float, least: int, most: int) -> tuple[int, str]:
    """The nearest whole number within bounds, and what is noted where that is another one."""
    kept = min(max(round(value), least), most)
    return kept, "" if kept == value else f"{name} {value:g} was taken as {kept}"


def prose_of(text: str) -> str:
    """The answer without its JSON objects, at most as long as a message may be."""
    return shortened(PLACES.sub("", unfenced(taken_apart(text).text)).strip())[0]


def shortened(text: str) -> tuple[str, str]:
    """A text as long as a message may be, and what is noted where it was longer."""
    left_out = len(text) - MOST_TEXT
    return (
        (text, "") if left_out <= 0 else (text[:MOST_TEXT], f"{left_out:,} characters were cut: a message is shorter")
    )

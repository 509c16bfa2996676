"""Extracts the prose of an answer, beside its JSON objects or inside of them, shortened to a message's length."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from swarmgate.agents.tools.answer_text import objects_of, without_objects
from swarmgate.council.limits import MOST_TEXT

SPOKEN = (
    "text",
    "argument",
    "content",
    "message",
    "response",
    "reply",
    "statement",
    "claim",
    "analogy",
    "position",
    "reason",
)
"""Keys under which an answer that is one JSON object has what it says, the likeliest first."""

_WORD = 1_000
"""Characters of a word at most that is left out whole where a text is cut."""


def prose_of(text: str) -> str:
    """The answer without its JSON objects, at most as long as a message may be."""
    return shortened(without_objects(text))[0]


def text_under(text: str, keys: Iterable[str] = SPOKEN) -> str:
    """What an answer says: its prose, or else the first text in its objects under one of these keys."""
    return without_objects(text) or next(_texts_under(objects_of(text), keys), "")


def _texts_under(found: Collection[Mapping[str, Any]], keys: Iterable[str]) -> Iterator[str]:
    inner = [value for each in found for value in each.values() if isinstance(value, Mapping)]
    for key in keys:
        texts = (each[key].strip() for each in (*found, *inner) if isinstance(each.get(key), str))
        yield from filter(None, texts)


def shortened(text: str, most: int = MOST_TEXT) -> tuple[str, str]:
    """A text as long as it may be, and what is noted where it was longer.

    It ends with a whole word where one ends nearby: the half of a key is not known as a key, and would not be masked.
    """
    if len(text) <= most:
        return text, ""
    start = text[:most]
    ends = max(map(start.rfind, (" ", "\n", "\t"))) if not text[most].isspace() else most
    start = start[:ends] if ends > most - _WORD else start
    return start, f"{len(text) - len(start):,} characters were cut: a message is shorter"

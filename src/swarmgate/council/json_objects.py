"""The JSON objects in a text, and the text without them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_CANDIDATES = 200
"""How many `{` of a text are tried; prose with more of them says nothing in JSON in good faith."""

_PLACE = "\x00{}\x00"
PLACES = re.compile("\x00([0-9]+)\x00")
"""What stands in the place of an object."""

_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*\w*[ \t]*$", re.MULTILINE)
_INLINE_FENCE = re.compile(rf"(?<!`)```(?:json)?[ \t]*(?={PLACES.pattern})|(?<=\x00)[ \t]*```")


@dataclass(frozen=True, slots=True)
class Mixed:
    """A text whose JSON objects were taken out: `text` has a mark in the place of each, `objects` are they in order."""

    text: str
    objects: tuple[dict[str, Any], ...]

    def alone(self, heading: re.Pattern[str]) -> tuple[dict[str, Any], ...]:
        """The objects that stand on lines of their own, or behind a heading; others are in the middle of a sentence.

        Args:
            heading: matches a line with what stands behind its key as group 1.
        """
        return tuple(
            self.objects[int(found[1])]
            for line in self.text.splitlines()
            if (found := PLACES.fullmatch((head[1] if (head := heading.match(line)) else line).strip(" \t`*_.")))
        )


def taken_apart(text: str) -> Mixed:
    """The text and its objects; one in another is a part of that. What cannot be decoded stays text."""
    text = text.replace("\x00", " ").replace("\r\n", "\n").replace("\r", "\n")
    decoder = json.JSONDecoder(strict=False)
    parts: list[str] = []
    objects: list[dict[str, Any]] = []
    done = at = 0
    for _ in range(_CANDIDATES):
        start = text.find("{", at)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        parts += [text[done:start], _PLACE.format(len(objects))]
        objects.append(value)
        done = at = end
    without = "".join((*parts, text[done:]))
    return Mixed(_INLINE_FENCE.sub("", without), tuple(objects))


def unfenced(text: str) -> str:
    """The text without the lines that open and close fences."""
    return _FENCE.sub("", text)

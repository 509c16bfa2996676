"""The width and the colours available to text that is printed for people, and how lines are wrapped for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Piece = tuple[str, str]
"""A text, and its style: colours and weights as rich names them."""

# Scripts that set no blanks between words: a line may end before and after each of these characters.
_IDEOGRAPHS = "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_UNITS = re.compile(rf"\s*(?:[{_IDEOGRAPHS}]|[^\s{_IDEOGRAPHS}]+)")


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces).rstrip()


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal or a pipe. `width`: its columns, 0 where nothing is wrapped; `paint` makes a line of its pieces."""

    width: int = 0
    paint: Callable[[Sequence[Piece]], str] = _plain


PIPE = Screen()
"""No terminal: nothing is wrapped or coloured."""


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two of a wide character, none of an accent that is set on one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.category(each) in ("Mn", "Me", "Cf") else _width(each) for each in text)


def _width(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrapped(pieces: Sequence[Piece], width: int, hang: int = 0) -> Iterator[list[Piece]]:
    """The pieces of a line, in as many lines as the width asks for, broken between words.

    Args:
        pieces: of one line.
        width: columns; 0: one line. A word that is wider than that stays whole.
        hang: how many columns from the left a further line begins; one that begins with a word that would not fit
            there, and does at the edge, begins further left.
    """
    text = "".join(text for text, _ in pieces)
    for start, end, indent in _lines(text, width, hang):
        yield [*([(" " * indent, "")] if indent else []), *_between(pieces, start, end)]


def _lines(text: str, width: int, hang: int) -> Iterator[tuple[int, int, int]]:
    """Where each line begins and ends, and how far it is indented."""
    if not width or columns(text) <= width:
        yield 0, len(text), 0
        return
    start = used = indent = 0
    for unit in _UNITS.finditer(text):
        size = columns(unit[0])
        if start < unit.start() and used + size > width:
            yield start, unit.start(), indent
            word = unit[0].lstrip()
            start, size = unit.end() - len(word), columns(word)
            indent = min(hang, width - size) if size <= width else hang
            used = indent + size
        else:
            used += size
    yield start, len(text), indent


def _between(pieces: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    place = 0
    for text, style in pieces:
        part = text[max(start - place, 0) : max(end - place, 0)]
        place += len(text)
        if part:
            yield part, style

"""Encodes shell quoting within a text, so that every character is known as quoted or unquoted.

Quoted characters that mean something to the shell are shifted into a private range of Unicode, so that braces, blanks,
`~` and wildcards that are still themselves are the unquoted ones.
"""

from __future__ import annotations

import re

from swarmgate.workspace.command_policy.model import UNKNOWN, Unreadable, Word

QUOTED = "\ue001"
"""A quoted place; keeps an empty string a word."""
_OPEN, _BETWEEN, _CLOSE = "\ue002", "\ue003", "\ue004"
_SHIFT = 0xE100
_SPECIAL = frozenset(" \t\n{},~*?[]=:")
_PRIVATE = re.compile("[\ue000-\ue1ff]")
_RANGE = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})|([A-Za-z])\.\.([A-Za-z])")
_MOST = 256
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


def has_private(text: str) -> bool:
    """Whether a text has characters of the range that is used here."""
    return bool(_PRIVATE.search(text))


def quoted(text: str) -> str:
    """The text as if it stood in quotes."""
    return QUOTED + "".join(chr(_SHIFT + ord(char)) if char in _SPECIAL else char for char in text)


def any_of(texts: list[str]) -> str:
    """One text for several that are possible, as for the variable of a loop."""
    return texts[0] if len(texts) == 1 else _OPEN + _BETWEEN.join(texts) + _CLOSE


def plain(text: str) -> str:
    """The characters themselves."""
    return "".join(
        chr(ord(char) - _SHIFT) if _SHIFT <= ord(char) < _SHIFT + 0x80 else char for char in text if char != QUOTED
    )


def fields(text: str, *, home: str, cwd: str) -> list[Word]:
    """The words that a marked text becomes: alternatives, braces, blanks, `~`, wildcards, in the shell's order.

    Raises:
        Unreadable: they are too many.
    """
    return [
        _word(piece, home, cwd)
        for each in _choices(text, _OPEN, _BETWEEN, _CLOSE)
        for spread in _choices(each, "{", ",", "}")
        for piece in re.split(r"[ \t\n]+", spread)
        if piece
    ]


def _word(text: str, home: str, cwd: str) -> Word:
    if text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        place = {"": home, "+": cwd or UNKNOWN, "-": UNKNOWN}.get(name, f"/~{name}")
        text = place + slash + rest
    return Word(plain(text))


def _choices(text: str, opening: str, between: str, closing: str) -> list[str]:
    """All texts that a text with braces stands for."""
    done, todo = [], [text]
    while todo:
        here = todo.pop()
        found = _innermost(here, opening, between, closing)
        if found is None:
            done.append(here)
        else:
            start, end, options = found
            todo += [here[:start] + option + here[end + 1 :] for option in reversed(options)]
        if len(done) + len(todo) > _MOST:
            raise Unreadable("its braces stand for too many words")
    return done


def _innermost(text: str, opening: str, between: str, closing: str) -> tuple[int, int, list[str]] | None:
    """The first pair without a pair in it that stands for something: where it starts and ends, and for what."""
    starts: list[int] = []
    for index, char in enumerate(text):
        if char == opening and not (opening == "{" and text[index - 1 : index] == "$"):
            starts.append(index)
        elif char == closing and starts:
            start = starts.pop()
            inner = text[start + 1 : index]
            if between in inner:
                return start, index, inner.split(between)
            if opening == "{" and (found := _RANGE.fullmatch(inner)):
                return start, index, _range(found)
    return None


def _range(found: re.Match[str]) -> list[str]:
    if found[1] is not None:
        first, last = int(found[1]), int(found[2])
        return [str(n) for n in range(min(first, last), min(max(first, last), min(first, last) + _MOST) + 1)]
    low, high = sorted((ord(found[3]), ord(found[4])))
    return [chr(n) for n in range(low, high + 1)]


def unescaped(text: str) -> str:
    r"""`\n`, `\x41`, `\101` and the like as `$'...'`, `printf` and `echo -e` read them."""

    def one(found: re.Match[str]) -> str:
        what = found[1]
        if what[0] in "xuU" and len(what) > 1:
            code = int(what[1:], 16)
            return chr(code) if code < 0xD800 or 0xE200 <= code <= 0x10FFFF else UNKNOWN  # noqa: PLR2004 - our own range
        if what[0] in "01234567":
            return chr(int(what, 8) % 256)
        if what[0] == "c" and len(what) > 1:
            return chr(ord(what[1]) & 0x1F)
        return _LETTERS.get(what, what)

    return _ESCAPE.sub(one, text)

"""Parses untrusted TOML in bounded time and memory.

tomllib takes quadratic time, and a thousand bytes a byte, for the length of a dotted key: 1.5 GB for 40 KB of `a.a.a.`.
A thread that parses cannot be stopped, so what no tool would read is refused before it begins.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

PARTS = 100
"""Dots of one key from which on a document is refused. People write three or four."""

DEPTH = 100
"""Brackets within brackets from which on a document is refused."""

DOTS = 200_000
"""Dots of all keys together from which on a document is refused: each makes several objects."""

# What holds dots and brackets that mean nothing. A text that is not closed reaches to where tomllib gives up on it.
# Atomic groups with what looks ahead: before Python 3.11.5 a possessive one loses its place there (cpython#106052).
_OPAQUE = re.compile(
    r"#[^\n]*+"
    r'|"""(?>(?:[^"\\]++|\\[\s\S]|"(?!""))*)(?:"{3,5}|\\?\Z)'
    r"|'''(?>(?:[^']++|'(?!''))*)(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
)
_END_OF_KEY = re.compile(r"[\n=,{}\[\]]")
_BRACKET = re.compile(r"[\[\]{}]")
_LONG = frozenset({'"""', "'''"})
_END = "(at end of document)"


class TooDeep(tomllib.TOMLDecodeError):
    """The document is nested so deeply that it is not looked at."""


def loads(text: str) -> dict[str, Any]:
    """The document as tomllib reads it.

    Raises:
        tomllib.TOMLDecodeError: it is not TOML, or (`TooDeep`) nested too deeply.
    """
    if text.count(".") > PARTS or text.count("[") + text.count("{") > DEPTH:
        _check(text)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise TooDeep("nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        if _END not in message:
            raise
        raise tomllib.TOMLDecodeError(message.replace(_END, f"(begun at line {_begun(text)})")) from error
    except ValueError as error:  # a number of more digits than Python turns into one
        raise tomllib.TOMLDecodeError(str(error)) from error


def table(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The table below these keys; empty where there is none, or where a project wrote something else there."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _begun(text: str) -> int:
    """The line where that begins which the end of the document cuts off: a bracket, a long text, or the last line."""
    opened: list[int] = []
    last = max(text.rstrip().count("\n") + 1, 1)

    def without(match: re.Match[str]) -> str:
        nonlocal last
        if match.end() == len(text) and match[0][:3] in _LONG and not _closed(match[0]):
            last = text.count("\n", 0, match.start()) + 1
        return "\n" * match[0].count("\n")

    bare = _OPAQUE.sub(without, text)
    for match in _BRACKET.finditer(bare):
        if match[0] in "[{":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return bare.count("\n", 0, opened[0]) + 1 if opened else last


def _closed(text: str) -> bool:
    try:
        tomllib.loads(f"a = {text}")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _check(text: str) -> None:
    # A bare line break in a text stays one, so that the numbers of lines hold.
    bare = _OPAQUE.sub(lambda match: "\n" * match[0].count("\n"), text)
    dots = 0
    for number, line in enumerate(bare.split("\n"), 1):
        if "." not in line:
            continue
        most = line.count(".")
        if most > PARTS:
            most = max(key.count(".") for key in _END_OF_KEY.split(line))
        dots += line.count(".")
        if most > PARTS:
            raise TooDeep(f"nested too deeply: a key of more than {PARTS} parts (at line {number}, column 1)")
        if dots > DOTS:
            raise TooDeep(f"nested too deeply: keys with more than {DOTS:,} dots (at line {number}, column 1)")
    depth = 0
    for match in _BRACKET.finditer(bare):
        depth += 1 if match[0] in "[{" else -1
        if depth > DEPTH:
            place = bare.count("\n", 0, match.start()) + 1
            raise TooDeep(f"nested too deeply: {DEPTH} brackets within each other (at line {place}, column 1)")

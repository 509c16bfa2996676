"""Parses machine-written TOML (Cargo.lock, uv.lock, poetry.lock, pdm.lock) fast, line by line.

tomllib reads 2 MB a second, a lock of 20,000 packages has 10 MB. What such files use of TOML is little; a line of any
other shape hands the whole file to tomllib, so that the result is tomllib's in every case.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from swarmgate.config import toml_text

SMALL = 300_000
"""Characters up to which tomllib itself is quick enough."""

_LINE = re.compile(
    r'^(?:([A-Za-z0-9_-]+|"[^"\\\n]*") = (?:"([^"\\\n]*)"|(\[)|(.+))'  # key = "text" | [ | anything on the line
    r'|[ \t]+"([^"\\\n]*)",?'  # an element that is a text
    r"|[ \t]+(\{.*\}),?"  # an element that is a table
    r"|(\])"
    r"|\[\[([A-Za-z0-9_-]+)\]\]"
    r"|\[([A-Za-z0-9_.-]+)\]"
    r"|#.*|)$"
)
_PLAIN = re.compile(r'[^\\"]*(?:"[^"\\]*"[^\\"]*)*')
_STRINGS = re.compile(r'"[^"]*"')
_FLAT = re.compile(r'\{ ?(?:[A-Za-z0-9_-]+ = (?:"[^"\\]*"|0|[1-9]\d*|true|false)(?:, (?!\})|(?= ?\}$)))+ ?\}')
_PAIR = re.compile(r'([A-Za-z0-9_-]+) = (?:"([^"\\]*)"|(\d+)|(true|false))')
_QUOTE = re.compile('"')
_KEY = re.compile(r"([{,] ?)([A-Za-z0-9_-]+) = ")


class _Other(Exception):
    """A line has a shape that this reader does not know."""


def loads(text: str) -> dict[str, Any]:
    """The document as tomllib reads it.

    Raises:
        tomllib.TOMLDecodeError: it is not TOML.
    """
    if len(text) > SMALL:
        try:
            return _read(text)
        except _Other:
            pass
    return toml_text.loads(text)


def _read(text: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    table, array = document, None
    value = functools.cache(_value)  # most packages name the same source: read once, shared, changed by nobody
    match_line = _LINE.match
    for line in text.split("\n"):
        match = match_line(line)
        if match is None:
            raise _Other
        kind = match.lastindex
        if array is not None:
            array = _element(match, kind, array)
        elif kind is None:
            continue
        elif kind <= 4:  # noqa: PLR2004 - a key, with its value in group 2, 3 or 4
            key = match[1].strip('"')
            if key in table:
                raise _Other
            if kind == 2:  # noqa: PLR2004
                table[key] = match[2]
            elif kind == 3:  # noqa: PLR2004
                array = table[key] = []
            else:
                table[key] = value(match[4])
        else:
            table = _header(document, match)
    if array is not None:
        raise _Other
    return document


def _element(match: re.Match[str], kind: int | None, array: list[Any]) -> list[Any] | None:
    if kind == 5:  # noqa: PLR2004
        array.append(match[5])
    elif kind == 6:  # noqa: PLR2004
        array.append(_value(match[6]))
    elif kind == 7:  # noqa: PLR2004
        return None
    else:
        raise _Other
    return array


def _header(document: dict[str, Any], match: re.Match[str]) -> dict[str, Any]:
    if match[8]:
        rows = document.setdefault(match[8], [])
        if not isinstance(rows, list):
            raise _Other
        rows.append({})
        return rows[-1]  # type: ignore[no-any-return]  # the dict appended above
    if not match[9]:
        raise _Other
    place = document
    *parents, last = match[9].split(".")
    for name in parents:
        step = place.setdefault(name, {})
        place = step[-1] if isinstance(step, list) and step else step
        if not isinstance(place, dict):
            raise _Other
    if not last or last in place:
        raise _Other
    table: dict[str, Any] = {}
    place[last] = table
    return table


def _value(text: str) -> Any:
    """A value on one line whose strings hold no escape: JSON but for its keys, which are put between marks first."""
    if _FLAT.fullmatch(text):
        pairs = [(key, word or (int(number) if number else flag == "true" if flag else ""))
                 for key, word, number, flag in _PAIR.findall(text)]  # fmt: skip
        return _once(pairs)
    if not _PLAIN.fullmatch(text) or '"""' in text:
        raise _Other
    strings = iter(_STRINGS.findall(text))
    shape = _STRINGS.sub('"', text)
    if "'" in shape or "null" in shape:
        raise _Other
    shape = _KEY.sub("\\1\0\\2\0: ", shape)
    source = _QUOTE.sub(lambda _: next(strings), shape).replace("\0", '"')
    try:
        return json.loads(source, object_pairs_hook=_once)
    except ValueError as error:
        raise _Other from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise _Other
    return table

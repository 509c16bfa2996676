"""Finds the line of a key in a TOML file, for error messages about council files."""

from __future__ import annotations

import re

Place = tuple[int | str, ...]
"""The way to a key; a place in a list counts from 0."""

_LONG_TEXTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''")


def line_of(text: str, place: Place) -> int:
    """The line of the key, or of the longest part of its way that is written out; 0 where none is.

    Reads headers and keys only, one a line: enough to lead a reader to the place.
    """
    best, depth, table = 0, 0, Place()
    last: dict[Place, int] = {}
    plain = _LONG_TEXTS.sub(lambda match: "''" + "\n" * match[0].count("\n"), text)
    for number, line in enumerate(plain.splitlines(), start=1):
        if found := re.match(r"\s*\[(\[?)\s*([\w.\s\"'-]+?)\s*\]\]?\s*(#|$)", line):
            here = table = _table(found[2], last, one_of_many=bool(found[1]))
        elif found := re.match(r"""\s*["']?([\w-]+)["']?\s*=""", line):
            here = (*table, found[1])
        else:
            continue
        shared = min(len(here), len(place))
        if here[:shared] == place[:shared] and shared > depth:
            best, depth = number, shared
    return best


def _table(name: str, last: dict[Place, int], *, one_of_many: bool) -> Place:
    """The place of a table by its header, inside of the `last` one of each array of tables, which it may add to."""
    *above, own = (part.strip(" \t\"'") for part in name.split("."))
    here = Place()
    for part in above:
        here = (*here, part)
        here = (*here, last[here]) if here in last else here
    here = (*here, own)
    if one_of_many:
        last[here] = last.get(here, -1) + 1
        here = (*here, last[here])
    return here

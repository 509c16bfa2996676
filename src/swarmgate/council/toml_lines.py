"""Where in a TOML file a key stands, for messages about the files of councils."""

from __future__ import annotations

import re

_LONG_TEXTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''")


def line_of(text: str, place: tuple[int | str, ...], *, tables: str) -> int:
    """The line of the key, or of the longest part of its way that is written out; 0 where none is.

    Reads headers and keys only, one a line: enough to lead a reader to the place.

    Args:
        text: TOML.
        place: keys, and numbers from 0 in the array of tables.
        tables: the name of that array, `[[agents]]` without brackets.
    """
    best, depth, seen = 0, 0, 0
    table: tuple[int | str, ...] = ()
    plain = _LONG_TEXTS.sub(lambda match: "''" + "\n" * match[0].count("\n"), text)
    for number, line in enumerate(plain.splitlines(), start=1):
        here: tuple[int | str, ...]
        if re.match(rf"\s*\[\[\s*{tables}\s*\]\]", line):
            here = table = (tables, seen)
            seen += 1
        elif found := re.match(r"\s*\[\s*([\w-]+)\s*\]\s*(#|$)", line):
            here = table = (found[1],)
        elif found := re.match(r"""\s*["']?([\w-]+)["']?\s*=""", line):
            here = (*table, found[1])
        else:
            continue
        shared = min(len(here), len(place))
        if here[:shared] == place[:shared] and shared > depth:
            best, depth = number, shared
    return best


def line_within(text: str, place: tuple[int | str, ...]) -> int:
    """The same for a file of tables inside of tables: `[[steps]]`, `[[steps.steps]]`, `[steps.step]`."""
    best, depth = 0, 0
    table: tuple[int | str, ...] = ()
    last: dict[tuple[int | str, ...], int] = {}
    plain = _LONG_TEXTS.sub(lambda match: "''" + "\n" * match[0].count("\n"), text)
    for number, line in enumerate(plain.splitlines(), start=1):
        here: tuple[int | str, ...]
        if found := re.match(r"\s*\[(\[?)\s*([\w.\s\"'-]+?)\s*\]", line):
            *above, own = (part.strip(" \t\"'") for part in found[2].split("."))
            here = ()
            for part in above:
                here = (*here, part)
                here = (*here, last[here]) if here in last else here
            here = (*here, own)
            if found[1]:
                last[here] = last.get(here, -1) + 1
                here = (*here, last[here])
            table = here
        elif found := re.match(r"""\s*["']?([\w-]+)["']?\s*=""", line):
            here = (*table, found[1])
        else:
            continue
        if depth < len(here) and here == place[: len(here)]:
            best, depth = number, len(here)
    return best

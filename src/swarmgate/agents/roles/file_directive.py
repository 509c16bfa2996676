"""Reads the directive `FILE:` in a delegation's free text: the files that the coder may touch."""

from __future__ import annotations

import re
from itertools import chain, dropwhile, takewhile

_DIRECTIVE = re.compile(r"(?<![\w/.])FILES?:")
"""Written in capitals, as the header lines of a brief are: "the file: ..." of a sentence is none."""

_ITEM = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+|[ \t]+)(?P<text>\S.*)")
_LINK, _PLACE = re.compile(r"\[([^\]]+)\]\([^)]*\)"), re.compile(r"(?:#L|:)\d[\d:,L-]*$")
_WORD = re.compile(r"""`([^`]+)`|"([^"]+)"|'([^']+)'|([^\s,;|"'`]+)""")
_LIKE_A_PATH = re.compile(r"[./]\w")
_BETWEEN, _NO_FILE = frozenset({"and", "&", "+", "-"}), frozenset({"none", "all", "any", "n/a"})
"""What stands between two paths, and what says that there is none."""


def named_files(instructions: str) -> tuple[str, ...]:
    """The files that instructions name by the directive `FILE:`, each once.

    They are all paths behind it, up to other words, or in the list below it. A name without a dot or a slash is one
    where it stands alone: `FILE: Makefile`.
    """
    found: list[str] = []
    for text in _DIRECTIVE.split(instructions)[1:]:
        line, *below = text.splitlines() or [""]
        items = map(_ITEM.fullmatch, dropwhile(_is_blank, below)) if _is_blank(line.strip("*")) else ()
        listed = takewhile(bool, (_paths(item["text"]) if item else () for item in items))
        found += chain(_paths(line), *listed)
    return tuple(dict.fromkeys(found))


def _paths(line: str) -> tuple[str, ...]:
    """The paths that a line begins with; they may stand in quotes, in a list of JSON, in a link, or before a line."""
    words = (next(filter(None, found.groups())) for found in _WORD.finditer(_LINK.sub(r"\1", line)))
    names = [_PLACE.sub("", _unbracketed(word.strip("*<>")).rstrip(".:)")) for word in words]
    names = [name for name in names if name and not name.startswith("(") and name not in _BETWEEN]
    if names and names[0].lower() in _NO_FILE:
        return ()
    return tuple(names) if len(names) == 1 else tuple(takewhile(_LIKE_A_PATH.search, names))


def _is_blank(line: str) -> bool:
    return not line.strip()


def _unbracketed(word: str) -> str:
    """A word without the bracket of a list that it begins or ends; `[id].tsx` is a name."""
    more = word.count("[") - word.count("]")
    return word.removeprefix("[") if more > 0 else word.removesuffix("]") if more < 0 else word

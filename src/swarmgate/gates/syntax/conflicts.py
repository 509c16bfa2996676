"""Finds unresolved merge conflict markers of git in a text."""

from __future__ import annotations

import re

from swarmgate.gates.syntax.problem import Problem

_MARKER = re.compile(rb"^(<{7}|\|{7}|={7}|>{7})(?:(?<!=)[ \t][^\n]*|[ \t]*)\r?$", re.MULTILINE)


def find(content: bytes) -> list[Problem]:
    """The first lines of the conflicts. Half of one (a heading's underline, a quoted marker) is none."""
    if b"<<<<<<<" not in content:
        return []
    problems, began, parted = [], -1, False
    for match in _MARKER.finditer(content):
        kind = match[1][:1]
        if kind == b"<":
            began, parted = match.start(), False
        elif began < 0:
            continue
        elif kind == b"=":
            parted = True
        elif kind == b">" and parted:
            line = content.count(b"\n", 0, began) + 1
            end = content.count(b"\n", 0, match.start()) + 1
            problems.append(Problem(line, 1, f"an unresolved merge conflict, up to line {end}"))
            began, parted = -1, False
    return problems

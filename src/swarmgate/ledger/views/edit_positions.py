"""Finds the line and column in plan.md or plan.json that a message about a hand edit names.

A place is a path: `("1.3", "status")`, `("1.3", "attempts", 0)`, `("phase", 2, "name")`, `("title",)`, `("seq",)`. What
does not stand there (any more) has the place of the nearest thing around it. Only looked for when there is something to
tell.
"""

from __future__ import annotations

import json
import re
from typing import Any

Place = tuple[str | int, ...]
"""The path of a thing in a plan."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_HEADS = re.compile(
    r"(?P<title># )|(?P<seq><!-- swarm plan: seq )|## Phase (?P<phase>\d{1,15}):|- \[[ xX]\] Task (?P<task>\S+):|"
    r"[ \t]+- (?P<field>Description|File|Accept|Note|Attempt)\b"
)
_FIELDS = {"Description": "description", "File": "files", "Accept": "acceptance", "Note": "note", "Attempt": "attempts"}
_DECODER = json.JSONDecoder()
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]')


def about(problem: str) -> Place:
    """What a sentence that begins with "Task 1.3" or "Phase 2" is about; the plan where it begins otherwise."""
    match = re.match(r"Task '?([^\s':,]+)|Phase (\d{1,15})\b", problem)
    if match is None:
        return ()
    return (match[1],) if match[1] else ("phase", int(match[2]))


def in_markdown(text: str, place: Place) -> int:
    """The line of plan.md, from 1; 0 where the place is not in the file at all."""
    lines = _markdown_lines(text)
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 0)


def _markdown_lines(text: str) -> dict[Place, int]:
    found: dict[Place, int] = {}
    task, counts = "", dict.fromkeys(_FIELDS, 0)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        match = _HEADS.match(line)
        if match is None:
            continue
        if match["title"] or match["seq"]:
            found["title" if match["title"] else "seq",] = number
        elif match["phase"]:
            found["phase", int(match["phase"])] = number
        elif match["task"]:
            task, counts = match["task"], dict.fromkeys(_FIELDS, 0)
            found[task,] = number
        elif task:
            name = match["field"]
            found.setdefault((task, _FIELDS[name]), number)
            found[task, _FIELDS[name], counts[name]] = number
            counts[name] += 1
    return found


def in_json(text: str, place: Place) -> int:
    """The line of plan.json, from 1; 0 where the place is not in the file at all."""
    path = _path_of(_DECODER.decode(text.removeprefix("\ufeff")), place)
    return position(text, path)[0] if path else 0


def _path_of(data: Any, place: Place) -> Place:
    """The place as keys and indexes of the file; empty where it has no such task or phase."""
    if not place or place[0] in ("title", "seq"):
        return place
    if place[0] == "phase" and isinstance(place[1], int):
        return ("phases", place[1] - 1, *place[2:]) if 0 < place[1] <= len(data["phases"]) else ()
    for index, phase in enumerate(data["phases"]):
        for number, task in enumerate(phase.get("tasks", ())):
            if task["id"].strip() == place[0]:
                return ("phases", index, "tasks", number, *place[1:])
    return ()


def position(text: str, path: Place) -> tuple[int, int]:
    """Line and column, from 1, of the value at a path of keys and indexes in JSON that can be read."""
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    for step in path:
        found = _child(text, at, step)
        if found is None:
            break
        at = found
    return line_and_column(text, at)


def _child(text: str, at: int, step: str | int) -> int | None:
    """Where the value of a key or an index begins in the object or array that begins at `at`."""
    if text[at] not in "[{":
        return None
    is_object, index = text[at] == "{", 0
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        if key == step:
            return at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1
    return None


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def second_key(text: str) -> tuple[int, int, str]:
    """Line and column, from 1, of the first key that stands a second time in its object, and the key.

    Args:
        text: JSON that can be read, in which there is one.
    """
    objects: list[set[str] | None] = []  # the keys of each object around, None for an array
    before = ""
    for match in _TOKENS.finditer(text):
        mark = match[0]
        if mark in "{[":
            objects.append(set() if mark == "{" else None)
        elif mark in "}]":
            objects.pop()
        elif mark[0] == '"' and before in ("{", ",") and (keys := objects[-1] if objects else None) is not None:
            key = json.loads(mark)
            if key in keys:
                return *line_and_column(text, match.start()), key
            keys.add(key)
        before = mark
    raise ValueError("no key stands twice")


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)

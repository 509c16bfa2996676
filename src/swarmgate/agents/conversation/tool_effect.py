"""Shows what came of a tool call, for a progress display: the diff of an edit, the end and output of a command."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from swarmgate.agents.tools.arguments import Arguments
from swarmgate.errors import SwarmError
from swarmgate.workspace.file_tools.files import FileTree

_EDITS = frozenset({"write_file", "edit_file", "delete_file"})

_COMPARED = 200_000
"""Bytes of a file up to which its versions are compared line by line: more would take seconds."""

_LINES = 400
"""Lines that are shown of a diff, or of an output."""

_COLUMNS = 500
"""Characters that are shown of one line."""


class Effected(NamedTuple):
    """What came of a call: its outcome on one line, what else can be shown, and whether it failed."""

    outcome: str = ""
    detail: str = ""
    failed: bool = False


UNKNOWN = Effected()
"""Nothing is shown of what came of it."""


class ToolEffect:
    """What one call does; made before it is carried out.

    Args:
        files: the files of the turn.
        name: of the tool.
        arguments: of the call.
    """

    def __init__(self, files: FileTree, name: str, arguments: Arguments) -> None:
        self._files = files
        self._name = name
        self._path = str(getattr(arguments, "path", "")) if name in _EDITS else ""
        self._before = self._lines() if self._path else None

    def after(self, result: str) -> Effected:
        """What the call did, once it was carried out with this result."""
        if self._name == "run_command":
            head, _, output = result.partition("\n")
            outcome = head[:1].lower() + head[1:].rstrip(".")
            return Effected(outcome, _newest(output.splitlines()), not head.startswith("Exit code 0 "))
        now = self._lines() if self._path else None
        if self._before is None or now is None:
            return UNKNOWN
        diff = [*difflib.unified_diff(self._before, now, self._path, self._path, n=2, lineterm="")][2:]
        added = sum(line.startswith("+") for line in diff)
        removed = sum(line.startswith("-") for line in diff)
        return Effected(f"+{added} -{removed}", _first(diff))

    def _lines(self) -> list[str] | None:
        """The lines of the file, none where there is none; None: what stands there is not compared."""
        try:
            place = self._files.resolve(self._path)
            if not place.exists():
                return []
            if place.stat().st_size > _COMPARED:
                return None
            return place.read_bytes().decode().splitlines()
        except (SwarmError, OSError, ValueError):
            return None


def _first(lines: list[str]) -> str:
    more = len(lines) - _LINES
    return _text(lines if more <= 0 else [*lines[:_LINES], f"[... {more} more lines ...]"])


def _newest(lines: list[str]) -> str:
    more = len(lines) - _LINES
    return _text(lines if more <= 0 else [f"[... {more} lines before ...]", *lines[-_LINES:]])


def _text(lines: list[str]) -> str:
    return "\n".join(line if len(line) <= _COLUMNS else f"{line[:_COLUMNS]}..." for line in lines)

"""Parses what a program hands to a hook: JSON on standard input, from outside and of any shape.

Claude Code, Codex and Gemini CLI send the same fields, and the plugin for OpenCode does so as well. Nothing here
imports more than a bare Python has: a hook runs after every edit.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from typing import Any, NamedTuple

from swarmgate.errors import UsageError

LARGEST = 16_000_000
"""Bytes that are read: a program hands over whole files, and what a command printed."""
_DEEPEST_PATH = 4096
_PATCH = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
_FILE_KEYS = ("file_path", "notebook_path", "filePath", "absolute_path")


class HookRequest(NamedTuple):
    """What a hook was told.

    Attributes:
        event: the program's own name of it (`PreToolUse`, `BeforeTool`, ...); empty where it says none.
        session: the program's id of the session; empty where it says none.
        cwd: the folder that the session works in, absolute.
        tool: the name of the tool; empty where none is used.
        arguments: what the tool is called with.
        again: whether a stop hook made this turn go on already; None where that is not said.
    """

    event: str = ""
    session: str = ""
    cwd: str = "/"
    tool: str = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012 - a default that nobody writes to
    again: bool | None = None

    @property
    def command(self) -> str | None:
        """The command line that the tool would run; None where it runs none.

        Raises:
            UsageError: there is one, and it is no text.
        """
        value = self.arguments.get("command")
        if value is None or self.patch:
            return None
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return value[-1] if value[1:2] in (["-c"], ["-lc"]) else shlex.join(value)
        if not isinstance(value, str):
            raise UsageError(f"the `command` of {self.tool or 'the tool'} is no text")
        return value

    @property
    def patch(self) -> str:
        """The patch that the tool would apply; empty where it applies none."""
        values = (self.arguments.get(key) for key in ("command", "input", "patchText", "patch"))
        return next(
            (each for each in values if isinstance(each, str) and each.lstrip().startswith("*** Begin Patch")), ""
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the tool writes, absolute, links as they are."""
        named = [each for key in _FILE_KEYS if isinstance(each := self.arguments.get(key), str)]
        named += _PATCH.findall(self.patch)
        real = (each for each in dict.fromkeys(named) if each and "\0" not in each and len(each) < _DEEPEST_PATH)
        return tuple(os.path.normpath(os.path.join(self.cwd, each)) for each in real)  # noqa: PTH118 - texts


def read() -> bytes:
    """What stands on standard input.

    Raises:
        UsageError: it is more than `LARGEST`.
    """
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(f"a hook was handed more than {LARGEST:,} bytes")
    return data


def parse(data: bytes) -> HookRequest:
    """The request in some bytes; fields of the wrong kind count as left out.

    Raises:
        UsageError: it is no JSON object.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError("a hook is handed one JSON object on standard input, and this was none")
    given = {key: value for key, value in found.items() if isinstance(value, str) and "\0" not in value}
    cwd = given.get("cwd", "")
    arguments, again = found.get("tool_input"), found.get("stop_hook_active")
    return HookRequest(
        event=given.get("hook_event_name", ""),
        session=given.get("session_id", ""),
        cwd=cwd if cwd.startswith("/") and len(cwd) < _DEEPEST_PATH and os.path.isdir(cwd) else os.getcwd(),  # noqa: PTH109, PTH112 - texts
        tool=given.get("tool_name", ""),
        arguments=arguments if isinstance(arguments, dict) else {},
        again=again if isinstance(again, bool) else None,
    )

"""Detects equivalent tool calls and equivalent results, which the breaker `repeats` counts."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections import OrderedDict
from collections.abc import Mapping

from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.model import ToolCall

_REMEMBERED = 2_000
"""Calls and results that are remembered in a turn; the oldest are forgotten first."""

_TELLING = 400
"""Characters of a result from which on it is no chance that calls with other words come to the same."""

_SHELL = re.compile(r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|(?<![^\s;&|()])\#[^\n]*|([ \t]*\n\s*)|([ \t]+)""", re.DOTALL)
"""Of a command: what is quoted, a comment, the end of a line, and other white space."""

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
"""An option without a value: `-q`, `--verbose`; `--select=E501` and `-es/a/b/` say more than that."""

_TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|secs?|seconds?)\b|\b\d+:\d\d(?::\d\d)?\b")
"""Durations: they differ between runs that come to the same."""


class RepeatCounter:
    """Counts how often a key repeats while a state stays the same; bounded."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, tuple[int, object]] = OrderedDict()

    def again(self, key: str, state: object) -> int:
        """It came up once more; the how-manieth time in this state."""
        times, before = self._times.pop(key, (0, None))
        times = times + 1 if times and state == before else 1
        self._times[key] = times, state
        while len(self._times) > _REMEMBERED:
            self._times.popitem(last=False)
        return times

    def hold(self, key: str, state: object) -> None:
        """It has come up once, in this state."""
        self._times[key] = 1, state


def canonical(call: ToolCall) -> str:
    """The call by its meaning, as a digest of fixed size.

    The order of keys, white space and null for what is left out do not count; nor do the spelling of a path, comments
    and white space of a command, and blank lines and white space at the end of lines of a file that is written.
    """
    value = _arguments(call)
    if value is None:
        return _digest(call.name, call.arguments)
    plain = {name: _plain(call.name, name, each) for name, each in value.items() if each is not None}
    return _digest(call.name, json.dumps(plain, sort_keys=True))


def place(call: ToolCall) -> tuple[str, int]:
    """The path that a `read_file` names, and the line that it starts at."""
    value = _arguments(call) or {}
    start = value.get("start_line")
    path = value.get("path")
    return _path(path) if isinstance(path, str) else "", start if isinstance(start, int) and start > 0 else 1


def outcome(result: str) -> str:
    """A result without what differs from run to run, as a digest."""
    return _digest(_timeless(result))


def words(call: ToolCall) -> str:
    """The words of a command without its options, as a digest.

    `pytest -q` and `pytest -v` have them in common; the tests of two files, which may well come to the same, have not.
    """
    command = _command(str((_arguments(call) or {}).get("command", "")))
    return _digest(*(word for word in command.split() if not _OPTION.fullmatch(word)))


def telling(result: str) -> bool:
    """Whether a result is so long that two calls with other words do not come to it by chance."""
    return len(_timeless(result)) >= _TELLING


def line_repeats(counts: dict[int, int], start: int, result: str) -> int:
    """Adds the lines that a `read_file` has shown to `counts`; how often at least half of them were shown by now."""
    numbers = range(start, start + max(len(result.splitlines()), 1))
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    return sorted(counts[number] for number in numbers)[len(numbers) // 2]


def _arguments(call: ToolCall) -> Mapping[str, object] | None:
    try:
        value = loaded(call.arguments.strip() or "{}", strict=False)
        value = loaded(value, strict=False) if isinstance(value, str) else value
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _plain(tool: str, name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    if name == "path":
        return _path(value)
    if (tool, name) == ("run_command", "command"):
        return _command(value)
    if (tool, name) == ("write_file", "content"):
        return "\n".join(line.rstrip() for line in value.splitlines() if line.strip())
    return value


def _path(path: str) -> str:
    return posixpath.normpath(path.strip()) if path.strip() else ""


def _command(command: str) -> str:
    """A command without comments, with single blanks. A here-document's text is data and stays as it is."""
    if "<<" in command:
        return command.strip()

    def replacement(match: re.Match[str]) -> str:
        return match[1] or ("\n" if match[2] else " " if match[3] else "")

    plain = _SHELL.sub(replacement, command)
    return "\n".join(line.strip(" ") for line in plain.split("\n") if line.strip())


def _timeless(result: str) -> str:
    return " ".join(_TIME.sub("T", result).split())


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()

"""The doctor's check of `[hooks]`: every event exists, and every command can be started."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.hooks.worker import unknown_hooks, why_not
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Config
from swarmgate.workspace.programs import trusted

NAME = "hooks"
_SHELL = frozenset((
    ".", ":", "[", "[[", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "echo", "elif",
    "else", "eval", "exec", "exit", "export", "false", "fg", "fi", "for", "function", "getopts", "hash", "if",
    "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "select", "set", "shift",
    "source", "test", "then", "time", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset",
    "until", "wait", "while", "{", "}", "!",
))  # fmt: skip
"""Words that the shell knows by itself (POSIX, and what bash adds)."""


def inspect(config: Config, places: Places, root: Path) -> tuple[Problem, ...]:
    """Hooks that never run, and hooks whose command cannot be started."""
    found = [
        Problem(NAME, f"`{event}`: {why_not(event)}", *places.of("hooks", event), "see: swarm docs hooks", "error")
        for event in unknown_hooks(config)
    ]
    for event, command in config.hooks.items():
        word = first_word(command)
        if word and word not in _SHELL and not _there(word, root):
            message = f"`{word}` is not found: the hook of {event} cannot run"
            found.append(Problem(NAME, message, *places.of("hooks", event), "install it, or write its whole path"))
    return tuple(found)


def first_word(command: str) -> str:
    """The program that a command line starts; empty where only the shell knows, such as `$EDITOR` or `(cd x; y)`."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""
    word = next((each for each in words if not re.match(r"[A-Za-z_]\w*=", each)), "")
    return word.rstrip(";") if re.fullmatch(r"[\w./~+@:%\[\]{}!-]+;?", word) else ""


def _there(word: str, root: Path) -> bool:
    if "/" in word:
        place = root / os.path.expanduser(word)  # noqa: PTH111 - Path.expanduser() raises where there is no home
        return os.access(place, os.X_OK)
    return trusted.located(word, root) is not None

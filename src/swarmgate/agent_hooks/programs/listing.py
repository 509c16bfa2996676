"""The table of programs: where each keeps its settings, and what its hooks are called there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_S = 300
"""Seconds after which a program ends the hook of a session's end; other hooks have `QUICK_S`."""
QUICK_S = 30
_OURS = re.compile(r"\bhook (?:session-start|pre-tool-use|post-tool-use|stop)\b")


class Hook(NamedTuple):
    """One hook of a program: its event there, the verb that answers it, and the tools that it is for (a regex)."""

    event: str
    verb: str
    tools: str = ""


class Program(NamedTuple):
    """A program.

    Attributes:
        title: as people call it.
        project: its settings in a repository, relative to the root.
        user: its settings in the user's home, relative to that; or to the folder that `home` names.
        home: the variable that moves the user's settings elsewhere; empty where there is none.
        hooks: its hooks; empty where it has a plugin instead.
        milliseconds: whether its time limits are in milliseconds.
        after: what the person has to do once the hooks are there.
    """

    title: str
    project: str
    user: str
    home: str
    hooks: tuple[Hook, ...]
    milliseconds: bool = False
    after: str = ""

    def place(self, root: Path | None) -> Path:
        """The file of its settings: in a repository, or the user's own."""
        if root is not None:
            return root / self.project
        moved = os.environ.get(self.home, "") if self.home else ""
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
        return Path(moved) / Path(*Path(self.user).parts[1:]) if moved else home / self.user

    def entries(self, swarm: str) -> list[tuple[str, dict[str, Any]]]:
        """What is written for each event. `swarm`: the command, quoted for a shell."""
        return [(each.event, self._entry(each, swarm)) for each in self.hooks]

    def _entry(self, hook: Hook, swarm: str) -> dict[str, Any]:
        limit = TIMEOUT_S if hook.verb == "stop" else QUICK_S
        command = {
            "type": "command",
            "command": f"{swarm} hook {hook.verb}",
            "timeout": limit * 1000 if self.milliseconds else limit,
        }
        return {**({"matcher": hook.tools} if hook.tools else {}), "hooks": [command]}


PROGRAMS = {
    "claude": Program(
        "Claude Code",
        ".claude/settings.json",
        ".claude/settings.json",
        "CLAUDE_CONFIG_DIR",
        (
            Hook("SessionStart", "session-start"),
            Hook("PreToolUse", "pre-tool-use", "Bash|Edit|MultiEdit|Write|NotebookEdit"),
            Hook("PostToolUse", "post-tool-use", "Edit|MultiEdit|Write|NotebookEdit"),
            Hook("Stop", "stop"),
        ),
    ),
    "codex": Program(
        "Codex",
        ".codex/hooks.json",
        ".codex/hooks.json",
        "CODEX_HOME",
        (
            Hook("SessionStart", "session-start"),
            Hook("PreToolUse", "pre-tool-use", "Bash|apply_patch"),
            Hook("PostToolUse", "post-tool-use", "apply_patch"),
            Hook("Stop", "stop"),
        ),
        after="Codex runs hooks only once you have looked at them: start codex, and trust them in /hooks.",
    ),
    "gemini": Program(
        "Gemini CLI",
        ".gemini/settings.json",
        ".gemini/settings.json",
        "",
        (
            Hook("SessionStart", "session-start"),
            Hook("BeforeTool", "pre-tool-use", "run_shell_command|write_file|replace"),
            Hook("AfterTool", "post-tool-use", "write_file|replace"),
            Hook("AfterAgent", "stop"),
        ),
        milliseconds=True,
        after="Gemini CLI runs a project's hooks only in a folder that you trust.",
    ),
    "opencode": Program(
        "OpenCode",
        ".opencode/plugins/swarmgate.js",
        ".config/opencode/plugins/swarmgate.js",
        "XDG_CONFIG_HOME",
        (),
        after="OpenCode loads it at its next start.",
    ),
}
"""The programs by the name that `swarm hook install` takes."""


def is_ours(entry: object) -> bool:
    """Whether an entry of a program's hooks is one that was installed: each of its commands answers a hook of ours."""
    match entry:
        case {"hooks": [_, *_] as hooks}:
            return all(isinstance(each, dict) and _OURS.search(str(each.get("command", ""))) for each in hooks)
        case _:
            return False


def holds_hooks(path: str) -> bool:
    """Whether a file is settings of one of the programs, with hooks of ours in it."""
    names = {"/" + place for each in PROGRAMS.values() for place in (each.project, each.user)}
    if not path.endswith((*names, "/.claude/settings.local.json", "/hooks.json", "/settings.json", "/swarmgate.js")):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a text
            return bool(_OURS.search(file.read(1_000_000)))
    except OSError:
        return False

"""Explains why a test command failed to start: a missing program, module, option or project file."""

from __future__ import annotations

import re

from swarmgate.workspace.test_runs.collection.record import Listing, Standing

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
"""Exit codes of POSIX shells (Shell Command Language 2.8.2)."""
_PROGRAM = re.compile(
    r"(?:^|: )(?:\d+: |line \d+: )?(?P<name>[^\s:]+): (?:(?:command )?not found|Permission denied)|"
    r"(?:make|env)(?:\[\d+\])?: [\u2018'\"]?(?P<other>[^\s:\u2019'\"]+)[\u2019'\"]?: No such file",
    re.MULTILINE,
)
_SPAWN = re.compile(r"Failed to spawn: `(?P<name>[^`]+)`|^Command not found: (?P<other>\S+)", re.MULTILINE)
"""What uv and poetry say of a program that their environment has not."""
_MODULE = re.compile(r"^(?P<python>\S+): No module named (?P<name>[\w.]+)$", re.MULTILINE)
_RUNNER = re.compile(r"(?:pytest|nose2?|tox|nox|coverage|green|ward)\b")
"""Modules that are installed; another one may be the project's own."""
_OPTION = re.compile(r"error: (?P<told>(?:unrecognized arguments|argument -\S+).*)$", re.MULTILINE)
_FILE = re.compile(
    r"No rule to make target .*|.*[Mm]issing script:? .*|.*can't open file .*|.*Start directory is not importable.*|"
    r"ERROR: file or directory not found: .*|.*ENOENT.*package\.json.*|.*Cannot find module '/.*|"
    r".*could not find `Cargo\.toml`.*|.*go\.mod file not found.*"
)
"""What programs say that miss a file of the project, which the work may bring."""


def without_start(listing: Listing, exit_code: int | None, output: str) -> Listing | None:
    """Explains why the command failed to start its tests; None where it started them."""
    if exit_code in (0, None):
        return None
    found = _PROGRAM.search(output)
    name = (found["name"] or found["other"]) if found else ""
    if exit_code in (_NOT_EXECUTABLE, _NOT_FOUND) or (found and re.search(r"\bError 12[67]\b", output)):
        name = name or _first_program(listing.command)
        own = "/" in name and not name.startswith(("/", "~")) and not _INSTALLED.search(name)
        what = "cannot be executed" if exit_code == _NOT_EXECUTABLE else "was not found"
        standing = Standing.LACKING if own else Standing.BROKEN
        return listing.model_copy(update={"standing": standing, "missing": name, "problem": f"`{name}` {what}"})
    if spawned := _SPAWN.search(output):
        name = spawned["name"] or spawned["other"]
        problem = f"`{name}` was not found in the environment of the project"
        return listing.model_copy(update={"standing": Standing.BROKEN, "missing": name, "problem": problem})
    if module := _MODULE.search(output):
        standing = Standing.BROKEN if _RUNNER.match(module["name"]) else Standing.LACKING
        problem = f"{module['name']} is not installed for {module['python']}"
        return listing.model_copy(update={"standing": standing, "missing": module["name"], "problem": problem})
    if option := _OPTION.search(output):
        return listing.model_copy(update={"standing": Standing.BROKEN, "problem": option["told"]})
    if lacking := _FILE.search(output):
        return listing.model_copy(update={"standing": Standing.LACKING, "problem": lacking[0].strip()})
    return None


_INSTALLED = re.compile(r"(?:^|/)(?:\.?venv|node_modules|vendor)/")


def _first_program(command: str) -> str:
    words = [word for word in command.split() if "=" not in word]
    return words[0] if words else command

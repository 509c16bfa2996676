"""Decides whether a command line may run, and if not, why and what to do instead. A pure function."""

from __future__ import annotations

import fnmatch
import posixpath
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy import file_rules, git_rules, system_rules
from swarmgate.workspace.command_policy.model import Unreadable
from swarmgate.workspace.command_policy.path_zones import Grounds
from swarmgate.workspace.command_policy.reader import Reader
from swarmgate.workspace.command_policy.verdict import Judgement, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import PurePath

    from swarmgate.workspace.command_policy.model import Simple

LONGEST = 100_000
"""Characters of a line that are read; a longer one belongs into a file."""
_RULES = (file_rules.reasons, git_rules.reasons, system_rules.reasons)


def judge(
    command: str,
    *,
    root: PurePath,
    scope: Sequence[str] = (),
    allow: Sequence[str] = (),
    writable: Sequence[PurePath] = (),
    home: PurePath | None = None,
    cwd: str = "",
    own_history: bool = False,
) -> Judgement:
    """Whether a command line may run.

    Args:
        command: as it would be given to `sh -c`, in `cwd`.
        root: the repository's top, absolute.
        scope: files and folders that the task declared, relative to the root: they may be deleted whole.
        allow: patterns of whole lines that run though rules speak against them; none lifts `guarded-write`.
        writable: further folders that commands may write.
        home: what `~` and `$HOME` stand for; a folder outside of everything by default.
        cwd: the folder that it starts in; the root by default.
        own_history: whether who runs it makes the repository's history, as a person's own agent does: git verbs that
            throw nothing away are allowed.
    """
    top = "/" + posixpath.normpath(str(root)).lstrip("/")
    grounds = Grounds(top, tuple(scope), tuple(str(path) for path in writable), own_history=own_history)
    try:
        if len(command) > LONGEST:
            raise Unreadable(f"it is longer than {LONGEST} characters")
        commands = Reader(top, str(home) if home else "/nonexistent/home", cwd).line(command)
    except Unreadable as problem:
        line = command.strip().split("\n")[0][:80]
        instead = "Write it so that a shell can read it; put long code into a file of the repository."
        return Judgement(allowed=False, reasons=(Reason("unreadable", line, str(problem), instead),))
    found = _once(reason for simple in commands for rule in _RULES for reason in rule(simple, grounds))
    pattern = next((each for each in allow if found and _fits(command, each)), "")
    if pattern:
        found = tuple(reason for reason in found if reason.rule == file_rules.GUARDED_WRITE)
    return Judgement(allowed=not found, reasons=found, commands=commands, allowed_by=pattern)


def _fits(command: str, pattern: str) -> bool:
    """Whether the whole line fits: `*` is anything, every other character itself."""
    return fnmatch.fnmatchcase(command.strip(), pattern.replace("[", "[[]").replace("?", "[?]"))


def _once(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reasons))


def rendered(commands: Sequence[Simple]) -> list[str]:
    """How a line was read: one command a line, below what starts it."""
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for simple in commands:
        same = 0
        while same < min(len(above), len(simple.via)) and above[same] == simple.via[same]:
            same += 1
        lines += ["  " * depth + f"{simple.via[depth]}:" for depth in range(same, len(simple.via))]
        lines.append("  " * len(simple.via) + str(simple))
        above = simple.via
    return lines

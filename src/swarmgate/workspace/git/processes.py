"""Lists running git commands, and whether they may hold a lock."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.workspace.process import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = re.compile(r"git(-[a-z-]+)?")
_POLL_S = frozenset({
    "blame", "cat-file", "check-attr", "check-ignore", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref",
    "grep", "help", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "reflog", "rev-list", "rev-parse",
    "shortlog", "show", "show-ref", "status", "version",
})  # fmt: skip
"""Commands that hold no lock, however long they are open in somebody's pager, or at work for somebody's editor."""
_COMMAND_CHARS = 80
_DAEMON = "daemon"
"""Part of the name of commands that stay: `fsmonitor--daemon`, `credential-cache--daemon`."""
_WITH_VALUE = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix"})


class Git(NamedTuple):
    """A running git command."""

    pid: int
    command: str


def holders(lock: Path, folders: Sequence[Path]) -> list[Git]:
    """Lists the processes that may hold a lock: those with it open, and git commands that write in these folders."""
    opened = [Git(pid, " ".join(line)[:_COMMAND_CHARS]) for pid, line in _processes() if _has_open(pid, lock)]
    return [*opened, *(git for git in _at_work() if _works_in(git.pid, folders))]


def _at_work() -> Iterator[Git]:
    """Every git command of this machine that may change something."""
    for pid, arguments in _processes():
        name = os.path.basename(arguments[0])  # noqa: PTH119 - hundreds of them
        if _NAME.fullmatch(name) and pid != os.getpid():
            verb = _verb(arguments)
            if verb not in _POLL_S and _DAEMON not in verb:
                yield Git(pid, " ".join(("git", *arguments[1:]))[:_COMMAND_CHARS])


def _verb(arguments: Sequence[str]) -> str:
    """The command of a command line of git: what follows its options."""
    rest = iter(arguments[1:])
    for each in rest:
        if each in _WITH_VALUE:
            next(rest, None)
        elif not each.startswith("-"):
            return each
    return ""


def _processes() -> Iterator[tuple[int, list[str]]]:
    """All processes with their command lines."""
    if table.is_visible():
        for pid in table.numbers():
            if line := table.read_file(pid, "cmdline"):
                yield pid, os.fsdecode(line).rstrip("\0").split("\0")
        return
    listed = subprocess.run(["/bin/ps", "-A", "-o", "pid=,command="], capture_output=True, check=False)
    for row in os.fsdecode(listed.stdout).splitlines():
        number, _, command = row.strip().partition(" ")
        if number.isdigit() and command.split():
            yield int(number), command.split()


def _has_open(pid: int, lock: Path) -> bool:
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - hundreds of them
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{descriptor}") == str(lock):  # noqa: PTH115 - hundreds of them
                    return True
    return False


def _works_in(pid: int, folders: Sequence[Path]) -> bool:
    """Whether its working folder lies in one of these; where the system does not tell, it does."""
    if not table.is_visible():
        return True
    try:
        place = Path(os.readlink(f"/proc/{pid}/cwd"))  # noqa: PTH115 - hundreds of them
    except OSError:  # gone, or somebody else's: what is ours was made by us
        return False
    return any(place.is_relative_to(folder) for folder in folders)

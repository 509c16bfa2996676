"""Ends orphaned processes of a run that died, where its supervisors could not.

All that a call starts is below its supervisor, which outlives a dead run by an instant (`supervision`): until they are
gone, this waits. What was started carries the name of its run in a variable as well, and is found by that where even
the supervisors were killed; what wiped its environment is found no more by then. Git and its hooks have no supervisor:
they are found by a variable of their own, as long as they stay in the session of their run. Linux only.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from typing import TYPE_CHECKING

from swarmgate.workspace import system
from swarmgate.workspace.process import identity, table
from swarmgate.workspace.process.supervision import connection

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "SWARMGATE_CALL"
"""Holds the names of the runs that a process was started below, the innermost last."""

GIT = "SWARMGATE_GIT"
"""The run that started a git command, and its session: a daemon that git or a hook starts makes one of its own."""

_NAMES = re.compile(identity.PATTERN.encode())
_OURS = b"SWARMGATE_"
_SUPERVISORS_S = 5.0
_GRACE_S = 1.0
_KILLING_S = 5.0
_POLL_S = 0.005


def mark() -> str:
    """The variable that marks the processes of this run."""
    return f"{identity.own()};"


def of_git() -> dict[str, str]:
    """The variables that name the run of a git command."""
    return {GIT: f"{identity.own()};{_session()}"}


def _session() -> int:
    """The number of this process's session; 0 on Windows, which has none."""
    return os.getsid(0) if hasattr(os, "getsid") else 0


def end(*, git: bool = False) -> tuple[int, ...]:
    """Ends the processes of dead runs of this user, and waits until they are gone.

    What belongs to a run that lives, to another kernel or namespace, or to nobody, is left alone, and so is what this
    process was started from.

    Args:
        git: git commands and their hooks as well: after a run that did not end by itself.

    Returns:
        Those that cannot be ended.
    """
    sought = (VARIABLE, GIT) if git else (VARIABLE,)
    if not _found(connection.VARIABLE, *sought):
        return ()
    _wait_for((connection.VARIABLE,), _SUPERVISORS_S)
    for pid, start in _found(connection.VARIABLE):  # somebody stopped them: what they should have done
        for each, began in (*table.descendants(pid), (pid, start)):
            table.send(each, began, system.KILL)
    for number, patience in ((signal.SIGTERM, _GRACE_S), (system.KILL, _KILLING_S)):
        for pid, start in _found(*sought):
            table.send(pid, start, number)
        _wait_for(sought, patience)
    return tuple(pid for pid, _ in _found(*sought))


def _wait_for(variables: Sequence[str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _found(*variables) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _found(*variables: str) -> list[tuple[int, int]]:
    """The processes of this user of which one of these says that they are a dead run's, and their starts."""
    found, spared = [], _line()
    for pid in table.numbers():
        with contextlib.suppress(OSError):
            if pid not in spared and system.owns(os.stat(f"/proc/{pid}")):  # noqa: PTH116 - hundreds in a row
                start, environ = identity.start(pid), _environment(pid)
                if start is not None and any(_is_dead_runs(pid, name, environ.get(name, b"")) for name in variables):
                    found.append((pid, start))
    return found


def _is_dead_runs(pid: int, variable: str, value: bytes) -> bool:
    """Whether the innermost of the runs that a process was started below is dead."""
    names = _NAMES.findall(value)
    if not names or not identity.has_ended(names[-1].decode()):
        return False
    return variable != GIT or value.rpartition(b";")[2] == b"%d" % os.getsid(pid)


def _line() -> set[int]:
    """This process, and those that it was started from."""
    found, pid = set[int](), os.getpid()
    while pid and pid not in found:
        found.add(pid)
        process = table.lookup(pid)
        pid = process.parent if process else 0
    return found


def _environment(pid: int) -> dict[str, bytes]:
    parts = table.read_file(pid, "environ").split(b"\0")
    pairs = (part.partition(b"=") for part in parts if part.startswith(_OURS))
    return {os.fsdecode(name): value for name, _, value in pairs}

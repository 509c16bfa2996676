"""Ends what a run that died left behind: for when its supervisors could not, or are still at it.

All that a call starts is below its supervisor, which outlives a dead run by an instant (`supervision`): until they are
gone, this waits. What was started carries the name of its run in a variable as well, and is found by that where even
the supervisors were killed; what wiped its environment is found no more by then. Linux only.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from typing import TYPE_CHECKING

from swarmgate.workspace import identity
from swarmgate.workspace.supervision import connection, processes

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "SWARMGATE_CALL"
"""Holds the names of the runs that a process was started below, the innermost last."""

_NAMES = re.compile(identity.PATTERN.encode())
_SUPERVISORS_S = 5.0
_GRACE_S = 1.0
_KILLING_S = 5.0
_POLL_S = 0.005


def mark() -> str:
    """What a program is told of the process that it runs for."""
    return f"{identity.own()};"


def end() -> tuple[int, ...]:
    """End the processes of dead runs of this user, and wait until they are gone.

    What belongs to a run that lives, to another kernel or namespace, or to nobody, is left alone, and so is what this
    process was started from.

    Returns:
        Those that cannot be ended.
    """
    _wait_for(connection.VARIABLE, _SUPERVISORS_S)
    for pid, start in _found(connection.VARIABLE):  # somebody stopped them: what they should have done
        for each, began in (*processes.descendants(pid), (pid, start)):
            processes.send(each, began, signal.SIGKILL)
    for number, patience in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _KILLING_S)):
        for pid, start in _found(VARIABLE):
            processes.send(pid, start, number)
        _wait_for(VARIABLE, patience)
    return tuple(pid for pid, _ in _found(VARIABLE))


def _wait_for(variable: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while next(_found(variable), None) is not None and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _found(variable: str) -> Iterator[tuple[int, int]]:
    """The processes of this user of which the variable says that they are a dead run's, and their starts."""
    mine, spared = os.getuid(), _line()
    for entry in os.scandir("/proc") if processes.is_visible() else ():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(entry.name) not in spared and entry.stat().st_uid == mine:
                pid = int(entry.name)
                start, names = identity.start(pid), _NAMES.findall(_value(pid, variable))
                if start is not None and names and identity.has_ended(names[-1].decode()):
                    yield pid, start


def _line() -> set[int]:
    """This process, and those that it was started from."""
    found, pid = set[int](), os.getpid()
    while pid and pid not in found:
        found.add(pid)
        process = processes.look(pid)
        pid = process.parent if process else 0
    return found


def _value(pid: int, variable: str) -> bytes:
    with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - hundreds in a row
        parts = file.read().split(b"\0")
    head = f"{variable}=".encode()
    return next((part for part in parts if part.startswith(head)), b"")

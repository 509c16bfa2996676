"""Ends processes that left the group of the call that started them (a daemon, `setsid`, a double fork). Linux only.

Every call puts a mark of its own into the environment of what it runs. This process becomes a child subreaper: whoever
loses its parent below it becomes its child, and a child that carries the mark was started by that call. A process that
also wipes its environment is found where Landlock confines it. On another system none is.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "SWARMGATE_CALL"
"""Holds the marks of all calls that a process was started below, the innermost last."""

_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
_WAIT_S = 1.0
_POLL_S = 0.005
_FILTERS = b"Seccomp_filters:"
_live: set[bytes] = set()
_numbers = itertools.count(1)


def mark() -> str:
    """A mark for one call, unlike that of any other on this machine; makes this process a subreaper at first use."""
    _adopts(os.getpid())
    made = f"{os.getpid()}-{next(_numbers)}-{time.monotonic_ns():x};"
    _live.add(made.encode())
    return made


def end(mark: str, *, but: int) -> None:
    """Kill whoever carries the mark and lost its parent, and what then loses its own.

    So ends who lost its parent and runs under a filter of system calls that this process has not, unless it carries
    the mark of another call: what Landlock confines cannot get rid of that, whatever it does to its environment.

    Args:
        mark: of the call.
        but: the call's first process, for which somebody else waits.
    """
    sought, own = mark.encode(), _filters("self")
    _live.discard(sought)

    def meant(pid: int) -> bool:
        carried = _environment(pid)
        return sought in carried or (_filters(pid) > own and not any(other in carried for other in _live))

    _end_those(lambda pid: pid != but and meant(pid))


def _end_those(meant: Callable[[int], bool]) -> None:
    if not _adopts(os.getpid()):
        return
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        found = [pid for pid in _children() if meant(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            _reap(pid, deadline)


def reap(group: int) -> None:
    """Let the kernel forget the dead of a call's group that became ours; only once its first process was waited for."""
    with contextlib.suppress(OSError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass


@functools.cache
def _adopts(_pid: int) -> bool:
    """Whether orphans become children of this process; asked anew in a fork."""
    if sys.platform != "linux":
        return False
    try:
        return int(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False


def _children() -> list[int]:
    # The kernel gives orphans to the first thread.
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123 - at every call's end
            return [int(pid) for pid in file.read().split()]
    except (OSError, ValueError):
        return []


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return b""


def _filters(pid: int | str) -> int:
    """How many system call filters a process runs under; 0 where that is not told (before Linux 5.9)."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - as above
        return int(next((line[len(_FILTERS) :] for line in file if line.startswith(_FILTERS)), b"0"))
    return 0


def _reap(pid: int, deadline: float) -> None:
    with contextlib.suppress(OSError):
        while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < deadline:
            time.sleep(_POLL_S)

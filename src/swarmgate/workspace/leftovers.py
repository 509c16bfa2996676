"""Ends processes that left the group of the call that started them (a daemon, `setsid`, a double fork). Linux only.

Every call puts a mark of its own into the environment of what it runs. This process becomes a child subreaper: whoever
loses its parent below it becomes its child, and a child that carries the mark was started by that call. A process that
also wipes its environment is not found, nor is any on another system.
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

VARIABLE = "SWARMGATE_CALL"
"""Holds the marks of all calls that a process was started below, the innermost last."""

_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
_WAIT_S = 1.0
_POLL_S = 0.005
_numbers = itertools.count(1)


def mark() -> str:
    """A mark for one call, unlike that of any other on this machine; makes this process a subreaper at first use."""
    _adopts(os.getpid())
    return f"{os.getpid()}-{next(_numbers)}-{time.monotonic_ns():x};"


def end(mark: str, *, but: int) -> None:
    """Kill whoever carries the mark and lost its parent, and what then loses its own.

    Args:
        mark: of the call.
        but: the call's first process, for which somebody else waits.
    """
    if not _adopts(os.getpid()):
        return
    deadline = time.monotonic() + _WAIT_S
    sought = mark.encode()
    while time.monotonic() < deadline:
        found = [pid for pid in _children() if pid != but and sought in _environment(pid)]
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


def _reap(pid: int, deadline: float) -> None:
    with contextlib.suppress(OSError):
        while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < deadline:
            time.sleep(_POLL_S)

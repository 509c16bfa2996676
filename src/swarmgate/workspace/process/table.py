"""Lists the processes of this machine from /proc, and signals exactly the intended one.

Standard library only, like all that `server` imports. Numbers are those of the kernel's headers (prctl.h).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """One process: its parent, its group, when it began (clock ticks since the boot), whether it is a zombie."""

    parent: int
    group: int
    start: int
    dead: bool


def adopt_orphans() -> None:
    """Makes this process a child subreaper (prctl(2)), which inherits orphaned descendants. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def is_visible() -> bool:
    """Whether the system has a /proc: Linux."""
    return os.path.exists("/proc/self/stat")  # noqa: PTH110 - quick


def numbers() -> list[int]:
    """The numbers of all processes; none where the system does not list them."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if is_visible() else []  # noqa: PTH208 - quick


def read_file(pid: int, name: str) -> bytes:
    """Reads a file of a process in /proc; empty where the process is gone, or not ours to read."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123 - hundreds in a row
            return file.read()
    except OSError:
        return b""


def lookup(pid: int) -> Process | None:
    """Finds a process by its number; None where there is none."""
    fields = read_file(pid, "stat").rpartition(b")")[2].split()
    try:
        return Process(int(fields[1]), int(fields[2]), int(fields[19]), fields[0] in {b"Z", b"X"})
    except (ValueError, IndexError):
        return None


def descendants(top: int) -> list[tuple[int, int]]:
    """All processes below one that have not ended, with their starts, which tell them from later ones.

    Parents stand before their children: a shell whose `sleep` is killed first goes on to its next command.
    """
    children: dict[int, list[int]] = {}
    found = dict(_all())
    for pid, process in found.items():
        children.setdefault(process.parent, []).append(pid)
    below = [top]
    for pid in below:
        below += children.pop(pid, ())
    return [(pid, found[pid].start) for pid in below[1:] if not found[pid].dead]


def processor_s(top: int) -> float | None:
    """Seconds of the processors that everything below a process has used, also what has ended; None if unknown."""
    if not is_visible():
        return None
    ticks = 0
    for pid in (top, *(pid for pid, _ in descendants(top))):
        fields = read_file(pid, "stat").rpartition(b")")[2].split()
        # Its own user and system time, and those of its children that were waited for (proc(5)).
        ticks += sum(map(int, fields[13:15] if pid == top else fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def starves(top: int) -> bool:
    """Whether a process below this one is runnable, or waits for the disk that memory is on."""
    pids = [pid for pid, _ in descendants(top)] if is_visible() else []
    return any(state in {b"R", b"D"} for pid in pids for state in _states(pid).values())


def starves_itself() -> bool:
    """Whether another thread of this process is runnable."""
    states = _states(os.getpid()) if is_visible() else {}
    return any(state == b"R" for thread, state in states.items() if thread != threading.get_native_id())


def _states(pid: int) -> dict[int, bytes]:
    """Each thread of a process with the letter that proc(5) has for what it does."""
    try:
        threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - quick
    except OSError:
        return {}
    stats = ((thread, read_file(pid, f"task/{thread}/stat").rpartition(b")")[2].split()) for thread in threads)
    return {thread: fields[0] for thread, fields in stats if fields}


def children() -> list[int]:
    """The children of this process, zombies too."""
    return [pid for pid, process in _all() if process.parent == os.getpid()]


def group_lives(group: int) -> bool:
    """Whether a process of the group still runs. Zombies do not count: where nobody reaps them, they stay for ever."""
    if not is_visible():
        return signal_group(group, 0)
    return any(process.group == group and not process.dead for _, process in _all())


def signal_group(group: int, number: int) -> bool:
    """Signals a process group; returns whether it existed. macOS answers EPERM for a group of zombies."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def send(pid: int, start: int, number: int) -> None:
    """Signals the process that began at that time, and no other: process numbers are reused."""
    with contextlib.suppress(OSError):
        if not hasattr(os, "pidfd_open"):
            os.kill(pid, number)
            return
        handle = os.pidfd_open(pid)
        try:
            found = lookup(pid)
            if found and found.start == start:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _all() -> Iterator[tuple[int, Process]]:
    for pid in numbers():
        if found := lookup(pid):
            yield pid, found

"""Names a process uniquely: by its number, its start time, and the kernel that counts them.

A process number alone is given away again. The name stands in file names and in variables, where a later process of
swarmgate reads whose they are, and whether that one has ended.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace import system
from swarmgate.workspace.process import table

if TYPE_CHECKING:
    from collections.abc import Callable

PATTERN = r"\d{1,10}-\d{1,20}-[0-9a-f]{8}"
"""The pattern of a name, as a regular expression without groups."""

_NAME = re.compile(r"(\d{1,10})-(\d{1,20})-([0-9a-f]{8})")


def own() -> str:
    """The name of this process."""
    return _name(os.getpid())  # asked anew in a fork


def is_foreign(name: str) -> bool:
    """Whether another kernel, boot or process namespace counts that process, so that nothing is known of it here."""
    match = _NAME.fullmatch(name)
    return match is None or match[3] != _world()


def has_ended(name: str) -> bool:
    """Whether that process is gone for certain; False for one of which nothing is known here."""
    match = _NAME.fullmatch(name)
    if match is None or match[3] != _world():
        return False
    pid, started = int(match[1]), int(match[2])
    if not table.is_visible():
        return not system.process_lives(pid)
    found = start(pid)
    return found is None or found != started


def start(pid: int) -> int | None:
    """The start time of a process in clock ticks since the boot; None where there is none, or it is a zombie."""
    found = table.lookup(pid)
    # Of a program whose first thread is gone, others may go on.
    if found is None or (found.dead and _threads(pid) <= 1):
        return None
    return found.start


@functools.cache
def _name(pid: int) -> str:
    return f"{pid}-{start(pid) or 0}-{_world()}"


@functools.cache
def _world() -> str:
    """Which boot of which kernel, and which namespace of it, gives out the numbers of processes."""
    parts = (
        _read(Path("/proc/sys/kernel/random/boot_id").read_text),
        _read(lambda: os.readlink("/proc/self/ns/pid")),  # noqa: PTH115 - no file to open
        system.host() if not table.is_visible() else "",
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - no path to keep
    except OSError:
        return 0


def _read(what: Callable[[], str]) -> str:
    try:
        return what()
    except OSError:
        return ""

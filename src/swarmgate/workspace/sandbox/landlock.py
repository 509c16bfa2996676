"""Confines by Landlock and seccomp, where bubblewrap is not to be had: no mounts of its own, so less is possible."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.sandbox.confinement import GUARDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.sandbox.confinement import Confinement

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys", "/dev",
           "/nix", "/snap", "/var/lib", "/var/cache")  # fmt: skip
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "shm"))

_OLDEST = 1
"""Landlock's first version, Linux 5.13."""


class Landlock:
    """The kernel's own confinement of a process, set up by `launcher.py`."""

    name = "landlock"
    weaknesses = (
        "new files at the top of the repository cannot be made by commands (write_file can)",
        "no sockets at all, not even to 127.0.0.1",
        "other processes of the user can be seen",
    )

    def argv(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """The launcher, what it is to allow, and the command."""
        bound = confinement
        # What is allowed holds for everything below it, so that .git is spared only by naming its neighbours.
        # A link among them is left out: allowed would be what it leads to.
        entries = (entry for entry in os.scandir(bound.root) if entry.name not in GUARDED and not entry.is_symlink())
        beside = sorted(entry.path for entry in entries)
        spec = {
            "read": [*_SYSTEM, *map(str, bound.shown()), str(bound.root)],
            "write": [*beside, *(str(path.resolve()) for path in bound.writable), *_DEVICES],
            "network": bound.network,
            "memory_bytes": bound.limits.memory_bytes,
            "processes": _running() + bound.limits.processes,
        }
        launcher = str(Path(__file__).with_name("launcher.py"))
        return [sys.executable, "-I", "-S", launcher, json.dumps(spec), *command]


def available() -> Landlock | str:
    """Landlock, or why there is none."""
    if not sys.platform.startswith("linux"):
        return "Landlock is a part of Linux"
    from swarmgate.workspace.sandbox import launcher  # noqa: PLC0415 - late: it opens the C library

    return Landlock() if launcher.abi() >= _OLDEST else "this kernel has no Landlock, or it is switched off"


def _running() -> int:
    """Processes of this user now: the kernel's limit counts them all."""
    mine, found = os.getuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                found += entry.stat().st_uid == mine
            except OSError:
                continue
    return found

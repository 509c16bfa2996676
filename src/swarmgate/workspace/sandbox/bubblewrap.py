"""Confines by bubblewrap: namespaces of its own for processes, network and mounts; the strongest kind, on Linux."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.sandbox.confinement import Confinement

_HIDDEN = ("/tmp", "/var/tmp", "/run", "/home", "/root", "/mnt", "/media")  # noqa: S108 - they are hidden, not used
"""Replaced by empty folders: other users' files, and the sockets of daemons such as docker's."""

_BOUNDED = 'ulimit -d "$1"; ulimit -u "$2" 2>/dev/null || ulimit -p "$2"; shift 2; exec "$@"'
"""Sets the limits in the new namespaces, where the count of processes is the sandbox's own."""


class Bubblewrap:
    """`bwrap`, found by `available`."""

    name = "bubblewrap"
    weaknesses: tuple[str, ...] = ()

    def __init__(self, program: str) -> None:
        self._program = program

    def argv(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """`bwrap` and its options before the command."""
        bound = confinement
        argv = [self._program, "--die-with-parent", "--cap-drop", "ALL", "--unshare-user", "--unshare-pid",
                "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
                "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]  # fmt: skip
        argv += [] if bound.network else ["--unshare-net"]
        hidden = dict.fromkeys([*_HIDDEN, str(bound.home)])
        argv += [part for place in hidden if Path(place).is_dir() for part in ("--tmpfs", place)]
        for place in bound.shown():
            if any(place.is_relative_to(each) for each in hidden):
                argv += ["--ro-bind", str(place), str(place)]
        for place in (bound.root, *bound.writable):
            argv += ["--bind", str(place), str(place)]
        for place in bound.guarded():
            argv += ["--ro-bind", str(place), str(place)]
        limits = (str(bound.limits.memory_bytes // 1024), str(bound.limits.processes))
        return [*argv, "--chdir", str(bound.root), "--", "/bin/sh", "-c", _BOUNDED, "sh", *limits, *command]


def available() -> Bubblewrap | str:
    """A working bubblewrap, or why there is none."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    probe = [program, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "--", "/bin/true"]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=10, check=False, text=True, env=os.environ)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start: {error}"
    return Bubblewrap(program) if done.returncode == 0 else f"bubblewrap is refused here: {done.stderr.strip()}"

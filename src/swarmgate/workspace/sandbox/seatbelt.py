"""The sandbox by `sandbox-exec` on macOS: a profile that allows reading the system and writing the repository."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.sandbox.confinement import Confinement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.process.process import Completed

_PROGRAM = "/usr/bin/sandbox-exec"
"""Not looked for on PATH, where agents may have put one."""
_BOUNDED = 'ulimit -f "$1"; ulimit -u "$2" 2>/dev/null; shift 2; exec "$@"'
_HIDDEN = ("/Users", "/Volumes", "/private/tmp", "/private/var/folders")
"""Other homes, disks, and the temporary files of other programs."""
_HELPERS = ("appleevent-send", "job-creation", "lsopen")
"""Ways of having a program outside do the work: Apple events, launchd, `open`."""


class Seatbelt:
    """`sandbox-exec`, a part of macOS."""

    name = "sandbox-exec"
    relocates = False
    private_home = False
    weaknesses = (
        "commands can see other processes of yours",
        "memory is not limited",
    )
    hindrances = ("commands cannot reach 127.0.0.1 either",)

    def argv(self, command: Sequence[str], confinement: Confinement, own: Path) -> list[str]:
        """`sandbox-exec` and its profile before the command."""
        limits = (str(confinement.limits.file_bytes // 512), str(confinement.limits.processes))
        rules = f"{profile(confinement)}\n(allow file-read* file-write* {_below(own)})"
        return [_PROGRAM, "-p", rules, "/bin/sh", "-c", _BOUNDED, "sh", *limits, *command]

    def refused(self, done: Completed) -> str:
        """The output of `sandbox-exec` about itself."""
        return done.stderr.strip() if done.exit_code and done.stderr.startswith("sandbox-exec: ") else ""


@lru_cache(8)
def profile(bound: Confinement) -> str:
    """The rules, in Apple's sandbox profile language; a later rule outweighs an earlier one."""
    hidden = (*_HIDDEN, str(bound.home))
    rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
    rules += [f"(deny file-read-data {_below(place)})" for place in hidden]
    rules += [f"(deny {operation})" for operation in _HELPERS]
    visible = (*bound.readable, *bound.guarded, bound.root, *bound.writable)
    rules += [f"(allow file-read* {_below(path)})" for path in visible]
    rules += [f"(allow file-write* {_below(path)})" for path in (bound.root, *bound.writable)]
    rules += ['(allow file-write* (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/fd/"))']
    rules += [f"({'allow' if written else 'deny'} file-write* {_below(path)})" for path, written in bound.exceptions()]
    rules += [f'(deny file-write-unlink (literal "{_quoted(path)}"))' for path in bound.above_guarded()]
    rules += [f"(deny file-read* file-write* {_below(path)})" for path in bound.hidden]
    rules += [] if bound.network else ["(deny network*)"]
    return "\n".join(rules)


def available() -> Seatbelt | str:
    """`sandbox-exec`, or why there is none."""
    if sys.platform != "darwin":
        return "sandbox-exec is a part of macOS"
    if not Path(_PROGRAM).is_file():
        return "sandbox-exec is not there"
    bounds = Confinement(root=Path("/private/var/empty"), home=Path("/nonexistent"))
    probe = [_PROGRAM, "-p", profile(bounds), "/usr/bin/true"]
    done = subprocess.run(probe, capture_output=True, timeout=10, check=False, text=True)
    return Seatbelt() if done.returncode == 0 else f"sandbox-exec is refused here: {done.stderr.strip()}"


def _below(path: Path | str) -> str:
    return f'(subpath "{_quoted(path)}")'


def _quoted(path: Path | str) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')

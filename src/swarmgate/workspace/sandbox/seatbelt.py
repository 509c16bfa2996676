"""Confines by macOS' `sandbox-exec`: a profile that allows reading the system, and writing the repository."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from swarmgate.workspace.sandbox.confinement import Confinement

_BOUNDED = 'ulimit -u "$1" 2>/dev/null; shift; exec "$@"'


class Seatbelt:
    """`sandbox-exec`, a part of macOS."""

    name = "sandbox-exec"
    weaknesses = ("other processes of the user can be seen", "memory is not limited")

    def argv(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """`sandbox-exec` and its profile before the command."""
        limit = str(confinement.limits.processes)
        return ["sandbox-exec", "-p", profile(confinement), "/bin/sh", "-c", _BOUNDED, "sh", limit, *command]


def profile(bound: Confinement) -> str:
    """The rules, in Apple's sandbox profile language; a later rule outweighs an earlier one."""
    rules = ["(version 1)", "(allow default)", "(deny file-write*)", f"(deny file-read* {_below(bound.home)})"]
    rules += [f"(allow file-read* {_below(path)})" for path in (*bound.shown(), bound.root)]
    rules += [f"(allow file-write* {_below(path)})" for path in (bound.root, *bound.writable)]
    rules += ['(allow file-write* (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/fd/"))']
    rules += [f"(deny file-write* {_below(path)})" for path in bound.guarded()]
    rules += [] if bound.network else ["(deny network*)"]
    return "\n".join(rules)


def available() -> Seatbelt | str:
    """`sandbox-exec`, or why there is none."""
    if sys.platform != "darwin":
        return "sandbox-exec is a part of macOS"
    return Seatbelt() if shutil.which("sandbox-exec") else "sandbox-exec is not there"


def _below(path: Path) -> str:
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{quoted}")'

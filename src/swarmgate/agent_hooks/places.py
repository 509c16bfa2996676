"""Where a session's repository begins, and where what is remembered of it lies: outside of every work tree.

It imports nothing that a bare Python has not: the hook after an edit asks where to find the warm process.
"""

from __future__ import annotations

import hashlib
import os

from swarmgate import __version__

_STEERING = ("SWARM_", "GIT_", "XDG_", "HOME", "PATH", "LANG", "TZ")
"""Variables by which gates may say something else."""


def top_of(folder: str) -> str:
    """The nearest folder upwards with a `.git` or `.swarm` in it; empty where there is none."""
    here = os.path.realpath(folder)
    while True:
        if any(os.path.lexists(f"{here}/{mark}") for mark in (".swarm", ".git")):
            return here
        above = os.path.dirname(here)  # noqa: PTH120 - texts: pathlib is a tenth of the start
        if above == here:
            return ""
        here = above


def state_folder() -> str:
    """The folder for sessions and sockets, in the user's own; sandboxes of agents do not open it."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111 - a text
    return f"{base}/swarmgate/agent-hooks"


def make_state_folder(below: str = "") -> None:
    """Makes the folder, or one in it, so that only its user can enter.

    Raises:
        OSError: the disk refuses.
    """
    os.makedirs(f"{state_folder()}/{below}", exist_ok=True)  # noqa: PTH103 - texts
    os.chmod(state_folder(), 0o700)  # noqa: PTH101 - a text; folders that are made on the way have the umask's mode


def key(*parts: str) -> str:
    """A short name for some texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def socket_of(root: str) -> str:
    """The socket of the warm process for a repository: another one for every installation and set of variables."""
    steering = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_STEERING))
    return f"{state_folder()}/{key(root, __version__, __file__, *steering)}.sock"

"""Creates folders below `.swarm/`, but never `.swarm/` itself, so that a deleted one stays deleted."""

from __future__ import annotations

import errno
import os
from pathlib import Path

OWN = ".swarm"
"""The name of swarmgate's folder in a repository."""


def make(folder: Path) -> None:
    """Makes a folder and those above it, but for the outermost `.swarm/` on the way, which has to be there.

    Raises:
        FileNotFoundError: it is not.
        OSError: the disk refused.
    """
    if folder.is_dir():
        return
    if folder.name == OWN and OWN not in folder.parent.parts:  # one further down is a copy of some project's
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    make(folder.parent)
    folder.mkdir(exist_ok=True)

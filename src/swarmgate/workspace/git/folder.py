"""Finds the git folder of a work tree without starting a process."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

from swarmgate.workspace.files import regular

_LINK = b"gitdir: "
_LONGEST = 8_192
"""Bytes of a `.git` file: one line with a path."""


def git_folder(start: Path) -> Path | None:
    """The git folder of the work tree that a folder lies in; of a linked work tree its own one. None: there is none."""
    for folder in (start, *start.parents):
        entry = folder / ".git"
        if (entry / "HEAD").is_file():
            return entry
        if entry.is_file():
            return _linked(entry)
    return None


def _linked(entry: Path) -> Path | None:
    """The folder that a `.git` file names."""
    try:
        line = regular.read(entry, limit=_LONGEST)
    except OSError:
        return None
    named = entry.parent / os.fsdecode(line.removeprefix(_LINK).rstrip(b"\n"))
    return named if line.startswith(_LINK) and (named / "HEAD").is_file() else None


def is_linked(folder: Path) -> bool:
    """Whether a git folder is that of a linked work tree: its refs lie in another one, which several share."""
    return (folder / "commondir").is_file()


def place(folder: Path) -> str:
    """What tells a git folder on this machine apart from a clone, a copy, and one made anew in the same place.

    Empty where it cannot be read.
    """
    try:
        inode = folder.stat().st_ino
    except OSError:
        return ""
    identity = f"{socket.gethostname()}\0{os.path.realpath(folder)}\0{inode}"
    return hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest()[:16]

"""Finds the git folder of a work tree without starting a process."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

from swarmgate.workspace.files import regular

_LINK = b"gitdir: "
_NO_PROJECT = frozenset({"gates", "runtime", "traces"})
"""What alone makes no project: `swarm gates` works without one and keeps the gates and accepted findings in `gates/`;
the others are left where a project was taken away while a process was at work."""
_LONGEST = 8_192
"""Bytes of a `.git` file: one line with a path."""


def top_of(start: Path) -> Path | None:
    """The top level of the work tree that a folder lies in: the nearest one with a git folder, or what names one."""
    marks = (".git/HEAD", ".git")
    return next((each for each in (start, *start.parents) if any((each / mark).is_file() for mark in marks)), None)


def is_project(folder: Path) -> bool:
    """Whether a `.swarm/` lies in a folder that makes it a project."""
    place = folder / ".swarm"
    if not place.is_dir():
        return False
    names = {each.name for each in place.iterdir()}
    return not names or bool(names - _NO_PROJECT)


def project_of(start: Path, top: Path) -> Path | None:
    """The nearest folder with a project that a folder lies in, within the work tree; None: there is none."""
    within = (each for each in (start, *start.parents) if each.is_relative_to(top))
    return next((each for each in within if is_project(each)), None)


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

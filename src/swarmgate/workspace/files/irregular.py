"""Finds pipes, sockets and devices that a command created in the work tree, which git cannot add.

A pipe that is named `.gitattributes` makes every git command wait; one in the place of a tracked file makes `git add`
fail, and so does a file that its owner may not read.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from swarmgate.errors import WorkspaceError
from swarmgate.workspace import system
from swarmgate.workspace.files.folders import make

_EXCLUDED = frozenset({".git", ".swarm"})


def put_away(root: Path, quarantine: Path, *, since: float) -> tuple[str, ...]:
    """Moves irregular files below `quarantine`, and makes readable what its owner may not read.

    What was there before stays: a server of the user's may listen on it.

    Args:
        root: of the work tree.
        quarantine: a folder that is made where it is needed.
        since: seconds since 1970; what was made or changed before is left alone.

    Returns:
        The paths of what was moved or made readable, repository-relative, sorted.

    Raises:
        WorkspaceError: something cannot be moved.
    """
    found = []
    for place in _irregular(root, since):
        path = place.relative_to(root).as_posix()
        target = quarantine / path
        try:
            make(target.parent)
            shutil.move(place, target)
        except OSError:  # a device, or another file system: it holds nothing that could be lost
            try:
                place.unlink()
            except OSError as error:
                raise WorkspaceError(f"`{path}` cannot be moved to {quarantine}: {error}") from error
        found.append(path)
    return tuple(sorted(found + [place.relative_to(root).as_posix() for place in _opened(root, since)]))


def _irregular(root: Path, since: float) -> list[Path]:
    return [
        Path(entry.path)
        for entry in _entries(root)
        if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False) or entry.is_symlink())
        and entry.stat(follow_symlinks=False).st_ctime >= since
    ]


def _opened(root: Path, since: float) -> Iterator[Path]:
    """Files and folders of our own that nobody may read, made readable again."""
    if system.is_root():  # root reads everything
        return
    for entry in _entries(root):
        if entry.is_symlink() or os.access(entry.path, os.R_OK):
            continue
        state = entry.stat(follow_symlinks=False)
        if system.owns(state) and state.st_ctime >= since:
            more = stat.S_IRWXU if stat.S_ISDIR(state.st_mode) else stat.S_IRUSR | stat.S_IWUSR
            os.chmod(entry.path, stat.S_IMODE(state.st_mode) | more)  # noqa: PTH101 - an entry's path is a string
            yield Path(entry.path)


def _entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below, a folder before what is in it; what vanishes meanwhile or cannot be listed is passed over."""
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as listed:
                entries = list(listed)
        except OSError:
            continue
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False) and entry.name not in _EXCLUDED:
                folders.append(entry.path)

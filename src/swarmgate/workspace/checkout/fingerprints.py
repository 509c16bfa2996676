"""Fingerprints the files of a folder by number, size and times, to detect later changes.

Nobody but the kernel sets the time of an inode's last change (stat(2), st_ctime), so that neither a program that puts
the old size and time of modification back, nor one that moves another file into the place, goes unnoticed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

State = tuple[int, int, int, int]
"""Inode, size in bytes, and the times of modification and of the inode's last change in nanoseconds."""


def state_of(found: os.stat_result) -> State:
    """The state of one file, as `os.lstat` tells it."""
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def states(folder: Path) -> dict[str, State]:
    """The state of each file and link below a folder, by its path from there; links are not followed.

    A folder itself has none: programs make and remove temporary files in it. What cannot be read is not there.
    """
    return dict(_below(str(folder), ""))


def differing(before: Mapping[str, State], now: Mapping[str, State]) -> frozenset[str]:
    """The paths that were changed, added or removed in between."""
    return frozenset(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def _below(folder: str, prefix: str) -> Iterator[tuple[str, State]]:
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path, f"{prefix}{entry.name}/")
            else:
                yield f"{prefix}{entry.name}", state_of(entry.stat(follow_symlinks=False))
        except OSError:
            continue

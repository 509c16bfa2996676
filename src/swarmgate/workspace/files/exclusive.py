"""Locks of files between processes, on every system: who holds one is alone, and a process that dies gives it back.

POSIX has flock(2), which also takes folders; Windows has locks of bytes of a file, and a folder is locked there by a
file in it. Everybody who locks does it here: nothing else imports what only one of the systems has.
"""

# ruff: noqa: PLC0415 - late: each system has only one of the two modules

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace import system

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER_LOCK = ".swarm-lock"
"""The file that stands for its folder where folders cannot be opened."""
_FAR = 1 << 30
"""The byte that is locked on Windows: nobody reads or writes there, and locked bytes cannot be read by others."""
_POLL_S = 0.05


def take(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Locks an open file until it is closed.

    Args:
        descriptor: of the file; on POSIX it may be a folder's.
        shared: others may hold it shared as well. Windows has no such locks: there this one is held alone.
        wait: until it is free; else it is free, or an error.

    Raises:
        BlockingIOError: somebody else holds it, and `wait` is not set.
        OSError: the file system has no locks.
    """
    if sys.platform == "win32":
        _take_byte(descriptor, wait=wait)
        return
    import fcntl

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(descriptor, how if wait else how | fcntl.LOCK_NB)


def take_within(descriptor: int, seconds: float) -> None:
    """Locks an open file until it is closed, unless somebody else holds it for so long.

    Raises:
        BlockingIOError: they do: their process may stand still.
        OSError: the file system has no locks.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            take(descriptor, wait=False)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(_POLL_S)
        else:
            return


def _take_byte(descriptor: int, *, wait: bool) -> None:
    """Locks one byte of a file, as Windows does: where that is held, it is asked again."""
    if sys.platform != "win32":
        raise OSError(errno.ENOTSUP, "locks of bytes are for Windows")
    import msvcrt

    while True:
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if not wait:
                raise BlockingIOError(errno.EAGAIN, "the file is locked") from error
            time.sleep(_POLL_S)
        else:
            return
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)


@contextlib.contextmanager
def folder(path: Path) -> Iterator[None]:
    """Waits until no other process is in this block for that folder.

    Raises:
        OSError: there is no such folder, or it cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT if system.IS_WINDOWS else os.O_RDONLY
    held = os.open(path / _FOLDER_LOCK if system.IS_WINDOWS else path, flags | system.CLOEXEC)
    try:
        take(held)
        yield
    finally:
        os.close(held)

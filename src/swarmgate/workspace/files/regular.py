"""Reads regular files only, so that no pipe or device blocks the reader.

What the user names on the command line may be a pipe as well (`--from <(command)`, `/dev/stdin`): `given` reads that,
bounded in size and in waiting.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from typing import TYPE_CHECKING

from swarmgate.workspace import system

if TYPE_CHECKING:
    from pathlib import Path

GIVEN_BYTES = 10_000_000
"""A longer file that the user names is refused: no model reads it."""

_PATIENCE_S = 30.0
"""Seconds that a pipe may stay silent."""

_CHUNK = 65_536

LIMIT_BYTES = 64_000_000
"""A longer file is refused unless the caller says otherwise: nobody writes such settings."""


def read(place: Path | str, *, limit: int = LIMIT_BYTES, follow: bool = True) -> bytes:
    """The content of a regular file; unless `follow` is False, also behind a symbolic link.

    Raises:
        OSError: it is not there, cannot be read, is a pipe, device, socket or folder, or is longer than `limit`.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer. It changes nothing for a regular file.
    handle = os.open(place, os.O_RDONLY | system.NONBLOCK | system.CLOEXEC | (0 if follow else system.NOFOLLOW))
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(place))
        if state.st_size > limit:
            raise OSError(errno.EFBIG, f"longer than {limit:,} bytes", str(place))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(limit + 1)[:limit]
    finally:
        os.close(handle)


def text(place: Path | str, *, errors: str = "strict") -> str:
    """The same as UTF-8 text, with ends of lines as `open` gives them.

    Raises:
        OSError: see `read`.
        UnicodeDecodeError: it is no UTF-8, and `errors` is "strict".
    """
    return read(place).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def given(place: Path | str, *, limit: int = GIVEN_BYTES, patience_s: float = _PATIENCE_S) -> bytes:
    """The content of a file that the user named: a regular one, a pipe or a terminal; never more than the limit.

    Raises:
        OSError: it is not there, cannot be read, is a folder or a socket, is longer than `limit`, or a pipe into which
            nobody wrote for `patience_s` seconds.
    """
    handle = os.open(place, os.O_RDONLY | system.NONBLOCK | system.CLOEXEC)
    try:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder, not a regular file", str(place))
        found, wait = bytearray(), None if os.isatty(handle) else patience_s
        while len(found) <= limit:
            if not select.select([handle], [], [], wait)[0]:
                raise TimeoutError(errno.ETIMEDOUT, f"nobody wrote into it for {patience_s:g} s", str(place))
            try:
                data = os.read(handle, _CHUNK)
            except BlockingIOError:
                continue
            if not data:
                return bytes(found)
            found += data
        raise OSError(errno.EFBIG, f"longer than {limit:,} bytes", str(place))
    finally:
        os.close(handle)

"""Replace a file in one step: a reader sees the old bytes or the new ones, also after a crash."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NEW_FILE_MODE = 0o666


def replace(path: Path, data: bytes | str, *, durable: bool = True) -> None:
    """Write `data` (text as UTF-8, line ends as they are) to `path` atomically.

    An existing file keeps its permission bits, a new one gets those that the umask leaves. The folder has to exist.

    Args:
        path: the file; a symbolic link is replaced, not followed.
        data: the whole new content.
        durable: fsync the file and its folder, so that the new content survives a power cut.

    Raises:
        OSError: the disk refused; `path` is as before and no temporary file is left.
    """
    content = data.encode() if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".swarmgate-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), _mode(path))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105 - mkstemp's name is a string
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise
    if durable:
        _sync_folder(path.parent)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

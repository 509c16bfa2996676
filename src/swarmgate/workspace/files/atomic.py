"""Replaces a file atomically: a reader sees the old bytes or the new ones, also after a crash."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from pathlib import Path

from swarmgate.workspace import system
from swarmgate.workspace.process import identity

_NEW_FILE_MODE = 0o666
_PRIVATE = 0o600
_OURS = re.compile(rf"\.swarmgate-(?:({identity.PATTERN})-\d+|[\w.-]+)\.tmp")
_FORGOTTEN_S = 7 * 86_400
"""After how long a temporary file is nobody's any more whose writer is not known to have ended."""
_numbers = itertools.count(1)


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
    new = path.with_name(f".swarmgate-{identity.own()}-{next(_numbers)}.tmp")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.CLOEXEC, _PRIVATE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if hasattr(os, "fchmod"):  # Windows: rights are the folder's
                os.fchmod(file.fileno(), _mode(path))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def sweep(folder: Path, *, spared: Path) -> None:
    """Remove the temporary files below a folder whose writers were killed.

    Args:
        folder: where `replace` writes.
        spared: a folder in it that is not looked at: what lies there is the user's.
    """
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(base, name) != spared]
        for name in files:
            match, place = _OURS.fullmatch(name), Path(base, name)
            if match and _is_nobodys(place, match[1] or ""):
                with contextlib.suppress(OSError):
                    place.unlink()


def _is_nobodys(place: Path, owner: str) -> bool:
    if owner and identity.has_ended(owner):
        return True
    try:
        return (not owner or identity.is_foreign(owner)) and time.time() - place.lstat().st_mtime > _FORGOTTEN_S
    except OSError:
        return False


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask


def _sync_folder(folder: Path) -> None:
    if system.IS_WINDOWS:  # which opens no folder, and writes the change of a name with the file
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

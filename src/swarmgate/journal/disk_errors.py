"""Turns disk errors (full, read-only, no permission) into errors that name the file and say what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from swarmgate.errors import LedgerWriteFailed

_MENDS = {
    errno.EACCES: "You may not write there: give yourself the permission (chmod u+w),",
    errno.EPERM: "You may not write there: give yourself the permission (chmod u+w),",
    errno.EROFS: "It is mounted read-only: mount it writable,",
    errno.ENOSPC: "Make room on the disk,",
    errno.EDQUOT: "Your quota is used up: make room,",
}
"""What to do about what a disk refuses."""

_OTHERWISE = "Make room on the disk, or make the folder writable,"


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the disk refuses (full, read-only) into an error that names the file.

    Raises:
        LedgerWriteFailed: instead of any `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise LedgerWriteFailed(
            f"{path} could not be written: {error.strerror or error}. Nothing was recorded; the file is as before.",
            hint=f"{_MENDS.get(error.errno or 0, _OTHERWISE)} then try again.",
        ) from error

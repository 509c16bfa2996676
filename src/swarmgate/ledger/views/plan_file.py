"""Reads plan.md or plan.json while editors may write it, and replaces it only if it is unchanged.

A file that somebody has open for writing is not finished, however long it rests: where the kernel tells so (leases of
Linux), it is left alone until it is closed.
Whatever stands in its place (nothing, a folder, a pipe, 50 MB) is told and never followed, waited for or read whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from swarmgate.workspace import system
from swarmgate.workspace.files.atomic import replace

LARGEST = 8_000_000
"""Bytes of a plan file that are read. A plan of 5,000 tasks takes two million."""

_SETTLED_S, _EMPTY_S, _TRIES = 0.02, 0.25, 12
"""A file younger than the first is looked at again before it is believed, as often as the third; an editor that
truncates before it writes leaves an empty one, which is given the second."""


_READ_FLAGS = os.O_RDONLY | system.NONBLOCK | system.NOFOLLOW | system.CLOEXEC


@dataclass(frozen=True, slots=True)
class Found:
    """The file's content on the disk. `data` is None where there is nothing to read: no file, or an empty one.

    `problem` says why it cannot be read: then it has to be moved away. `busy`: somebody is writing it.
    """

    data: bytes | None = None
    problem: str = ""
    busy: bool = False


class PlanFile:
    """One of the two files, and what was last seen in it.

    `left` is the `stamp` of what was last read or written here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left: tuple[int, ...] | None = None
        self._was_read = False
        self._seen: bytes | None = None
        self._theirs = False  # what stands there was not read, so it is not ours to replace

    def stamp(self) -> tuple[int, ...] | None:
        """What tells this version of the file from others, but for those of one instant; None when there is none."""
        try:
            return _of(self.path.lstat())
        except FileNotFoundError:
            return None

    def being_written(self) -> bool:
        """Whether somebody has it open for writing now, as far as the system tells."""
        try:
            descriptor = os.open(self.path, _READ_FLAGS)
        except OSError:
            return False
        try:
            return _being_written(descriptor)
        finally:
            os.close(descriptor)

    def read(self, *, known: bytes = b"", most: int = LARGEST) -> Found:
        """What stands there now; from now on it may be replaced, unless somebody changes it again.

        Args:
            known: the content that needs no second look, since nobody was writing anything else.
            most: bytes that are read.
        """
        left = self.stamp()
        found, waited = self._settled(known, most), 0.0
        while found.data == b"" and waited < _EMPTY_S:
            time.sleep(_SETTLED_S)
            waited, left = waited + _SETTLED_S, self.stamp()
            found = self._settled(known, most)
        self._was_read, self._seen = True, found.data
        self.left = self.left if found.busy else left
        self._theirs = bool(found.problem) or found.busy
        return Found() if found.data == b"" else found

    def replace(self, data: bytes) -> bool:
        """Writes it, unless somebody changed it since it was read; that stays for the next look. Whether it is written.

        Raises:
            OSError: the disk refused.
        """
        if self._was_read and (self._theirs or not self._is_unchanged(self._seen)):
            return False
        if not self._was_read or data != self._seen or not self.path.exists():
            new = self.path.with_name(f".swarmgate-{self.path.name}.tmp")
            replace(new, data, durable=False)
            try:
                with contextlib.suppress(FileNotFoundError):
                    new.chmod(stat.S_IMODE(self.path.stat().st_mode))
                if (
                    not self._is_unchanged(self._seen) if self._was_read else self.being_written()
                ):  # writing took its time
                    return False
                new.replace(self.path)
            finally:
                new.unlink(missing_ok=True)
        self._was_read, self._seen, self.left = True, data, self.stamp()
        return True

    def move(self, target: Path) -> None:
        """Puts what stands there, whatever it is, at `target`; a new file may be written in its place.

        Raises:
            OSError: the disk refused.
        """
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(target)
        self._was_read, self._seen, self._theirs, self.left = True, None, False, None

    def _settled(self, known: bytes, most: int) -> Found:
        """The content once it stands still."""
        for _ in range(_TRIES):
            found, stamp = self._once(most, known)
            if found.problem or found.data is None or (known and found.data == known):
                return found
            age = time.time() - stamp[2] / 1e9
            if 0 <= age < _SETTLED_S:
                time.sleep(_SETTLED_S - age)
            if stamp == self.stamp():
                return found
        return Found(busy=True)

    def _once(self, most: int, known: bytes = b"") -> tuple[Found, tuple[int, ...]]:
        try:
            descriptor = os.open(self.path, _READ_FLAGS)
        except FileNotFoundError:
            return Found(), ()
        except OSError as error:
            return Found(problem=self._link() or f"cannot be read: {error.strerror}"), ()
        try:
            found = os.fstat(descriptor)
            if problem := _problem(found, most):
                return Found(problem=problem), ()
            with os.fdopen(os.dup(descriptor), "rb") as file:
                data = file.read(most + 1)
            if not (known and data == known) and _being_written(descriptor):  # asked last: what was read was whole then
                return Found(busy=True), ()
        except OSError as error:
            return Found(problem=f"cannot be read: {error.strerror}"), ()
        finally:
            os.close(descriptor)
        grown = Found(problem=_too_big(most)) if len(data) > most else Found(data)
        return grown, _of(found)

    def _link(self) -> str:
        """What to tell of a symbolic link: moved away, a relative one points at something else."""
        try:
            return f"is a symbolic link to {str(self.path.readlink())!r}"
        except OSError:
            return ""

    def _is_unchanged(self, data: bytes | None) -> bool:
        """Whether the file is gone, or is what was seen and nobody is writing it.

        By its content: times are too coarse to tell saves of one instant apart.
        """
        found = self.stamp()
        if data is None or found is None:
            return found is None
        return found[3] == len(data) and self._once(len(data))[0].data == data


def _being_written(descriptor: int) -> bool:
    """Whether anybody has this file, open for reading here, open for writing; False where the kernel does not tell.

    A read lease is refused while there is a writer (fcntl(2), "Leases"). It is given back at once; who opens the
    file in that instant waits for it, and its signal is one that is ignored by default.
    """
    if sys.platform != "linux":
        return False
    import fcntl  # noqa: PLC0415 - late: POSIX alone has it, leases Linux alone

    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN  # else: no leases on this file system, or not our file
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _problem(found: os.stat_result, most: int) -> str:
    if stat.S_ISDIR(found.st_mode):
        return "is a folder"
    if not stat.S_ISREG(found.st_mode):
        return "is no regular file"
    return _too_big(most) if found.st_size > most else ""


def _too_big(most: int) -> str:
    return f"is too big for a plan (more than {most // 1_000_000} MB)"


def _of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns

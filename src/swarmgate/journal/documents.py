"""Stores council records as files: a folder each under `.swarm/discussions/`, a file for each named text.

    .swarm/discussions/20261122-101500-3f2a/rounds/001.json     the text `rounds/001.json`

Each file is replaced in one step: a process that is killed leaves the old text or the new one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from swarmgate.errors import LedgerError
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.lines import LinesFile
from swarmgate.workspace import system
from swarmgate.workspace.files.atomic import replace

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,119}")
_NEW_FILE_MODE = 0o666

JOURNAL = "journal.jsonl"
"""The name of the text that a record is; all others are views of it."""


def check_name(name: str) -> None:
    """Insists that a record or a text may have this name: no part of it leads out of its folder.

    Raises:
        LedgerError: it may not.
    """
    if not all(_PART.fullmatch(part) for part in name.split("/")):
        raise LedgerError(f"{name[:200]!r} is no name of a record, or of a text in one.")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Device, inode, size and time of a file; all 0 where there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0, 0
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class FileDocuments:
    """Stores the texts of all records of one project in files.

    Args:
        swarm: the project's `.swarm/`.
    """

    kind = "files"
    """What `[council] store` calls it."""

    def __init__(self, swarm: Path) -> None:
        self._swarm = swarm
        self._all = swarm / "discussions"

    @property
    def whole(self) -> str:
        """Where all of it is, as messages name it."""
        return self._display_path(self._all)

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Stores a text under a name, replacing the one before.

        Args:
            record: whose text it is.
            name: of the text.
            text: all of it.
            durable: whether it outlives a power cut; it outlives a killed process in any case.

        Raises:
            LedgerError: there is a symbolic link on the way, or no such name may be.
            LedgerWriteFailed: the disk refused.
        """
        path = self._path(record, name)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, text, durable=durable)

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none.

        Raises:
            LedgerError: it cannot be read.
        """
        path = self._path(record, name)
        try:
            return path.read_bytes().decode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as error:
            why = f"byte {error.start + 1} is no UTF-8"
        except OSError as error:
            why = error.strerror or str(error)
        raise LedgerError(
            f"{self.place(record, name)} cannot be read: {why}.", hint="Bring the file back from a backup or from git."
        )

    def append(self, record: str, name: str, text: str) -> None:
        """Adds to the text of that name, in one write; of a very long one a killed process may leave the beginning.

        Raises:
            LedgerError: as `put`.
        """
        path = self._path(record, name)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.NOFOLLOW | system.CLOEXEC
            descriptor = os.open(path, flags, _NEW_FILE_MODE)
            try:
                left = memoryview(text.encode())
                while left:  # once, but for a disk that is nearly full
                    left = left[os.write(descriptor, left) :]
            finally:
                os.close(descriptor)

    def rename(self, record: str, old: str, new: str) -> None:
        """Gives a text another name, in the place of what has that.

        Raises:
            LedgerError: as `put`; or there is no such text.
        """
        source, target = self._path(record, old), self._path(record, new)
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)

    def drop(self, record: str, name: str) -> None:
        """Deletes a text, if it exists.

        Raises:
            LedgerError: as `put`.
        """
        path = self._path(record, name)
        with writing(path):
            path.unlink(missing_ok=True)

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted; what has no name that a text may have is none."""
        place = self._safe(record)
        found = (path.relative_to(place).as_posix() for path in place.rglob("*") if not path.is_dir())
        return tuple(sorted(name for name in found if all(map(_PART.fullmatch, name.split("/")))))

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""
        place = self._all
        if not place.is_dir():
            return ()
        return tuple(sorted(path.name for path in place.iterdir() if path.is_dir() and _PART.fullmatch(path.name)))

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""
        return f"{self.whole}/{record}/{name}"

    def lines(self, record: str) -> LinesFile:
        """The journal of a record."""
        return LinesFile(self._path(record, JOURNAL), name=self.place(record, JOURNAL), own_folder=True)

    def stamp(self, record: str = "") -> tuple[int, ...]:
        """What changes whenever the journal of a record grows; without one, whenever there is a new record."""
        return stamp_of(self._all / record / JOURNAL if record else self._all)

    def _display_path(self, path: Path) -> str:
        return path.relative_to(self._swarm.parent).as_posix()

    def _path(self, record: str, name: str) -> Path:
        check_name(name)
        return self._safe(record, *name.split("/"))

    def _safe(self, record: str, *parts: str) -> Path:
        """The path; nothing on the way to it, and not itself, is a symbolic link: what it names may lie anywhere.

        Raises:
            LedgerError: there is one.
        """
        check_name(record)
        path = self._all
        for part in ("", record, *parts):
            path = path / part
            if path.is_symlink():
                raise LedgerError(
                    f"{self._display_path(path)} is a symbolic link; records lie in the project itself.",
                    hint="Replace the link by what it names.",
                )
        return path

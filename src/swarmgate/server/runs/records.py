"""Records of goals and councils in the server's home: a folder each, with one JSON file that processes take turns at.

    home/goals/g-0123456789ab/goal.json        replaced in one step, so that a killed writer leaves the old or the new
    home/goals/g-0123456789ab/worker.lock      held by the worker at it for as long as it lives

A record is changed under a lock of its own, by the server and by its workers, which may outlive the server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from swarmgate.errors import LedgerError, NotFound
from swarmgate.journal.disk_errors import writing
from swarmgate.server.runs.model import Council, Goal
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive, regular
from swarmgate.workspace.files.atomic import replace

R = TypeVar("R", Goal, Council)

_ID = re.compile(r"[a-z]{1,2}-[0-9a-f]{12}")


class Records(Generic[R]):
    """All records of one kind.

    Args:
        folder: the one in which each has its own; it is made with the first.
        name: of their files.
        kind: of the records.
    """

    def __init__(self, folder: Path, name: str, kind: type[R]) -> None:
        self._folder, self._name, self._place = folder, name, str(folder)
        self._kind: type[R] = kind
        self._known: dict[str, tuple[tuple[int, int, int], R]] = {}

    def folder(self, id: str) -> Path:  # noqa: A002 - the field's name
        """The folder of a record.

        Raises:
            NotFound: that is no id.
        """
        if not _ID.fullmatch(id):
            raise self._unknown
        return self._folder / id

    def lock(self, id: str) -> Path:  # noqa: A002 - the field's name
        """The lock that its worker holds."""
        return self.folder(id) / "worker.lock"

    def ids(self) -> tuple[str, ...]:
        """All ids, in no order."""
        if not self._folder.is_dir():
            return ()
        return tuple(
            each.name for each in self._folder.iterdir() if _ID.fullmatch(each.name) and (each / self._name).is_file()
        )

    def all(self) -> tuple[R, ...]:
        """All records, the newest first; one that is gone meanwhile is left out."""
        found = [record for each in self.ids() if (record := self.find(each)) is not None]
        return tuple(sorted(found, key=lambda each: (each.created, each.id), reverse=True))

    def get(self, id: str) -> R:  # noqa: A002 - the field's name
        """The record of that id.

        Raises:
            NotFound: there is none.
            LedgerError: it cannot be read.
        """
        if (found := self.find(id)) is None:
            raise self._unknown
        return found

    def find(self, id: str) -> R | None:  # noqa: A002 - the field's name
        """The record of that id; None: there is none.

        One that is asked for with every request is read again only where another file stands in its place.

        Raises:
            NotFound: that is no id.
            LedgerError: it cannot be read.
        """
        if not _ID.fullmatch(id):
            raise self._unknown
        try:
            there = os.stat(f"{self._place}/{id}/{self._name}")  # noqa: PTH116 - a third of the time, and asked often
        except OSError:
            return self._read(id) if id in self._known else None
        known = self._known.get(id)
        same = known is not None and known[0] == (there.st_ino, there.st_size, there.st_mtime_ns)
        return known[1] if known is not None and same else self._read(id)

    def put(self, record: R) -> R:
        """Writes a new record down.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        path = self.folder(record.id) / self._name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, record.model_dump_json(indent=1))
        return record

    def change(self, id: str, how: Callable[[R], R]) -> tuple[R, R]:  # noqa: A002 - the field's name
        """Changes a record; nobody else does meanwhile. Returns it as it was and as it is.

        Raises:
            NotFound: there is none.
            LedgerWriteFailed: the disk refused; the record is as before.
            SwarmError: what `how` raises; the record is as before.
        """
        before = self.get(id)
        with self.turn(id):
            before = self.get(id)
            after = how(before)
            return before, (after if after == before else self.put(after))

    @property
    def _unknown(self) -> NotFound:
        return NotFound(f"There is no such {self._kind.__name__.lower()}.")

    def _read(self, id: str) -> R | None:  # noqa: A002 - the field's name
        path = self.folder(id) / self._name
        try:
            there = path.stat()  # before it is read: a newer one is then read once more, and never an older one kept
            found = self._kind.model_validate_json(regular.read(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValidationError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not as the server wrote it"
            raise LedgerError(f"{path} cannot be read: {why}.", hint="Bring it back from a backup.") from error
        self._known[id] = (there.st_ino, there.st_size, there.st_mtime_ns), found
        return found

    @contextmanager
    def turn(self, id: str, name: str = "turn") -> Iterator[None]:  # noqa: A002 - the field's name
        """The block runs while no other one does for this record; the kernel's lock ends with its process.

        Args:
            id: of the record.
            name: of what they take turns at.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        path = self.folder(id) / f"{name}.lock"
        with writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
        try:
            exclusive.take(descriptor)
            yield
        finally:
            os.close(descriptor)

"""Archives of pruned evidence: `.swarm/history/evidence-archive/<stamp>.tar.gz`, each with an index.

An archive is whole before it has its name: written aside, synced, read back and compared, then renamed. Its index says
what it holds; where that is lost, the archive itself is read. Members are named from the root of the repository, so
`tar -xzf` there brings them back to where they were.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.errors import LedgerWriteFailed
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace import system
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

LARGEST = 1_000_000_000
"""Bytes of a piece that are read: no patch comes near it."""
_UNREADABLE = (OSError, EOFError, tarfile.TarError, zlib.error)
_SUFFIX, _TEMPORARY = ".tar.gz", ".partial"


class ArchivedFile(Frozen):
    """A file in an archive: of which goal it is (0: not known), where it lay, its SHA-256 in hex and its bytes."""

    goal: int
    path: str
    sha256: str
    size: int


class ArchiveIndex(Frozen):
    """`<stamp>.json`: what the archive of that name holds, and when it was made (UTC)."""

    archive: str
    made: str
    files: tuple[ArchivedFile, ...]


class ArchivedPiece(NamedTuple):
    """Where an archived file is: the archive's path from the repository, and why it proves nothing; empty: it does."""

    archive: str
    problem: str


class Archives:
    """The archives of one project."""

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder
        self.place = folder.history / "evidence-archive"
        self._held: dict[str, Mapping[str, str]] = {}

    def find(self, path: str, *, digest: str = "", goal: int = 0) -> ArchivedPiece | None:
        """Looks a pruned file up; None: no archive has it.

        Args:
            path: where it lay, from the repository.
            digest: the SHA-256 that it must have; empty: that which the index says.
            goal: of which goal it must be; 0: any.
        """
        entries = [
            (index.archive, file)
            for index in self._indexes
            for file in index.files
            if file.path == path and (not goal or file.goal in (0, goal))
        ]
        problem = ""
        for archive, file in reversed(entries):
            location = self._folder.relative(self.place / archive)
            held = self._content(archive).get(path)
            if held is not None and held == (digest or file.sha256):
                return ArchivedPiece(location, "")
            what = f"holds another {path} than was recorded" if held else f"does not hold {path} any more"
            problem = problem or f"{location} {what}"
        return ArchivedPiece(self._folder.relative(self.place / entries[-1][0]), problem) if entries else None

    @cached_property
    def _indexes(self) -> tuple[ArchiveIndex, ...]:
        """Of all archives, oldest first."""
        if not self.place.is_dir():
            return ()
        found = (archive for archive in self.place.glob(f"*{_SUFFIX}") if archive.is_file())
        return tuple(self._index(archive) for archive in sorted(found))

    def _index(self, archive: Path) -> ArchiveIndex:
        with contextlib.suppress(OSError, ValidationError):
            return ArchiveIndex.model_validate_json(regular.read(_index_of(archive)))
        held = self._content(archive.name)
        files = tuple(ArchivedFile(goal=0, path=path, sha256=digest, size=0) for path, digest in held.items())
        return ArchiveIndex(archive=archive.name, made="", files=files)

    def _content(self, archive: str) -> Mapping[str, str]:
        """The SHA-256 of every member of an archive, read once; nothing where it cannot be read."""
        if archive not in self._held:
            try:
                self._held[archive] = _digests(self.place / archive)
            except _UNREADABLE:
                self._held[archive] = {}
        return self._held[archive]

    def keep(self, files: Sequence[tuple[int, Path]], made: datetime) -> ArchiveIndex:
        """Archives files, each with its goal, and proves that the archive holds them. Nothing is deleted.

        Raises:
            LedgerWriteFailed: the disk refused, or what was read back is not what was written; no archive is left.
        """
        with writing(self.place):
            make(self.place)
            for left in self.place.glob(f"*{_TEMPORARY}"):  # of a process that was killed: nothing points there
                left.unlink()
            name = self.place / f"new{_TEMPORARY}"
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.CLOEXEC, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    entries = tuple(self._add(file, files))
                    file.flush()
                    os.fsync(file.fileno())
                self._check(name, entries)
                target = self._free(made)
                name.rename(target)
            except BaseException:
                name.unlink(missing_ok=True)
                raise
            index = ArchiveIndex(archive=target.name, made=made.isoformat(timespec="seconds"), files=entries)
            replace(_index_of(target), index.model_dump_json(indent=1) + "\n")  # syncs the folder, for the archive too
        self.__dict__.pop("_indexes", None)
        return index

    def _add(self, file: io.BufferedWriter, files: Sequence[tuple[int, Path]]) -> Iterator[ArchivedFile]:
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            for goal, path in files:
                data = read_plain(path)
                location = self._folder.relative(path)
                member = tarfile.TarInfo(location)
                member.size, member.mtime, member.mode = len(data), int(path.lstat().st_mtime), 0o644
                archive.addfile(member, io.BytesIO(data))
                yield ArchivedFile(goal=goal, path=location, sha256=hashlib.sha256(data).hexdigest(), size=len(data))

    def _check(self, archive: Path, entries: Sequence[ArchivedFile]) -> None:
        try:
            held = _digests(archive)
        except _UNREADABLE as error:
            raise LedgerWriteFailed(
                f"The archive of evidence cannot be read back: {error}. No evidence was deleted."
            ) from None
        if held != {entry.path: entry.sha256 for entry in entries}:
            raise LedgerWriteFailed(
                "The archive of evidence does not hold what was written to it. No evidence was deleted.",
                hint="Check the disk, then try again.",
            )

    def _free(self, made: datetime) -> Path:
        """A name that no archive has yet: the time, and a counter where needed."""
        stamp = made.strftime("%Y%m%dT%H%M%S")
        candidate, counter = self.place / f"{stamp}{_SUFFIX}", 1
        while candidate.exists():
            counter += 1
            candidate = self.place / f"{stamp}.{counter}{_SUFFIX}"
        return candidate


def read_plain(path: Path) -> bytes:
    """The content of a piece of evidence.

    Raises:
        OSError: it cannot be read, is a link or no regular file, or is larger than any piece.
    """
    return regular.read(path, limit=LARGEST, follow=False)


def _index_of(archive: Path) -> Path:
    return archive.with_name(archive.name.removesuffix(_SUFFIX) + ".json")


def _digests(archive: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(archive, mode="r:gz") as opened:
        for member in opened:
            content = opened.extractfile(member) if member.isfile() else None
            if content is not None:
                found[member.name] = hashlib.sha256(content.read()).hexdigest()
    return found

"""Stores the newest lines of the ledger in git's folder, safe from stash, checkout, reset and clean.

    .git/swarm/ledger.tail      a header line, and the newest lines of the ledger as they are

The tail begins with the line that the newest anchor (`anchors`) ends in, so that both together hold the whole ledger. A
line is put there after it is durable in the ledger: the tail may lag behind it, and never leads. A linked work tree has
a tail of its own. What cannot be written here fails no writer.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.journal.chain import line_of
from swarmgate.workspace import system
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git.folder import git_folder, top_of

_NAME = "ledger.tail"
_LARGEST = 4_000_000_000
"""Bytes; no ledger comes near it between two anchors."""


class Header(Frozen):
    """The first line: which ledger it is of, by the hash of its first line, and where its newest anchor ends.

    `anchored` is that line's number, 0 where there is no anchor yet; `size` is where it ends in the file, in bytes;
    `commit` is the id of the anchor.
    """

    ledger: str
    anchored: int = 0
    size: int = 0
    commit: str = ""


class Mark(NamedTuple):
    """What the tail says: its header, its whole lines, and number, time and hash of the last of them."""

    header: Header
    lines: bytes
    seq: int
    time: str
    head: str


class HighWater:
    """The tail of one project's ledger.

    Args:
        root: the folder that the project's `.swarm/` lies in.
    """

    def __init__(self, root: Path) -> None:
        found = git_folder(root)
        self._path = found / "swarm" / _named(root) if found else None
        self._size = -1

    @property
    def path(self) -> Path | None:
        """Where it lies, or would lie; None: there is no git folder."""
        return self._path

    def read(self) -> Mark | None:
        """What it says; None where there is none, or none that says anything."""
        try:
            data = regular.read(self._path, limit=_LARGEST, follow=False) if self._path else b""
        except OSError:
            return None
        head, _, lines = data.partition(b"\n")
        try:
            header = Header.model_validate_json(head)
        except ValidationError:
            return None
        while lines:
            lines = lines[: lines.rfind(b"\n") + 1]  # a line that a crash cut short
            start = lines.rfind(b"\n", 0, -1) + 1
            if (line := line_of(lines[start:])) is not None:
                self._size = len(head) + 1 + len(lines)
                return Mark(header, lines, *line)
            lines = lines[:start]
        return None

    def append(self, lines: bytes) -> None:
        """Adds lines that follow those that are there; nothing where they would not."""
        if self._path is None or self._size < 0:
            return
        try:
            descriptor = os.open(self._path, os.O_WRONLY | system.CLOEXEC)
            try:
                os.ftruncate(descriptor, self._size)  # what a crash or a full disk left of a line
                written = system.write_at(descriptor, lines, self._size)
            finally:
                os.close(descriptor)
        except OSError:
            written = 0
        self._size = self._size + written if written == len(lines) else -1  # the next writer catches up

    def begin(self, header: Header, lines: bytes) -> None:
        """Makes it anew."""
        self._size = -1
        if self._path is None:
            return
        data = header.model_dump_json().encode() + b"\n" + lines
        try:
            self._path.parent.mkdir(exist_ok=True)
            replace(self._path, data, durable=False)
        except OSError:
            return
        self._size = len(data)

    def put_away(self) -> Path | None:
        """Gives it another name, for who begins anew; the new one, None where there was nothing.

        Raises:
            OSError: the disk refused.
        """
        if self._path is None or not self._path.exists():
            return None
        stored = self._path.with_name(f"{self._path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        return self._path.rename(stored)


def _named(project: Path) -> str:
    """The name of the tail: a project in a folder below the root of the work tree has one of its own."""
    below = place_of(project)
    return f"{_NAME}-{below}" if below else _NAME


def place_of(project: Path) -> str:
    """What tells the projects of a work tree apart: by the folder that each lies in; empty at the top."""
    below = project.relative_to(top_of(project) or project).as_posix()
    return "" if below == "." else hashlib.sha256(below.encode(errors="surrogateescape")).hexdigest()[:8]

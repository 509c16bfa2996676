"""Opens the store for the council records of a project: files or SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from swarmgate.journal.documents import FileDocuments
from swarmgate.journal.sqlite import SqliteDocuments


def opened(swarm: Path, kind: Literal["files", "sqlite"]) -> FileDocuments | SqliteDocuments:
    """Opens the store of a project's records, as `[council] store` names it; `swarm` is its `.swarm/`."""
    return FileDocuments(swarm) if kind == "files" else SqliteDocuments(swarm)


def stores(swarm: Path) -> Iterator[FileDocuments | SqliteDocuments]:
    """Opens every store that exists."""
    yield FileDocuments(swarm)
    if (swarm / "discussions.sqlite3").exists():
        yield SqliteDocuments(swarm)

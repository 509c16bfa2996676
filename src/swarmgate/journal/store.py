"""Opens the store for the council records of a project: files, SQLite or Redis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from swarmgate.journal.documents import FileDocuments
from swarmgate.journal.sqlite import SqliteDocuments

Documents = FileDocuments | SqliteDocuments
"""Every store of records."""


def opened(swarm: Path, kind: str) -> Documents:
    """Opens the store of a project's records, as `[council] store` names it; `swarm` is its `.swarm/`."""
    return FileDocuments(swarm) if kind == "files" else SqliteDocuments(swarm)


def stores(swarm: Path) -> Iterator[Documents]:
    """Opens every store that exists."""
    yield FileDocuments(swarm)
    if (swarm / "discussions.sqlite3").exists():
        yield SqliteDocuments(swarm)

"""Opens the store for the council records of a project: files, SQLite or Redis."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from swarmgate.journal.documents import FileDocuments
from swarmgate.journal.redis import RedisDocuments
from swarmgate.journal.sqlite import SqliteDocuments

Documents = FileDocuments | SqliteDocuments | RedisDocuments
"""Every store of records."""


def opened(swarm: Path, store: str, *, password_env: str = "", environ: Mapping[str, str] = os.environ) -> Documents:
    """Opens the store of a project's records; nothing is read or made before its first use.

    Args:
        swarm: the project's `.swarm/`.
        store: `files`, `sqlite` or the address of a Redis, as `[council] store` has it.
        password_env: the variable that holds the password of that Redis.
        environ: where that is looked up.
    """
    if store == "files":
        return FileDocuments(swarm)
    if store == "sqlite":
        return SqliteDocuments(swarm)
    return RedisDocuments(swarm, store, password_env=password_env, environ=environ)


def stores(swarm: Path) -> Iterator[Documents]:
    """Opens every store that a project has records in.

    Raises:
        LedgerError: the note of its Redis cannot be read.
    """
    yield FileDocuments(swarm)
    if (swarm / "discussions.sqlite3").exists():
        yield SqliteDocuments(swarm)
    if (noted := RedisDocuments.noted(swarm)) is not None:
        yield noted

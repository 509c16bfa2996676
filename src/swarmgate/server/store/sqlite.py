"""Stores the server's droppable state in one SQLite file, `state.sqlite3`, in write-ahead mode.

All calls run one after the other in a thread of their own, so that the event loop never waits for a disk. A file that
was deleted or replaced meanwhile is opened anew; one that is damaged when it is opened is set aside, since all that it
held can be made again.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from swarmgate.errors import StoreAway
from swarmgate.server.store.model import StreamRow

T = TypeVar("T")

BUSY_S = 5.0
"""How long a write waits for that of another process, in seconds."""

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT, key TEXT, value BLOB NOT NULL, expires REAL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_expire ON entries (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS rows (
    stream TEXT, seq INTEGER, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS rows_once ON rows (stream, key);
"""
_FILES = ("", "-wal", "-shm")
"""What is added to the name of the file for those that belong to it."""


class SqliteStore:
    """Implements `store.model.Store` in a file.

    Args:
        path: of the file; it and its folder are made with the first use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="swarm-store")
        self._database: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    async def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key; None: there is none, or its time is over."""

        def work(database: sqlite3.Connection) -> bytes | None:
            statement = "SELECT value FROM entries WHERE kind = ? AND key = ? AND ifnull(expires > ?, 1)"
            found = database.execute(statement, (kind, key, time.time())).fetchone()
            return bytes(found[0]) if found else None

        return await self._call(work)

    async def put(
        self, kind: str, key: str, value: bytes, *, ttl_s: float | None = None, only_new: bool = False
    ) -> bool:
        """Stores a value in the place of the one before; whether it was stored. See `Store.put`."""

        def work(database: sqlite3.Connection) -> bool:
            now = time.time()
            expires = None if ttl_s is None else now + ttl_s
            with _transaction(database):
                database.execute("DELETE FROM entries WHERE expires <= ?", (now,))
                verb = "INSERT OR IGNORE" if only_new else "INSERT OR REPLACE"
                done = database.execute(f"{verb} INTO entries VALUES (?, ?, ?, ?)", (kind, key, value, expires))
            return done.rowcount > 0

        return await self._call(work)

    async def delete(self, kind: str, key: str) -> None:
        """Deletes a value, if it exists."""
        statement = "DELETE FROM entries WHERE kind = ? AND key = ?"
        await self._call(lambda database: database.execute(statement, (kind, key)))

    async def keys(self, kind: str) -> tuple[str, ...]:
        """The keys of a kind, sorted."""
        statement = "SELECT key FROM entries WHERE kind = ? AND ifnull(expires > ?, 1) ORDER BY key"

        def work(database: sqlite3.Connection) -> tuple[str, ...]:
            return tuple(row[0] for row in database.execute(statement, (kind, time.time())))

        return await self._call(work)

    async def append(self, stream: str, rows: Sequence[StreamRow]) -> tuple[int, ...]:
        """Appends rows in order, all or none; their numbers, 0 for a key that is there already."""

        def work(database: sqlite3.Connection) -> tuple[int, ...]:
            numbers = []
            with _transaction(database):
                last = _last(database, stream)
                for key, value in rows:
                    statement = "INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?)"
                    new = database.execute(statement, (stream, last + 1, key, value)).rowcount > 0
                    last += new
                    numbers.append(last if new else 0)
            return tuple(numbers)

        return await self._call(work)

    async def read(self, stream: str, after: int, limit: int) -> tuple[tuple[int, bytes], ...]:
        """At most `limit` rows behind number `after`, in order, each with its number."""
        statement = "SELECT seq, value FROM rows WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?"

        def work(database: sqlite3.Connection) -> tuple[tuple[int, bytes], ...]:
            return tuple((int(seq), bytes(value)) for seq, value in database.execute(statement, (stream, after, limit)))

        return await self._call(work)

    async def last(self, stream: str) -> int:
        """The number of the newest row of a stream; 0: there is none."""
        return await self._call(lambda database: _last(database, stream))

    async def forget(self, stream: str) -> None:
        """Deletes a stream; its numbers begin at 1 again."""
        await self._call(lambda database: database.execute("DELETE FROM rows WHERE stream = ?", (stream,)))

    async def life(self) -> str:
        """The boot of this machine: a killed process loses nothing that was committed, a power cut may."""
        return _boot()

    async def drop(self) -> None:
        """Deletes everything."""

        def work(database: sqlite3.Connection) -> None:
            with _transaction(database):
                database.execute("DELETE FROM entries")
                database.execute("DELETE FROM rows")

        await self._call(work)

    async def ping(self) -> None:
        """Insists that the store can be read and written."""
        await self._call(lambda database: database.execute("UPDATE entries SET expires = 0 WHERE 0"))

    async def close(self) -> None:
        """Ends; what was stored stays."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._let_go)
        self._thread.shutdown()

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    # --- in its thread ---

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._database is None or _identity(self._path) != self._identity:
                self._open()
            assert self._database is not None  # noqa: S101 - opened one line above
            return work(self._database)
        except (sqlite3.Error, OSError) as error:
            self._let_go()
            raise StoreAway(
                f"{self._path} cannot be used: {error}. Nothing was stored.",
                hint="Make room on the disk, or make the folder writable. The file may be deleted while the server is "
                "stopped: what it holds is made again.",
            ) from error

    def _open(self) -> None:
        self._let_go()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = self._connected()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # the disk, or another process: the file may be whole
                raise
            self._set_aside()
            self._database = self._connected()
        self._identity = _identity(self._path)

    def _connected(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
        try:
            self._path.chmod(0o600)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            if database.execute("PRAGMA user_version").fetchone()[0] not in {0, _VERSION}:
                raise sqlite3.DatabaseError("its tables are of another version")
            database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self) -> None:
        for end in _FILES:
            with suppress(FileNotFoundError):
                Path(f"{self._path}{end}").replace(f"{self._path}.damaged{end}")

    def _let_go(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _last(database: sqlite3.Connection, stream: str) -> int:
    return int(database.execute("SELECT ifnull(max(seq), 0) FROM rows WHERE stream = ?", (stream,)).fetchone()[0])


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _boot() -> str:
    """The identity of this boot; where the system tells none, of this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{os.getpid()}-{time.monotonic_ns()}"

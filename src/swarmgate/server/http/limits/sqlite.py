"""A storage of the package `limits` in SQLite: `limits.sqlite3` in the server's home, which can be dropped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from limits.aio.storage import MovingWindowSupport, Storage

T = TypeVar("T")

_TABLES = """
CREATE TABLE IF NOT EXISTS hits (key TEXT NOT NULL, time REAL NOT NULL);
CREATE INDEX IF NOT EXISTS hits_of ON hits (key, time);
CREATE TABLE IF NOT EXISTS counters (key TEXT PRIMARY KEY, count INTEGER NOT NULL, expires REAL NOT NULL);
"""
_LONGEST_S = 3600
"""Seconds after which a hit is nobody's any more, whatever its window was."""


class SqliteLimits(Storage, MovingWindowSupport):
    """Counts hits in a file, in a thread of its own; a clock that was set back forgets those that are still to come.

    Args:
        path: of the file; it is made with the first hit, and again where it was deleted.
    """

    STORAGE_SCHEME = ["async+sqlite"]  # noqa: RUF012 - the package's own way

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="swarm-limits")
        self._opened: tuple[sqlite3.Connection, int] | None = None

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """What it raises where the disk refuses."""
        return (sqlite3.Error, OSError)

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Counts hits unless they would be more than the limit in these seconds; whether it did."""

        def hit(database: sqlite3.Connection) -> bool:
            now = time.time()
            database.execute("DELETE FROM hits WHERE time <= ? OR time > ?", (now - _LONGEST_S, now))
            database.execute("DELETE FROM hits WHERE key = ? AND time <= ?", (key, now - expiry))
            found = database.execute("SELECT count(*) FROM hits WHERE key = ?", (key,)).fetchone()[0]
            if found + amount > limit:
                return False
            database.executemany("INSERT INTO hits VALUES (?, ?)", [(key, now)] * amount)
            return True

        return await self._call(hit)

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002 - the package's interface
        """When the oldest hit of these seconds was, and how many there are."""

        def window(database: sqlite3.Connection) -> tuple[float, int]:
            now = time.time()
            oldest, count = database.execute(
                "SELECT min(time), count(*) FROM hits WHERE key = ? AND time > ? AND time <= ?",
                (key, now - expiry, now),
            ).fetchone()
            return (now if oldest is None else oldest), count

        return await self._call(window)

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Counts in a fixed window; its count."""

        def count(database: sqlite3.Connection) -> int:
            now = time.time()
            database.execute("DELETE FROM counters WHERE expires <= ?", (now,))
            found = database.execute(
                "INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET count = count + excluded.count"
                " RETURNING count",
                (key, amount, now + expiry),
            ).fetchone()
            return int(found[0])

        return await self._call(count)

    async def get(self, key: str) -> int:
        """The count of a fixed window."""
        return int(await self._counter("count", key, 0))

    async def get_expiry(self, key: str) -> float:
        """When a fixed window ends, in seconds since 1970."""
        return float(await self._counter("expires", key, time.time()))

    async def check(self) -> bool:
        """Whether the file can be read and written."""
        try:
            await self._call(lambda database: database.execute("DELETE FROM counters WHERE key = ''"))
        except self.base_exceptions:
            return False
        return True

    async def reset(self) -> int | None:
        """Forgets everything; how many hits there were."""
        return await self._call(
            lambda database: sum(database.execute(f"DELETE FROM {each}").rowcount for each in ("hits", "counters"))  # noqa: S608 - two names of ours
        )

    async def clear(self, key: str) -> None:
        """Forgets one key."""

        def forget(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM hits WHERE key = ?", (key,))
            database.execute("DELETE FROM counters WHERE key = ?", (key,))

        await self._call(forget)

    async def aclose(self) -> None:
        """Closes the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    async def _counter(self, column: str, key: str, otherwise: float) -> float:
        statement = f"SELECT {column} FROM counters WHERE key = ? AND expires > ?"  # noqa: S608 - a column of ours
        found = await self._call(lambda database: database.execute(statement, (key, time.time())).fetchone())
        return otherwise if found is None else found[0]

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._database() as database:
            return work(database)

    def _database(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """One transaction; sqlite3 commits at its end, or takes it back."""
        inode = self._path.stat().st_ino if self._path.exists() else 0
        if self._opened and self._opened[1] != inode:
            self._close()
        if self._opened is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError):  # closing another descriptor drops SQLite's locks
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            database = sqlite3.connect(self._path, timeout=2)
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + _TABLES)
            self._opened = database, self._path.stat().st_ino
        return self._opened[0]

    def _close(self) -> None:
        if self._opened:
            self._opened[0].close()
            self._opened = None

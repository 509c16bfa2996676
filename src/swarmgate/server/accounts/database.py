"""The server's own SQLite file, `server.sqlite3`: what cannot be dropped. Rooms above keep tables in it, too."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from swarmgate.errors import StoreAway

NAME = "server.sqlite3"
"""What the file is called in the server's home."""

_BUSY_S = 10
"""Seconds that a write waits for that of another process, such as `swarm serve` and a command beside it."""


class Database:
    """The file, shared by threads; each write is one durable transaction, and reads never wait for one.

    Args:
        home: the server's folder; it is made where it is not there, for its owner alone.
        tables: the statements that make the tables of who opens it, `CREATE TABLE IF NOT EXISTS ...`.

    Raises:
        StoreAway: the file cannot be opened, is damaged, or the disk refuses.
    """

    def __init__(self, home: Path, tables: str = "") -> None:
        self.path = home / NAME
        self._writer_lock, self._reader_lock = threading.RLock(), threading.Lock()
        self._writing = 0
        with self._telling():
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):  # opened once it is there, and closed, it would lose the locks of SQLite
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._writer, self._reader = self._connection(), self._connection()
            self._writer.executescript(tables)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing, also after a power cut. One may stand inside of another.

        Raises:
            StoreAway: the disk refuses, or another process writes for too long.
        """
        with self._writer_lock, self._telling():
            if self._writer.in_transaction:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            self._writing = threading.get_ident()
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._writing = 0

    def rows(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        """What a query finds; inside of a transaction also what that has written.

        Raises:
            StoreAway: the file cannot be read.
        """
        with self._telling():
            if self._writing == threading.get_ident():
                return self._writer.execute(statement, values).fetchall()
            with self._reader_lock:
                return self._reader.execute(statement, values).fetchall()

    def row(self, statement: str, *values: Any) -> sqlite3.Row | None:
        """The first row that a query finds; None: it finds none."""
        return next(iter(self.rows(statement, *values)), None)

    @property
    def version(self) -> int:
        """Another number after every write, by this process or by another one."""
        try:  # not `_telling`: this is asked with every request
            with self._reader_lock:
                return int(self._reader.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise self._away(error) from error

    def close(self) -> None:
        """Closes the file; what was written stays."""
        with self._writer_lock, self._reader_lock:
            self._writer.close()
            self._reader.close()

    def _connection(self) -> sqlite3.Connection:
        opened = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        opened.row_factory = sqlite3.Row
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            opened.execute(f"PRAGMA {pragma}")
        return opened

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # a matter of who writes: a name is taken
        except (sqlite3.Error, OSError) as error:
            raise self._away(error) from error

    def _away(self, error: Exception) -> StoreAway:
        return StoreAway(
            f"{self.path} cannot be used: {error}", hint="look at the disk's free space and the file's owner"
        )

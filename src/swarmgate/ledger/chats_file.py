"""The database file of the swarm chats: opened, checked, and put aside where it is damaged."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from swarmgate.errors import Archived, LedgerError, LedgerLocked, LedgerWriteFailed
from swarmgate.ledger.chats_schema import VERSION, statements
from swarmgate.ledger.folder import SwarmFolder, writing

BUSY_S = 10.0
"""How long a write waits for that of another process, in seconds."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PAUSE_S = 0.02


class ChatFile:
    """`.swarm/runtime/chats.sqlite3`, opened on first use.

    Args:
        folder: the project's folder.
    """

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder
        self._path = folder.chats
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether there ever was a chat."""
        return self._path.exists()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database; what SQLite raises in the block becomes an error of ours.

        Raises:
            Archived: a row of a chat that is over was to be changed.
            LedgerError: the file is damaged; it was put into the quarantine.
            LedgerLocked: another process is at it for too long.
            LedgerWriteFailed: the disk refuses it.
        """
        try:
            yield self._opened()
        except sqlite3.IntegrityError as error:
            if str(error) != "archived":
                raise
            raise Archived(
                "That chat is over, and read-only.", hint="Look at it with: swarm chat show ID; begin a new one."
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The same in one transaction: all of the block, or nothing of it."""
        with self.reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Lets the file go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            with writing(self._path):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
            try:
                _prepare(self._connection)
            except BaseException:
                self.close()
                raise
        return self._connection

    def _told(self, error: sqlite3.DatabaseError) -> LedgerError:
        """The error as a user reads it; a damaged file is put aside."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        name = self._folder.relative(self._path)
        self.close()
        if code in _DAMAGED:
            return LedgerError(
                f"{name} is damaged: {error}. It was moved to {self._put_aside()}; the chats in it are not lost, but "
                "cannot be read.",
                hint="The next chat begins a new file. To save what can be saved: sqlite3 FILE .recover",
            )
        if code in _BUSY:
            return LedgerLocked(f"{name} has been busy for {BUSY_S:g} s.", hint="Try again when the others are done.")
        return LedgerWriteFailed(
            f"{name} cannot be used: {error}. Nothing was recorded.",
            hint="Make room on the disk (or make the folder writable) and run the command again.",
        )

    def _put_aside(self) -> str:
        """Moves the file, with what SQLite keeps beside it, into the quarantine; where to."""
        target = self._folder.quarantine_folder("chats")
        with writing(target):
            target.mkdir(parents=True)
            for path in sorted(self._path.parent.glob(f"{self._path.name}*")):
                path.replace(target / path.name)
        return self._folder.relative(target)


def _prepare(database: sqlite3.Connection) -> None:
    """Settings, schema, and a look at whether the file is whole.

    Raises:
        LedgerError: a newer swarmgate made it.
    """
    _journal(database)
    database.execute("PRAGMA foreign_keys = ON")
    # A commit outlives a killed process. That it may not outlive a power cut is worth ten times the speed.
    database.execute("PRAGMA synchronous = NORMAL")
    found = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != ("ok",):
        error = sqlite3.DatabaseError(found[0] if found else "no answer")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    if _version(database) == 0:
        database.execute("BEGIN IMMEDIATE")
        for statement in statements() if _version(database) == 0 else ():
            database.execute(statement)
        database.execute("COMMIT")
    if _version(database) != VERSION:
        raise LedgerError(
            f"chats.sqlite3 has version {_version(database)} of its tables; this swarmgate knows {VERSION}.",
            hint="Use the swarmgate that made it, or move the file away.",
        )


def _journal(database: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite does not wait by itself where two processes turn it on at once."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])

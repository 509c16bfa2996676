"""The database file of the swarm chats: opened, checked, and put aside where it is damaged."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from swarmgate.errors import Archived, LedgerError, LedgerLocked, LedgerWriteFailed
from swarmgate.journal.sqlite import BUSY, BUSY_S, DISK
from swarmgate.journal.writing import writing
from swarmgate.ledger.chats_schema import TABLES, VERSION, statements
from swarmgate.ledger.folder import SwarmFolder

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
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
    def reading(self, chat: str = "") -> Iterator[sqlite3.Connection]:
        """The database; what SQLite raises in the block becomes an error of ours.

        Args:
            chat: the id of the chat that this is about, for messages.

        Raises:
            Archived: a row of a chat that is over was to be changed.
            LedgerError: the file is damaged, and was put into the quarantine; or it was changed by others.
            LedgerLocked: another process is at it for too long.
            LedgerWriteFailed: the disk refuses it.
        """
        try:
            yield self._opened()
        except sqlite3.IntegrityError as error:
            if str(error) != "archived":
                raise changed(self._name, chat, str(error)) from error
            raise Archived(
                "That chat is over, and read-only.", hint="Look at it with: swarm chat show ID; begin a new one."
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._told(error, chat) from error

    @contextmanager
    def writing(self, chat: str = "") -> Iterator[sqlite3.Connection]:
        """The same in one transaction: all of the block, or nothing of it."""
        with self.reading(chat) as database:
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
            if self._path.exists() and not self._path.is_file():
                raise LedgerError(f"{self._name} is not a file.", hint="Move it away: swarm chats are kept there.")
            self._connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
            try:
                _prepare(self._connection, self._name)
            except BaseException:
                self.close()
                raise
        return self._connection

    @property
    def _name(self) -> str:
        return self._folder.relative(self._path)

    def _told(self, error: sqlite3.DatabaseError, chat: str) -> LedgerError:
        """The error as a user reads it; a damaged file is put aside."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        name = self._name
        self.close()
        if code in _DAMAGED:
            return LedgerError(
                f"{name} is damaged: {error}. It was moved to {self._put_aside()}; the chats in it are not lost, but "
                "cannot be read.",
                hint="The next chat begins a new file. To save what can be saved: sqlite3 FILE .recover",
            )
        if code in BUSY:
            return LedgerLocked(f"{name} has been busy for {BUSY_S:g} s.", hint="Try again when the others are done.")
        if code not in DISK:
            return changed(name, chat, str(error))
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


def changed(name: str, chat: str, what: str) -> LedgerError:
    """That the database has what swarmgate does not write: `what` is wrong with the chat; empty: with all of it."""
    where = f"{name}: the chat {chat} was changed" if chat else f"{name} was changed"
    return LedgerError(
        f"{where}: {what}",
        hint="By hand, or by another program or version. The other chats are as they were; bring the file back from a "
        "backup, or move it away: the next chat begins a new one.",
    )


def _prepare(database: sqlite3.Connection, name: str) -> None:
    """Settings, schema, and a look at whether the file is whole.

    Raises:
        LedgerError: a newer swarmgate made it, or none.
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
        if _version(database) == 0:
            if tables := _tables(database):
                raise changed(name, "", f"it has tables without a version: {', '.join(sorted(tables))[:200]}")
            for statement in statements():
                database.execute(statement)
        database.execute("COMMIT")
    if _version(database) != VERSION:
        raise LedgerError(
            f"{name} has version {_version(database)} of its tables; this swarmgate knows {VERSION}.",
            hint="Use the swarmgate that made it, or move the file away.",
        )
    if missing := TABLES - _tables(database):
        raise changed(name, "", f"it has no table {', '.join(sorted(missing))}")


def _journal(database: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite does not wait by itself where two processes turn it on at once."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _tables(database: sqlite3.Connection) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return {str(name) for (name,) in database.execute(query)}


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])

"""Records in one SQLite file, `.swarm/discussions.sqlite3`: a row for each named text.

The file is opened for each call and closed after it, and has a rollback journal: nothing but the file itself is there
between two calls, and a process that is killed leaves the old text or the new one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from swarmgate.errors import LedgerError, LedgerLocked, LedgerWriteFailed
from swarmgate.ledger.chats_file import BUSY, BUSY_S, DISK
from swarmgate.ledger.documents import check_name
from swarmgate.ledger.folder import SwarmFolder, writing

_VERSION = 1
_TABLE = (
    "CREATE TABLE IF NOT EXISTS documents"
    " (record TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (record, name))"
)


class SqliteDocuments:
    """The texts of all records of one project; implements `council.record_texts.Documents`.

    Every method raises `LedgerError` where the file is damaged, `LedgerLocked` where others write for too long, and
    `LedgerWriteFailed` where the disk refuses.

    Args:
        folder: the project's folder.
    """

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Keeps a text in the place of what has this name; `durable`: it outlives a power cut."""
        check_name(record)
        check_name(name)
        with self._open() as database:
            # NORMAL is safe from a killed process, and leaves the sync of the journal's folder out.
            database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (record, name, text))

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none."""
        found = self._select("SELECT text FROM documents WHERE record = ? AND name = ?", record, name)
        return found[0] if found else None

    def append(self, record: str, name: str, text: str) -> None:
        """Adds to the text of that name, which need not be there yet."""
        check_name(record)
        check_name(name)
        with self._open() as database:
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(
                "INSERT INTO documents VALUES (?, ?, ?)"
                " ON CONFLICT (record, name) DO UPDATE SET text = text || excluded.text",
                (record, name, text),
            )

    def rename(self, record: str, old: str, new: str) -> None:
        """Gives a text another name, in the place of what has that.

        Raises:
            LedgerError: there is no such text.
        """
        check_name(new)
        with self._open() as database:
            statement = "UPDATE OR REPLACE documents SET name = ? WHERE record = ? AND name = ?"
            if database.execute(statement, (new, record, old)).rowcount == 0:
                raise LedgerError(f"{self.place(record, old)} is not there.")

    def drop(self, record: str, name: str) -> None:
        """Forgets a text, if it is there."""
        if self._folder.records.exists():
            with self._open() as database:
                database.execute("DELETE FROM documents WHERE record = ? AND name = ?", (record, name))

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted."""
        return self._select("SELECT name FROM documents WHERE record = ? ORDER BY name", record)

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""
        return self._select("SELECT DISTINCT record FROM documents ORDER BY record")

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""
        return f"{self._file}: {record}/{name}"

    @property
    def _file(self) -> str:
        return self._folder.relative(self._folder.records)

    def _select(self, statement: str, *values: str) -> tuple[str, ...]:
        """The first column of what is found."""
        for value in values:
            check_name(value)
        if not self._folder.records.exists():
            return ()
        with self._open() as database:
            found = tuple(row[0] for row in database.execute(statement, values))
        if not all(isinstance(each, str) for each in found):
            raise self._damaged("there is something in it that is no text")
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = self._folder.records
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise LedgerError(f"{self._file} is no file.", hint="Move it away: records lie in the project itself.")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as database:
                self._prepare(database)
                yield database
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Makes the table in a file without one.

        Raises:
            LedgerError: a newer swarmgate made it.
        """
        version = int(database.execute("PRAGMA user_version").fetchone()[0])
        if version == 0:
            database.execute("BEGIN IMMEDIATE")
            database.execute(_TABLE)
            database.execute(f"PRAGMA user_version = {_VERSION}")
            database.execute("COMMIT")
        elif version != _VERSION:
            raise LedgerError(
                f"{self._file} has version {version} of its table; this swarmgate knows {_VERSION}.",
                hint="Use the swarmgate that made it, or move the file away.",
            )

    def _told(self, error: sqlite3.DatabaseError) -> LedgerError:
        """The error as a user reads it."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in BUSY:
            return LedgerLocked(f"{self._file} has been busy for {BUSY_S:g} s.", hint="Try again when others are done.")
        if code in DISK:
            return LedgerWriteFailed(
                f"{self._file} cannot be used: {error}. Nothing was recorded.",
                hint="Make room on the disk (or make the folder writable) and run the command again.",
            )
        return self._damaged(str(error))

    def _damaged(self, why: str) -> LedgerError:
        return LedgerError(
            f"{self._file} is damaged, or was changed by hand: {why}",
            hint="Bring the file back from a backup or from git. To save what can be saved: sqlite3 FILE .recover",
        )

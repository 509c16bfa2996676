"""Stores council records in one SQLite file, `.swarm/discussions.sqlite3`: a row for each named text.

A store opens the file on first use and keeps it open: opening takes ten times as long as reading. It has a rollback
journal, and each call is one transaction: nothing but the file itself is there between two calls, and a process that is
killed leaves the old text or the new one. A file that was replaced, or changed by others, is opened anew; so is that
of a process that was forked, which must not use its parent's.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from swarmgate.errors import LedgerError, LedgerLocked, LedgerWriteFailed, StaleWriter
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.documents import JOURNAL, check_name, stamp_of
from swarmgate.journal.lines_table import LinesTable

BUSY_S = 10.0
"""How long a write waits for that of another process, in seconds."""

DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOLFS,
)
"""What SQLite says where the disk refuses."""

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""The same where another process is at it."""

_VERSION = 2
_TABLES = (
    "CREATE TABLE IF NOT EXISTS lines (record TEXT, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (record, seq))",
    "CREATE TABLE IF NOT EXISTS documents (record TEXT, name TEXT, text TEXT NOT NULL, PRIMARY KEY (record, name))",
)

_DURABLE, _WHOLE = "EXTRA", "FULL"
"""`PRAGMA synchronous`. FULL never leaves a damaged file; with a rollback journal only EXTRA, which syncs the folder
after the journal is gone, has a commit outlive a power cut for certain."""

_OF_PARENTS: list[sqlite3.Connection] = []
"""What a forked process holds and must not close, as dropping it would."""

_NAMES = "SELECT name FROM documents WHERE record = ? ORDER BY name"


class _Opened(NamedTuple):
    """An open file, how it was when it was last used, and what closes it."""

    database: sqlite3.Connection
    stamp: tuple[int, ...]
    process: int
    close: weakref.finalize[..., SqliteDocuments]


class SqliteDocuments:
    """Stores the texts of all records of one project in SQLite; like `FileDocuments`.

    It may be used from several threads. The file is closed with the object, or at the end of the process.

    Every method raises `LedgerError` where the file is damaged, `LedgerLocked` where others write for too long, and
    `LedgerWriteFailed` where the disk refuses.

    Args:
        swarm: the project's `.swarm/`.
    """

    kind = "sqlite"
    """What `[council] store` calls it."""

    def __init__(self, swarm: Path) -> None:
        self._path = swarm / "discussions.sqlite3"
        self._lock = threading.RLock()
        self._opened: _Opened | None = None

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Stores a text under a name, replacing the one before; `durable`: it outlives a power cut."""
        check_name(record)
        check_name(name)
        with self._writing(durable=durable) as database:
            database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (record, name, text))

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none."""
        found = self._select("SELECT text FROM documents WHERE record = ? AND name = ?", record, name)
        return found[0] if found else None

    def append(self, record: str, name: str, text: str) -> None:
        """Adds to the text of that name, which need not be there yet."""
        check_name(record)
        check_name(name)
        with self._writing() as database:
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
        with self._writing(durable=True) as database:
            statement = "UPDATE OR REPLACE documents SET name = ? WHERE record = ? AND name = ?"
            if database.execute(statement, (new, record, old)).rowcount == 0:
                raise LedgerError(f"{self.place(record, old)} is not there.")

    def drop(self, record: str, name: str) -> None:
        """Deletes a text, if it exists."""
        if self._path.exists():
            with self._writing() as database:
                database.execute("DELETE FROM documents WHERE record = ? AND name = ?", (record, name))

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted; its journal is one."""
        journal = (JOURNAL,) if self.read_lines(record) else ()
        return tuple(sorted((*journal, *self._select(_NAMES, record))))

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""
        return self._select("SELECT record FROM documents UNION SELECT record FROM lines ORDER BY record")

    def lines(self, record: str) -> LinesTable:
        """The journal of a record."""
        check_name(record)
        return LinesTable(self, record)

    def read_lines(self, record: str, *, after: int = 0, most: int = -1) -> tuple[bytes, ...]:
        """The lines of a record's journal behind its first `after`; at most so many, where that is not negative."""
        with self._lock:
            if not self._path.exists():
                return ()
            with self._open() as database:
                if _version(database) == 0:
                    return ()
                statement = "SELECT line FROM lines WHERE record = ? AND seq > ? ORDER BY seq LIMIT ?"
                found = tuple(row[0] for row in database.execute(statement, (record, after, most)))
        if not all(isinstance(each, bytes) for each in found):
            raise self._damaged("there is something in it that is no line of a journal")
        return found

    def add_lines(self, record: str, lines: Iterable[bytes], *, expect: int, durable: bool) -> None:
        """Adds lines behind the first `expect` of a record's journal, all or none.

        Raises:
            StaleWriter: there are others.
        """
        with self._writing(durable=durable) as database:
            count = "SELECT count(*) FROM lines WHERE record = ?"
            if database.execute(count, (record,)).fetchone()[0] != expect:
                hint = "Run the command again: it will read it anew."
                raise StaleWriter(f"{self.place(record, JOURNAL)} grew since it was read.", hint=hint)
            rows = ((record, number, line) for number, line in enumerate(lines, start=expect + 1))
            database.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""
        return f"{self.whole}: {record}/{name}"

    def stamp(self, record: str = "") -> tuple[int, ...]:  # noqa: ARG002 - as `FileDocuments`
        """What changes whenever anything is written; `record` makes no difference in one file."""
        return stamp_of(self._path)

    @property
    def whole(self) -> str:
        """Where all of it is, as messages name it."""
        return self._path.relative_to(self._path.parents[1]).as_posix()

    def _select(self, statement: str, *values: str) -> tuple[str, ...]:
        """The first column of what is found."""
        for value in values:
            check_name(value)
        with self._lock:
            if not self._path.exists():
                return ()
            with self._open() as database:
                if _version(database) == 0:
                    return ()
                found = tuple(row[0] for row in database.execute(statement, values))
        if not all(isinstance(each, str) for each in found):
            raise self._damaged("there is something in it that is no text")
        return found

    @contextmanager
    def _writing(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """The file with its table, in a transaction; `durable`: that outlives a power cut."""
        path = self._path
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self._open(make=True) as database:
            database.execute(f"PRAGMA synchronous = {_DURABLE if durable else _WHOLE}")
            database.execute("BEGIN IMMEDIATE")
            try:
                self._prepare(database)
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        """The file, opened where it is not yet, or is another one than it was."""
        path = self._path
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise LedgerError(f"{self.whole} is no file.", hint="Move it away: records lie in the project itself.")
        try:
            there = self._opened
            if there is None or there.process != os.getpid() or there.stamp != stamp_of(path):
                there = self._anew(path, make=make)
            yield there.database
        except sqlite3.DatabaseError as error:
            self._let_go()
            raise self._translated(error) from error
        else:
            self._opened = there._replace(stamp=stamp_of(path))

    def _anew(self, path: Path, *, make: bool) -> _Opened:
        self._let_go()
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
        database = sqlite3.connect(uri, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=True)
        process = os.getpid()
        self._opened = _Opened(database, stamp_of(path), process, weakref.finalize(self, _close, database, process))
        version = _version(database)
        if version not in {0, _VERSION}:
            self._let_go()
            raise LedgerError(
                f"{self.whole} has version {version} of its table; this swarmgate knows {_VERSION}.",
                hint="Use the swarmgate that made it, or move the file away.",
            )
        return self._opened

    def _let_go(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Makes the table in a file without one."""
        if _version(database) == 0:
            for table in _TABLES:
                database.execute(table)
            database.execute(f"PRAGMA user_version = {_VERSION}")

    def _translated(self, error: sqlite3.DatabaseError) -> LedgerError:
        """The error as a user reads it."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in BUSY:
            return LedgerLocked(f"{self.whole} has been busy for {BUSY_S:g} s.", hint="Try again when others are done.")
        if code in DISK:
            return LedgerWriteFailed(
                f"{self.whole} cannot be used: {error}. Nothing was recorded.",
                hint="Make room on the disk (or make the folder writable) and run the command again.",
            )
        return self._damaged(str(error))

    def _damaged(self, why: str) -> LedgerError:
        return LedgerError(
            f"{self.whole} is damaged, or was changed by hand: {why}",
            hint="Bring the file back from a backup or from git. To save what can be saved: sqlite3 FILE .recover",
        )


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _close(database: sqlite3.Connection, process: int) -> None:
    """Closes a file, but not that of a parent process: it may be in the middle of writing, and has the only say."""
    if process == os.getpid():
        database.close()
    else:
        _OF_PARENTS.append(database)

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from swarmgate.errors import StoreAway
from swarmgate.server.accounts.database import Database

TABLE = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY);"


def words(database: Database) -> list[str]:
    return [row["word"] for row in database.rows("SELECT word FROM words ORDER BY word")]


def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    database = Database(tmp_path, TABLE)

    def fails() -> None:
        with database.writing() as writing:
            writing.execute("INSERT INTO words VALUES ('a')")
            with database.writing() as inner:
                inner.execute("INSERT INTO words VALUES ('b')")
            assert words(database) == ["a", "b"]  # who writes sees it
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert words(database) == []
    with database.writing() as writing:
        writing.execute("INSERT INTO words VALUES ('c')")
    database.close()
    assert words(Database(tmp_path, TABLE)) == ["c"]


def test_a_reader_neither_waits_for_a_writer_nor_sees_what_is_not_kept_yet(tmp_path: Path) -> None:
    database = Database(tmp_path, TABLE)
    seen: list[list[str]] = []
    with database.writing() as writing:
        writing.execute("INSERT INTO words VALUES ('a')")
        reader = threading.Thread(target=lambda: seen.append(words(database)))
        reader.start()
        reader.join(60)
    assert seen == [[]]
    assert words(database) == ["a"]


def test_its_version_changes_with_every_write_of_any_process(tmp_path: Path) -> None:
    one, other = Database(tmp_path, TABLE), Database(tmp_path, TABLE)
    seen = [one.version]
    assert one.version == seen[0]
    for number, each in enumerate((one, other)):
        with each.writing() as writing:
            writing.execute("INSERT INTO words VALUES (?)", (str(number),))
        seen.append(one.version)
    assert len(set(seen)) == 3


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "server.sqlite3").write_bytes(b"no database, and long enough to be looked at" * 100)
    with pytest.raises(StoreAway, match=r"server\.sqlite3 cannot be used") as caught:
        Database(tmp_path, TABLE)
    assert caught.value.hint


def test_a_second_room_that_opens_the_file_leaves_it_whole_for_the_first(tmp_path: Path) -> None:
    """POSIX drops all locks of a process on a file when it closes any descriptor of it: SQLite's own, too.

    Another process then takes the file for its own, and removes the log that this one still writes to.
    """
    first = Database(tmp_path, "CREATE TABLE IF NOT EXISTS things (name TEXT);")
    with first.writing() as connection:
        connection.execute("INSERT INTO things VALUES ('one')")
    second = Database(tmp_path)
    other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM things'); c.close()"
    subprocess.run([sys.executable, "-c", other, first.path], check=True)
    assert (tmp_path / "server.sqlite3-wal").exists()
    with first.writing() as connection:
        connection.execute("INSERT INTO things VALUES ('two')")
    assert [row["name"] for row in second.rows("SELECT name FROM things")] == ["one", "two"]
    first.close()
    second.close()

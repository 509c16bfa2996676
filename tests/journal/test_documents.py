from __future__ import annotations

import gc
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.redis_server import RedisServer

from swarmgate.errors import LedgerError, LedgerLocked, LedgerWriteFailed, StaleWriter
from swarmgate.journal import redis as documents_redis
from swarmgate.journal import sqlite as documents_sqlite
from swarmgate.journal.documents import FileDocuments
from swarmgate.journal.redis import RedisDocuments
from swarmgate.journal.sqlite import SqliteDocuments
from swarmgate.journal.store import Documents, opened, stores
from swarmgate.ledger.files.folder import SwarmFolder

Kind = Literal["files", "sqlite", "redis"]

EACH = pytest.mark.parametrize("kind", ["files", "sqlite", "redis"])
ODD = "Zürich\r\n\ttab \x00 nul \u2028 🦀 ' \" -- ;"

WORD = "hunter" * 2
"""The password of a Redis."""


@pytest.fixture
def where(kind: Kind, request: pytest.FixtureRequest) -> str:
    """What `[council] store` says."""
    return str(request.getfixturevalue("redis_server").address) if kind == "redis" else kind


@pytest.fixture
def store(folder: SwarmFolder, where: str) -> Documents:
    return opened(folder.path, where)


# --- what every store does ---


@EACH
def test_what_nobody_kept_is_not_there_and_looking_makes_nothing(folder: SwarmFolder, store: Documents) -> None:
    before = sorted(folder.path.rglob("*"))
    assert store.get("a", "manifest.json") is None
    assert (store.names("a"), store.records()) == ((), ())
    store.drop("a", "manifest.json")
    assert sorted(folder.path.rglob("*")) == before


@EACH
def test_texts_are_kept_replaced_added_to_renamed_and_dropped(
    folder: SwarmFolder, store: Documents, where: str
) -> None:
    store.put("b", "rounds/001.json", "old")
    store.put("b", "rounds/001.json", ODD, durable=False)
    store.append("b", "progress.md", "one\n")
    store.append("b", "progress.md", ODD)
    store.put("a.1", "x", "")
    store.put("b", "rounds/002.json.partial", "new")
    store.rename("b", "rounds/002.json.partial", "rounds/002.json")
    store.rename("a.1", "x", "deep/er/y")
    again = opened(folder.path, where)
    assert again.names("b") == ("progress.md", "rounds/001.json", "rounds/002.json")
    assert [again.get("b", name) for name in again.names("b")] == ["one\n" + ODD, ODD, "new"]
    assert (again.names("a.1"), again.get("a.1", "deep/er/y"), again.get("a.1", "x")) == (("deep/er/y",), "", None)
    assert again.records() == ("a.1", "b")
    again.rename("b", "rounds/002.json", "rounds/001.json")
    again.drop("b", "progress.md")
    assert store.names("b") == ("rounds/001.json",)
    assert store.get("b", "rounds/001.json") == "new"


@EACH
def test_a_text_that_is_not_there_has_no_other_name(store: Documents) -> None:
    store.put("a", "there", "kept")
    with pytest.raises(LedgerError, match=r"not there|No such file"):
        store.rename("a", "x", "there")
    assert store.get("a", "there") == "kept"


@EACH
@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", ".hidden", "a\\b", "a\nb", "x" * 121, "é"]
)
def test_no_name_leads_out_of_its_record(folder: SwarmFolder, store: Documents, name: str) -> None:
    store.put("a", "x", "kept")
    acts: tuple[Callable[[], object], ...] = (
        lambda: store.put("a", name, ""),
        lambda: store.append("a", name, ""),
        lambda: store.get("a", name),
        lambda: store.rename("a", "x", name),
        lambda: store.put(name, "x", ""),
        lambda: store.names(name),
    )
    for act in acts:
        with pytest.raises(LedgerError, match="no name of a record"):
            act()
    assert (store.records(), store.names("a")) == (("a",), ("x",))
    assert not (folder.root / "x").exists()


_WORDS = st.sampled_from(["a", "b", "c/d", "c/e"])
_ACTS = st.lists(st.tuples(st.sampled_from(["put", "append", "rename", "drop"]), _WORDS, _WORDS, st.text()), max_size=8)


@EACH
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])  # each has a project of its own
@given(acts=_ACTS)
def test_a_store_is_a_table_of_texts(where: str, acts: list[tuple[str, str, str, str]]) -> None:
    expected: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        store = opened(SwarmFolder(Path(place)).path, where)
        for act, name, other, given_text in acts:
            text = given_text.encode("utf-8", "replace").decode()
            match act:
                case "put":
                    store.put("r", name, text, durable=False)
                    expected[name] = text
                case "append":
                    store.append("r", name, text)
                    expected[name] = expected.get(name, "") + text
                case "rename" if name in expected:
                    store.rename("r", name, other)
                    expected[other] = expected.pop(name)
                case "drop":
                    store.drop("r", name)
                    expected.pop(name, None)
                case _:
                    pass
        assert {name: store.get("r", name) for name in store.names("r")} == expected


@EACH
def test_messages_name_a_text_as_the_user_finds_it(store: Documents, kind: Kind, where: str) -> None:
    shown = {
        "files": ".swarm/discussions/a/rounds/001.json",
        "sqlite": ".swarm/discussions.sqlite3: a/rounds/001.json",
        "redis": f"{where}: a/rounds/001.json",
    }
    assert store.place("a", "rounds/001.json") == shown[kind]


# --- files ---


@pytest.mark.parametrize("link", ["discussions", "discussions/a", "discussions/a/rounds", "discussions/a/rounds/1"])
def test_a_symbolic_link_on_the_way_is_refused(folder: SwarmFolder, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    (outside / "a" / "rounds").mkdir(parents=True)
    place = folder.path / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    store, before = FileDocuments(folder.path), sorted(outside.rglob("*"))
    acts: tuple[Callable[[], object], ...] = (
        lambda: store.put("a", "rounds/1", "x"),
        lambda: store.append("a", "rounds/1", "x"),
        lambda: store.get("a", "rounds/1"),
        lambda: store.drop("a", "rounds/1"),
    )
    for act in acts:
        with pytest.raises(LedgerError, match=rf"\.swarm/{link} is a symbolic link"):
            act()
    assert sorted(outside.rglob("*")) == before


def test_what_a_killed_writer_left_is_no_text(folder: SwarmFolder) -> None:
    store = FileDocuments(folder.path)
    store.put("a", "rounds/001.json", "x")
    (folder.discussions / "a" / "rounds" / ".swarmgate-abc.tmp").write_text("half")
    (folder.discussions / ".DS_Store").write_text("")
    (folder.discussions / "empty").mkdir()
    assert (store.names("a"), store.records()) == (("rounds/001.json",), ("a", "empty"))


def test_files_that_cannot_be_read_or_written_are_named(folder: SwarmFolder) -> None:
    store, place = FileDocuments(folder.path), folder.discussions / "a"
    store.put("a", "x", "kept")
    (place / "x").write_bytes(b"ok \xff")
    (place / "folder").mkdir()
    with pytest.raises(LedgerError, match=r"^\.swarm/discussions/a/x cannot be read: byte 4 is no UTF-8"):
        store.get("a", "x")
    with pytest.raises(LedgerError, match=r"^\.swarm/discussions/a/folder cannot be read: Is a directory"):
        store.get("a", "folder")
    assert store.get("a", "x/below") is None
    with pytest.raises(LedgerWriteFailed, match=r"discussions/a/x/below could not be written"):
        store.put("a", "x/below", "")


# --- SQLite ---


def test_a_damaged_file_a_foreign_one_and_a_newer_one_are_refused_and_stay(folder: SwarmFolder) -> None:
    store = SqliteDocuments(folder.path)
    store.put("a", "x", "kept")
    assert [path.name for path in folder.path.glob("discussions*")] == ["discussions.sqlite3"]
    whole = folder.records.read_bytes()
    folder.records.write_bytes(whole[:3000])
    with pytest.raises(LedgerError, match=r"^\.swarm/discussions\.sqlite3 is damaged.*malformed"):
        store.get("a", "x")
    folder.records.write_text("no database, and long enough to be taken for one: " * 20)
    with pytest.raises(LedgerError, match=r"is damaged.*not a database"):
        store.names("a")
    folder.records.write_bytes(whole)
    with closing(sqlite3.connect(folder.records)) as database:
        database.execute("UPDATE documents SET text = x'ff00'")
        database.commit()
        with pytest.raises(LedgerError, match="no text"):
            store.get("a", "x")
        database.execute("PRAGMA user_version = 7")
    with pytest.raises(LedgerError, match="has version 7 of its table"):
        store.records()
    folder.records.unlink()
    folder.records.mkdir()
    with pytest.raises(LedgerError, match="is no file"):
        store.put("a", "x", "")


def test_a_writer_that_never_ends_is_told(folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_sqlite, "BUSY_S", 0.05)
    store = SqliteDocuments(folder.path)
    store.put("a", "x", "kept")
    with closing(sqlite3.connect(folder.records, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        assert store.get("a", "x") == "kept"
        with pytest.raises(LedgerLocked, match=r"has been busy for 0\.05 s"):
            store.append("a", "x", "more")
    store.append("a", "x", " on")
    assert store.get("a", "x") == "kept on"


def test_the_file_is_opened_once_and_again_where_it_is_another_one(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens, connect = list[str](), sqlite3.connect

    def counted(place: str, **more: Any) -> sqlite3.Connection:
        opens.append(place)
        return cast("sqlite3.Connection", connect(place, **more))

    monkeypatch.setattr(sqlite3, "connect", counted)
    store = SqliteDocuments(folder.path)
    for number in range(5):
        store.put("a", f"x{number}", "kept", durable=bool(number % 2))
        assert store.get("a", f"x{number}") == "kept"
    assert len(opens) == 1
    backup = folder.records.read_bytes()
    store.put("a", "late", "lost with the backup that is brought back")
    folder.records.unlink()
    folder.records.write_bytes(backup)
    assert store.get("a", "late") is None
    store.put("a", "after", "kept")
    assert len(opens) == 2
    assert SqliteDocuments(folder.path).get("a", "after") == "kept"


def test_an_empty_file_is_looked_at_and_left_as_it_is(folder: SwarmFolder) -> None:
    folder.records.parent.mkdir(parents=True, exist_ok=True)
    folder.records.touch()
    store = SqliteDocuments(folder.path)
    assert (store.records(), store.get("a", "x"), folder.records.stat().st_size) == ((), None, 0)
    store.put("a", "x", "kept")
    assert store.records() == ("a",)


def test_a_forked_process_opens_the_file_for_itself_and_several_threads_share_it(folder: SwarmFolder) -> None:
    store = SqliteDocuments(folder.path)
    store.put("a", "log", "")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.append("a", "log", f"{number};"), range(20)))
    code = (
        "import os, sys; from pathlib import Path\n"
        "from swarmgate.journal.sqlite import SqliteDocuments\n"
        "from swarmgate.ledger.files.folder import SwarmFolder\n"
        f"store = SqliteDocuments(SwarmFolder(Path({str(folder.root)!r})).path)\n"
        "store.append('a', 'log', 'parent;')\n"
        "child = os.fork()\n"
        "store.append('a', 'log', 'child;' if child == 0 else 'both;')\n"
        "if child == 0: sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "store.append('a', 'log', 'end;')\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
    said = (store.get("a", "log") or "").split(";")[:-1]
    assert sorted(said) == sorted([*map(str, range(20)), "parent", "child", "both", "end"])
    assert said[-1] == "end"
    with closing(sqlite3.connect(folder.records)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.slow
def test_nothing_is_left_open(folder: SwarmFolder) -> None:
    store = SqliteDocuments(folder.path)
    store.put("a", "x", "kept")
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    del store
    gc.collect()
    assert not before or len(list(Path("/proc/self/fd").iterdir())) < before


# --- Redis ---


def test_projects_in_one_redis_do_not_see_each_other_and_a_moved_one_keeps_its_records(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    folder, other = SwarmFolder(tmp_path / "mine"), SwarmFolder(tmp_path / "other")
    RedisDocuments(folder.path, redis_server.address).put("a", "x", "mine")
    store = RedisDocuments(other.path, redis_server.address)
    assert (store.records(), store.get("a", "x")) == ((), None)
    store.put("b", "x", "its own")
    note = json.loads((folder.path / "discussions.redis").read_text())
    assert (note["address"], len(note["id"])) == (redis_server.address, 12)
    moved = folder.root.rename(tmp_path / "moved") / ".swarm"
    assert [each.records() for each in stores(moved)] == [(), ("a",)]
    assert RedisDocuments(moved, redis_server.address).get("a", "x") == "mine"


def test_a_redis_that_is_away_is_told_and_goes_on_when_it_is_back(
    folder: SwarmFolder, redis_server: RedisServer
) -> None:
    store = RedisDocuments(folder.path, redis_server.address)
    store.put("a", "x", "kept")
    lines = store.lines("a")
    lines.append(b"one\n")
    stamp = store.stamp("a")
    redis_server.kill()
    with pytest.raises(LedgerError, match=r"redis\.sock cannot be used: .*Connection refused"):
        store.get("a", "x")
    with pytest.raises(LedgerWriteFailed, match="seen on the next try"):
        lines.append(b"two\n")
    assert store.stamp("a") == stamp
    redis_server.start()
    lines.append(b"two\n")
    assert (store.get("a", "x"), store.lines("a").read()) == ("kept", b"one\ntwo\n")


def test_lines_whose_answer_was_lost_are_not_added_twice_and_those_of_others_are_told(
    folder: SwarmFolder, redis_server: RedisServer
) -> None:
    store = RedisDocuments(folder.path, redis_server.address)
    store.add_lines("a", [b"one\n", b"two\n"], expect=0, durable=True)
    store.add_lines("a", [b"one\n", b"two\n"], expect=0, durable=True)
    assert store.read_lines("a") == (b"one\n", b"two\n")
    for lines, expect in (([b"one\n", b"other\n"], 0), ([b"three\n"], 1), ([b"three\n"], 3)):
        with pytest.raises(StaleWriter, match="grew since it was read"):
            store.add_lines("a", lines, expect=expect, durable=True)
    assert (store.read_lines("a", after=1), store.read_lines("a", most=1)) == ((b"two\n",), (b"one\n",))
    assert store.names("a") == ("journal.jsonl",)


def test_the_stamp_changes_when_something_is_written(
    folder: SwarmFolder, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_redis, "_STAMP_S", 0.0)
    reader = RedisDocuments(folder.path, redis_server.address)
    store, stamps = RedisDocuments(folder.path, redis_server.address), [reader.stamp()]
    acts: tuple[Callable[[], object], ...] = (
        lambda: store.put("a", "x", "1"),
        lambda: store.append("a", "x", "2"),
        lambda: store.rename("a", "x", "y"),
        lambda: store.drop("a", "y"),
        lambda: store.lines("b").append(b"one\n"),
    )
    for act in acts:
        act()
        stamps.append(reader.stamp("a"))
    assert len(set(stamps)) == 6
    assert store.records() == ("b",)


def test_the_password_is_looked_up_and_a_note_that_is_none_is_told(
    folder: SwarmFolder, tmp_path: Path, redis_program: str
) -> None:
    guarded = RedisServer(tmp_path, redis_program, tcp=True, password=WORD)
    guarded.start()
    environ = {"TEAM_REDIS": WORD}
    store = opened(folder.path, guarded.address, password_env="TEAM_REDIS", environ=environ)
    store.put("a", "x", "kept")
    assert WORD not in (folder.path / "discussions.redis").read_text()
    with pytest.raises(LedgerError, match="TEAM_REDIS is not set"):
        opened(folder.path, guarded.address, password_env="TEAM_REDIS", environ={}).get("a", "x")
    with pytest.raises(LedgerError, match="cannot be used: it asks for a password"):
        opened(folder.path, guarded.address).get("a", "x")
    (folder.path / "discussions.redis").write_text("{}")
    for act in (lambda: list(stores(folder.path)), lambda: opened(folder.path, guarded.address).records()):
        with pytest.raises(LedgerError, match=r"discussions\.redis cannot be read: it is no note"):
            act()
    guarded.stop()


def test_records_that_are_in_another_store_than_the_settings_say_are_found(
    folder: SwarmFolder, redis_server: RedisServer
) -> None:
    SqliteDocuments(folder.path).put("s", "x", "1")
    FileDocuments(folder.path).put("f", "x", "1")
    RedisDocuments(folder.path, redis_server.address).put("r", "x", "1")
    found = {each.kind: (each.whole, each.records()) for each in stores(folder.path)}
    assert found == {
        "files": (".swarm/discussions", ("f",)),
        "sqlite": (".swarm/discussions.sqlite3", ("s",)),
        redis_server.address: (redis_server.address, ("r",)),
    }

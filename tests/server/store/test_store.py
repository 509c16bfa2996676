from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.redis_server import RedisServer, redis_program, redis_server

from swarmgate.config.server import Server
from swarmgate.errors import MissingRequirement, StoreAway
from swarmgate.server.store.model import Store, StreamRow
from swarmgate.server.store.opening import open_store
from swarmgate.server.store.redis import RedisStore
from swarmgate.server.store.sqlite import SqliteStore

__all__ = ["redis_program", "redis_server"]

EACH = pytest.mark.parametrize("kind", ["sqlite", "redis"])

WORD = "hunter" * 2
"""The password of a Redis."""


@pytest.fixture
async def store(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    where = "sqlite" if kind == "sqlite" else request.getfixturevalue("redis_server").address
    opened = open_store(Server(store=where), tmp_path, {})
    yield opened
    await opened.close()


def rows(*keys: str) -> list[StreamRow]:
    return [StreamRow(key, key.encode()) for key in keys]


# --- what every store does ---


@EACH
async def test_values_are_kept_replaced_claimed_and_deleted(store: Store) -> None:
    assert await store.get("result", "a") is None
    assert await store.put("result", "a", b"\x00old")
    assert await store.put("result", "a", b"new \xff")
    assert not await store.put("result", "a", b"late", only_new=True)
    assert await store.put("claim", "a", b"mine", only_new=True)
    assert await store.put("result", "b:*[x]", b"")
    assert (await store.get("result", "a"), await store.get("claim", "a")) == (b"new \xff", b"mine")
    assert await store.keys("result") == ("a", "b:*[x]")
    assert (await store.keys("res"), await store.keys("*")) == ((), ())
    await store.delete("result", "a")
    await store.delete("result", "never there")
    assert await store.keys("result") == ("b:*[x]",)


@EACH
@pytest.mark.slow
async def test_a_value_vanishes_when_its_time_is_over_and_may_be_claimed_again(store: Store) -> None:
    await store.put("claim", "short", b"1", ttl_s=0.5)
    await store.put("claim", "long", b"1", ttl_s=60)
    assert await store.get("claim", "short") == b"1"
    await asyncio.sleep(0.55)
    assert await store.get("claim", "short") is None
    assert await store.keys("claim") == ("long",)
    assert await store.put("claim", "short", b"2", only_new=True)
    assert await store.get("claim", "short") == b"2"


@EACH
async def test_one_of_many_gets_a_claim(store: Store) -> None:
    claims = await asyncio.gather(*(store.put("claim", "x", b"%d" % each, only_new=True) for each in range(20)))
    assert claims.count(True) == 1
    assert await store.get("claim", "x") == b"%d" % claims.index(True)


@EACH
async def test_rows_are_numbered_from_1_and_kept_once(store: Store) -> None:
    assert (await store.last("s"), await store.read("s", 0, 10), await store.append("s", [])) == (0, (), ())
    assert await store.append("s", rows("a", "b")) == (1, 2)
    assert await store.append("s", rows("b", "c", "a", "c", "d")) == (0, 3, 0, 0, 4)
    assert await store.append("other", rows("a")) == (1,)
    assert await store.read("s", 0, 10) == ((1, b"a"), (2, b"b"), (3, b"c"), (4, b"d"))
    assert await store.read("s", 1, 2) == ((2, b"b"), (3, b"c"))
    assert (await store.read("s", 4, 10), await store.last("s")) == ((), 4)
    await store.forget("s")
    assert (await store.last("s"), await store.last("other")) == (0, 1)
    assert await store.append("s", rows("c")) == (1,)


@EACH
async def test_writers_at_once_get_every_number_once(store: Store) -> None:
    given = await asyncio.gather(*(store.append("s", rows(f"{each}-a", f"{each}-b", "same")) for each in range(30)))
    numbers = sorted(number for each in given for number in each if number)
    assert numbers == list(range(1, 62))
    assert [seq for seq, _ in await store.read("s", 0, 1000)] == numbers


@EACH
async def test_what_was_dropped_is_gone_and_the_store_goes_on(store: Store) -> None:
    await store.put("result", "a", b"1")
    await store.append("s", rows("a"))
    life = await store.life()
    assert life
    await store.drop()
    await store.drop()
    assert (await store.get("result", "a"), await store.last("s")) == (None, 0)
    await store.ping()
    assert await store.append("s", rows("a")) == (1,)
    assert await store.life() == life


@EACH
async def test_another_process_that_opens_it_later_finds_it_all(
    tmp_path: Path, store: Store, kind: str, request: pytest.FixtureRequest
) -> None:
    await store.put("result", "a", b"1")
    await store.append("s", rows("a"))
    where = "sqlite" if kind == "sqlite" else request.getfixturevalue("redis_server").address
    again = open_store(Server(store=where), tmp_path, {})
    assert (await again.get("result", "a"), await again.last("s")) == (b"1", 1)
    await again.close()
    another = open_store(Server(store=where), tmp_path / "another-home", {})
    assert (await another.get("result", "a"), await another.last("s")) == (None, 0)
    await another.drop()
    await another.close()
    assert await store.get("result", "a") == b"1"


# --- SQLite ---


def _delete(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


async def test_the_file_is_for_its_owner_alone_and_reading_makes_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "home" / "state.sqlite3")
    assert not (tmp_path / "home").exists()
    assert await store.get("a", "b") is None
    assert (tmp_path / "home" / "state.sqlite3").stat().st_mode & 0o777 == 0o600
    await store.close()


async def test_a_file_that_was_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.sqlite3")
    await store.append("s", rows("a"))
    _delete(tmp_path)
    assert await store.last("s") == 0
    assert await store.append("s", rows("a")) == (1,)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as database:
        assert database.execute("SELECT count(*) FROM rows").fetchone() == (1,)


@pytest.mark.parametrize("content", [b"no database, and long enough to be taken for one: " * 40, b"SQLite format 3\0x"])
async def test_a_damaged_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.sqlite3"
    path.write_bytes(content)
    store = SqliteStore(path)
    assert await store.append("s", rows("a")) == (1,)
    assert (tmp_path / "state.sqlite3.damaged").read_bytes() == content
    await store.close()


async def test_a_file_of_another_version_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 7")
    store = SqliteStore(path)
    assert await store.last("s") == 0
    assert (tmp_path / "state.sqlite3.damaged").exists()
    await store.close()


async def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.sqlite3")
    await store.append("s", rows("a"))
    await store._call(lambda database: database.execute("PRAGMA max_page_count = 20"))
    with pytest.raises(StoreAway, match=r"state\.sqlite3 cannot be used: database or disk is full\. Nothing") as told:
        await store.append("s", [StreamRow("b", b"x"), StreamRow("big", b"x" * 500_000)])
    assert "Make room" in told.value.hint
    assert (await store.last("s"), await store.append("s", rows("b"))) == (1, (2,))
    await store.close()


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file in the place of the folder")
    store = SqliteStore(tmp_path / "home" / "state.sqlite3")
    with pytest.raises(StoreAway, match="cannot be used"):
        await store.ping()
    await store.close()


# --- Redis ---


async def test_a_redis_that_is_away_is_told_without_its_password_and_the_store_goes_on_when_it_is_back(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    store = RedisStore(redis_server.address, tmp_path)
    await store.append("s", rows("a"))
    life = await store.life()
    redis_server.kill()
    began = time.monotonic()
    acts = (store.ping(), store.get("a", "b"), store.last("s"), store.append("s", rows("b")), store.drop())
    for act in acts:
        with pytest.raises(StoreAway, match=r"The Redis at unix://.*redis\.sock cannot be used"):
            await act
    assert time.monotonic() - began < 20
    redis_server.start()
    assert (await store.last("s"), await store.append("s", rows("a", "b"))) == (1, (0, 2))
    assert await store.put("claim", "x", b"1", only_new=True)
    assert await store.life() != life
    await store.close()


async def test_a_redis_without_memory_refuses_writes_and_still_reads(tmp_path: Path, redis_server: RedisServer) -> None:
    store = RedisStore(redis_server.address, tmp_path)
    await store.append("s", rows("a"))
    await store._redis.config_set("maxmemory", "1kb")
    with pytest.raises(StoreAway, match="used memory > 'maxmemory'"):
        await store.append("s", rows("b"))
    assert await store.read("s", 0, 10) == ((1, b"a"),)
    await store._redis.config_set("maxmemory", "0")
    assert await store.append("s", rows("b")) == (2,)
    await store.close()


async def test_the_password_comes_from_the_environment(tmp_path: Path, redis_program: str) -> None:
    guarded = RedisServer(tmp_path, redis_program, tcp=True, password=WORD)
    guarded.start()
    home = tmp_path / "home"
    settings = Server(store=guarded.address, store_password_env="TEAM_REDIS")
    with pytest.raises(MissingRequirement, match="TEAM_REDIS is not set"):
        open_store(settings, home, {})
    for environ, works in (({"TEAM_REDIS": WORD}, True), ({"TEAM_REDIS": "wrong1"}, False)):
        store = open_store(settings, home, environ)
        if works:
            await store.ping()
        else:
            with pytest.raises(StoreAway) as told:
                await store.ping()
            assert "wrong1" not in f"{told.value}{told.value.hint}"
        await store.close()
    guarded.stop()

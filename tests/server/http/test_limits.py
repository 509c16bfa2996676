from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.server.http.conftest import WORDS, Served, Serving
from tests.server.redis_server import RedisServer

from swarmgate.config import Server, ServerLimits
from swarmgate.errors import TooMany
from swarmgate.server.http.limits import rates
from swarmgate.server.http.limits.rates import Caller, RateLimits

FEW = ServerLimits(writes_per_minute=3, logins_per_minute=2, sockets_per_minute=1)
ADA = Caller("a-1", "10.0.0.1")


@pytest.fixture(params=["sqlite", "redis"])
async def limits(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RateLimits]:
    store = request.param
    if store == "redis":
        store = request.getfixturevalue("redis_server").address
    made = RateLimits(FEW, store, tmp_path)
    yield made
    await made.aclose()


async def hits(limits: RateLimits, caller: Caller, kind: rates.Kind = "writes") -> int:
    """How many are let through."""
    for number in range(50):
        try:
            assert not (await limits.hit(kind, caller)).away
        except TooMany:
            return number
    return 50


async def test_each_account_may_so_much_and_an_address_ten_times_that(limits: RateLimits) -> None:
    assert await hits(limits, ADA) == 3
    assert await hits(limits, ADA, "sockets") == 1
    assert [await hits(limits, Caller(f"b-{each}", "10.0.0.1")) for each in range(9)] == [3] * 9
    assert await hits(limits, Caller("b-9", "10.0.0.1")) == 0  # the thirty-first of the address
    assert await hits(limits, Caller("b-10", "10.0.0.2")) == 3


async def test_who_is_nobody_is_counted_by_address(limits: RateLimits) -> None:
    assert await hits(limits, Caller("", "10.0.0.1")) == 3
    assert await hits(limits, Caller("", "10.0.0.2")) == 3
    assert await hits(limits, ADA) == 3


async def test_logins_are_counted_for_the_address_and_for_the_account(limits: RateLimits) -> None:
    assert await hits(limits, Caller("ada", "10.0.0.1"), "logins") == 2
    assert await hits(limits, Caller("bob", "10.0.0.1"), "logins") == 0
    assert await hits(limits, Caller("ada", "10.0.0.2"), "logins") == 0
    assert await hits(limits, Caller("bob", "10.0.0.3"), "logins") == 2


async def test_what_is_left_is_told(limits: RateLimits) -> None:
    left = [await limits.hit("writes", ADA) for _ in range(3)]
    assert [each.remaining for each in left] == [2, 1, 0]
    assert left[0].headers == {
        "RateLimit-Limit": "3",
        "RateLimit-Remaining": "2",
        "RateLimit-Reset": str(left[0].reset_s),
        "RateLimit-Policy": "3;w=60",
    }
    assert 58 <= left[2].reset_s <= 60
    with pytest.raises(TooMany, match="More than 3 changes in a minute") as caught:
        await limits.hit("writes", ADA)
    assert 58 <= caught.value.retry_after_s <= 60
    assert "writes_per_minute" in caught.value.hint


async def test_two_at_the_same_time_are_not_one(limits: RateLimits) -> None:
    done = await asyncio.gather(*(limits.hit("writes", ADA) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(each, TooMany) for each in done) == 17


# --- SQLite ---


async def test_the_minute_moves_and_a_clock_that_was_set_back_locks_nobody_out(tmp_path: Path) -> None:
    limits = RateLimits(FEW, "sqlite", tmp_path)
    await hits(limits, ADA)
    with sqlite3.connect(tmp_path / "limits.sqlite3") as database:
        database.execute("UPDATE hits SET time = time - 61")
    assert await hits(limits, ADA) == 3
    with sqlite3.connect(tmp_path / "limits.sqlite3") as database:
        database.execute("UPDATE hits SET time = time + 100000")
    assert await hits(limits, ADA) == 3
    database.close()
    await limits.aclose()


async def test_the_counts_outlive_a_restart_and_the_file_may_be_deleted(tmp_path: Path) -> None:
    first = RateLimits(FEW, "sqlite", tmp_path)
    assert await hits(first, ADA) == 3
    await first.aclose()
    second = RateLimits(FEW, "sqlite", tmp_path)
    assert await hits(second, ADA) == 0
    _deleted(tmp_path)
    assert await hits(second, ADA) == 3
    await second.aclose()


def _deleted(home: Path) -> None:
    for each in home.glob("limits.sqlite3*"):
        assert each.stat().st_mode & 0o077 == 0
        each.unlink()


# --- the store is away ---


async def test_while_the_store_is_away_memory_counts_and_says_so(redis_server: RedisServer, tmp_path: Path) -> None:
    limits = RateLimits(FEW, redis_server.address, tmp_path)
    assert not (await limits.hit("writes", ADA)).away
    redis_server.kill()
    assert [(await limits.hit("writes", ADA)).away for _ in range(3)] == [True] * 3
    with pytest.raises(TooMany):
        await limits.hit("writes", ADA)
    redis_server.start()
    limits._away_until = 0
    assert not (await limits.hit("writes", ADA)).away
    await limits.aclose()


@pytest.mark.slow
def test_what_may_spend_is_refused_while_the_store_is_away_and_stopping_is_not(
    redis_server: RedisServer, serve: Serving
) -> None:
    served = serve(Server(store=redis_server.address))
    ada = served.accounts.create("ada", password=WORDS)
    with served.client(headers=served.token(ada)) as client:
        assert client.post("/things", json={}).status_code == 201
        redis_server.kill()
        refused = client.post("/things", json={})
        assert (refused.status_code, refused.json()["code"]) == (503, "STORE_AWAY")
        assert refused.headers["retry-after"] == "5"
        assert client.post("/things", json={}, headers={"Idempotency-Key": "k"}).status_code == 503
        assert client.post("/things/stop").status_code == 200
        assert client.get("/who").json()["account"] == "ada"
        assert client.post("/login", json={"name": "ada", "password": WORDS}, headers={}).status_code == 200
        assert served.done == ["ada"]
        redis_server.start()
        ends = time.monotonic() + 20
        while client.post("/things", json={}).status_code != 201:
            assert time.monotonic() < ends
            time.sleep(0.2)


# --- over HTTP ---


def test_the_hundred_and_first_change_in_a_minute_has_to_wait(serve: Serving) -> None:
    served = serve()
    ada = served.accounts.create("ada")
    with served.client(headers=served.token(ada)) as client:
        answers = [client.post("/things", json={}) for _ in range(101)]
        assert [each.status_code for each in answers] == [201] * 100 + [429]
        assert answers[0].headers["ratelimit-remaining"] == "99"
        assert answers[100].json()["code"] == "RATE_LIMITED"
        assert 50 <= int(answers[100].headers["retry-after"]) <= 60
        assert client.get("/who").status_code == 200
        assert "ratelimit-limit" not in client.get("/who").headers


def test_the_eleventh_login_in_a_minute_is_not_even_tried(serve: Serving) -> None:
    served = serve(Server(limits=ServerLimits(writes_per_minute=100_000)))
    served.accounts.create("ada", password=WORDS)
    with served.client() as client:
        guessed = [client.post("/login", json={"name": "ada", "password": f"guess {each}"}) for each in range(10)]
        assert {each.status_code for each in guessed} == {401}
        right = client.post("/login", json={"name": "ada", "password": WORDS})
        assert (right.status_code, right.json()["code"]) == (429, "RATE_LIMITED")
    assert [each.action for each in served.accounts.log.page(limit=1000)] == ["login_refused"] * 10


@pytest.mark.slow
def test_of_ten_thousand_logins_ten_are_tried(serve: Serving) -> None:
    served = serve()
    served.accounts.create("ada", password=WORDS)
    began = time.monotonic()
    with served.client() as client, ThreadPoolExecutor(16) as attackers:

        def tried(number: int) -> int:
            return client.post("/login", json={"name": "ada", "password": str(number)}).status_code

        seen = Counter(attackers.map(tried, range(10_000)))
    minutes = int((time.monotonic() - began) / 60) + 1
    assert set(seen) == {401, 429}
    assert 10 <= seen[401] <= 10 * minutes
    assert len(served.accounts.log.page(limit=10_000)) == seen[401]


def test_many_addresses_of_a_header_are_one(served: Served) -> None:
    with served.client() as client:
        seen = {client.get("/who", headers={"X-Forwarded-For": f"10.0.0.{each}"}).json()["client"] for each in range(9)}
    assert seen == {"127.0.0.1"}

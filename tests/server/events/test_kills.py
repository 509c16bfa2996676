"""The process of the feed is killed again and again while ledgers grow: every line is told once, in its order."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.server.events.conftest import Project, feeding, taken
from tests.server.redis_server import RedisServer, redis_program, redis_server

from swarmgate.server.events.records import Followed

__all__ = ["redis_program", "redis_server"]

KILLS, GOALS = 10, 3


def collect(home: Path, followed: Sequence[Followed], store: str, started: Connection) -> None:
    """Collects until it is killed."""

    async def on() -> None:
        async with feeding(home, store=store) as feed:
            for each in followed:
                feed.follow(each)
            started.send("started")
            while True:
                feed.publish("noted", "the server's own")
                await asyncio.sleep(0.01)

    asyncio.run(on())


async def _storm(home: Path, projects: Sequence[Project], store: str) -> int:
    """Kills it at random moments while lines are written; how many each ledger has then."""
    context, rng, written = get_context("spawn"), random.Random(20), 0  # noqa: S311 - moments
    for _ in range(KILLS):
        ours, theirs = context.Pipe()
        process = context.Process(target=collect, args=(home, [each.followed for each in projects], store, theirs))
        process.start()
        assert await asyncio.to_thread(ours.poll, 60)
        for _ in range(rng.randrange(5, 40)):
            written += 1
            for each in projects:
                each.write(f"{each.followed.goal} {written}")
            await asyncio.sleep(rng.random() * 0.01)
        process.kill()
        await asyncio.to_thread(process.join)
    return written


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_kills_lose_nothing_and_double_nothing(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    store = "sqlite" if kind == "sqlite" else request.getfixturevalue("redis_server").address
    projects = [Project(tmp_path / f"work-{n}", goal=f"g-{n}") for n in range(GOALS)]
    written = await _storm(tmp_path / "home", projects, store)
    async with feeding(tmp_path / "home", *projects, store=store) as feed:
        own = 0
        while True:
            frames = await taken(feed, 0, feed.newest)
            ledgers = [each for each in frames if each.source == "ledger"]
            if len(ledgers) >= written * GOALS:
                break
            await asyncio.sleep(0.05)
        own = len(frames) - len(ledgers)
        assert feed.epoch == 0
    assert own > 0
    assert [each.seq for each in frames] == list(range(1, len(frames) + 1))
    for project in projects:
        told = [each.event.data["text"] for each in ledgers if each.goal == project.followed.goal]
        assert told == [f"{project.followed.goal} {n}" for n in range(1, written + 1)]


@pytest.mark.slow
async def test_a_redis_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, redis_server: RedisServer) -> None:
    project, rng, written = Project(tmp_path / "work"), random.Random(5), 0  # noqa: S311 - moments
    async with feeding(tmp_path / "home", project, store=redis_server.address) as feed:
        for _ in range(KILLS):
            for _ in range(rng.randrange(3, 20)):
                written += 1
                project.write(str(written))
                await asyncio.sleep(rng.random() * 0.02)
            redis_server.kill()
            await asyncio.sleep(rng.random() * 0.2)
            redis_server.start()
        frames = await taken(feed, 0, written)
        assert [each.event.data["text"] for each in frames] == [str(n) for n in range(1, written + 1)]
        assert feed.epoch == 0

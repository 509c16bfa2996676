from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from swarmgate.config.server import Server
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.model import Filter, Frame
from swarmgate.server.store.opening import open_store

ALL = Filter()


@pytest.fixture
async def feed(tmp_path: Path) -> AsyncIterator[Feed]:
    store = open_store(Server(), tmp_path, {})
    feed = Feed(store, tmp_path)
    await feed.start()
    yield feed
    await feed.close()
    await store.close()


async def taken(feed: Feed, after: int | None, count: int, wanted: Filter = ALL) -> list[Frame]:
    found: list[Frame] = []
    async with asyncio.timeout(20):
        async for frames in feed.subscribe(after, wanted):
            found += frames
            if len(found) >= count:
                break
    return found


async def test_what_is_published_is_told_once_and_in_order(feed: Feed) -> None:
    for number in range(300):
        feed.publish("noted", f"event {number}", repo="shop" if number % 2 else "", goal="g-1")
    frames = await taken(feed, 0, 300)
    assert [each.seq for each in frames] == list(range(1, 301))
    assert [each.event.text for each in frames] == [f"event {number}" for number in range(300)]

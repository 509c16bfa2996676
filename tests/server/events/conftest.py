"""A feed over a store that may be lost, and records as swarmgate writes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from swarmgate.config.server import Server
from swarmgate.council.records.lifecycle import Begun, Completed, Stopped
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import EVENTS, RevisionRequested
from swarmgate.journal.journal import Journal
from swarmgate.journal.lines import LinesFile
from swarmgate.journal.store import Documents
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.model import Filter, Frame
from swarmgate.server.events.records import Followed
from swarmgate.server.store.opening import open_store

ALL = Filter()
COUNCIL: dict[str, type[Frozen]] = {"begun": Begun, "stopped": Stopped, "completed": Completed}


def unfolded(state: int, entries: Iterable[Any]) -> int:
    """A fold that forbids nothing."""
    return state + len(list(entries))


class Project:
    """A `.swarm/` whose ledger and councils are written by tests."""

    def __init__(self, root: Path, repo: str = "shop", goal: str = "g-1") -> None:
        self.swarm = root / ".swarm"
        self.swarm.mkdir(parents=True)
        self.followed = Followed(repo, goal, self.swarm)
        self.ledger = Journal(LinesFile(self.swarm / "ledger.jsonl"), EVENTS, unfolded, 0)

    def write(self, *texts: str, actor: str = "user:ada") -> None:
        """Adds lines to the ledger."""
        events = [RevisionRequested(text=each) for each in texts]
        self.ledger.append(events, expect=self.ledger.seq, actor=actor, durable=False)


def council(documents: Documents, name: str, *events: Frozen) -> Journal[int]:
    """The journal of a council, with more events."""
    journal = Journal(documents.lines(name), COUNCIL, unfolded, 0)
    journal.append(list(events), expect=journal.seq, durable=False)
    return journal


@asynccontextmanager
async def feeding(home: Path, *projects: Project, store: str = "sqlite") -> AsyncIterator[Feed]:
    """A feed that follows projects, over a store that is closed with it."""
    opened = open_store(Server(store=store), home, {})
    feed = Feed(opened, home)
    for each in projects:
        feed.follow(each.followed)
    await feed.start()
    try:
        yield feed
    finally:
        await feed.close()
        await opened.close()


async def taken(feed: Feed, after: int | None, count: int, wanted: Filter = ALL) -> list[Frame]:
    """The next so many frames."""
    found: list[Frame] = []
    async with asyncio.timeout(90):
        async for frames in feed.subscribe(after, wanted):
            found += frames
            if len(found) >= count:
                break
    return found


async def more(reader: AsyncIterator[tuple[Frame, ...]], count: int) -> list[Frame]:
    """The next so many frames of a reader that goes on."""
    found: list[Frame] = []
    while len(found) < count:
        found += await anext(reader)
    return found


def texts(frames: Iterable[Frame]) -> list[str]:
    """The user's texts in ledger events."""
    return [each.event.data["text"] for each in frames]


async def until(there: Callable[[], bool], within_s: float = 20) -> None:
    """Waits for something."""
    ends = time.monotonic() + within_s
    while not there():
        assert time.monotonic() < ends, "it does not come"
        await asyncio.sleep(0.005)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "work")

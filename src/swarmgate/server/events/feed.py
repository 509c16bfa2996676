"""The feed: one stream of everything that happens in all goals and councils and in the server, in one order.

    feed = Feed(store, home)
    await feed.start()
    feed.follow(Followed(repo="shop", goal="g-0123456789ab", swarm=path / ".swarm"))
    async for frames in feed.subscribe(after=None, wanted=Filter()):
        ...

Records are the truth, the feed is a view of them: what is lost of it is collected again, under numbers of a new epoch.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from swarmgate.domain.text.redaction import masked, redact
from swarmgate.errors import StoreAway
from swarmgate.server.events.collector import Collector
from swarmgate.server.events.epoch import SPAN
from swarmgate.server.events.log import Log
from swarmgate.server.events.model import FeedEvent, Filter, Frame, stored
from swarmgate.server.events.records import Followed
from swarmgate.server.store.model import Store, StreamRow
from swarmgate.server.telemetry.metrics import Metrics

IDLE_S = 15.0
"""Seconds without an event after which a reader gets an empty batch, to say that the connection lives."""
LOOK_S = 1.0
"""Seconds between two looks whether the store still has what was told."""
RETRY_S = 0.5
"""Seconds until a store that was away is tried again."""
_CHUNK = 128
_FRESH_S = 60.0
"""Age in seconds up to which an event counts as one that has just happened, and not as one that is collected late."""
_WAITING = 10_000
"""Events of the server that wait for a store that is away; older ones are dropped, since nothing is decided by them."""

_logger = logging.getLogger(__name__)


class Feed:
    """The feed of one server; all methods are called in its event loop, but that `publish` may be from any thread.

    Args:
        store: that holds it.
        home: of the server; `feed.json` in it remembers the epoch.
        metrics: of the server: events are counted in it.
        secrets: values that no event may hold, beside what looks like one.
    """

    def __init__(
        self, store: Store, home: Path, metrics: Metrics | None = None, *, secrets: tuple[str, ...] = ()
    ) -> None:
        self.metrics = metrics or Metrics()
        self._mask = partial(redact, secrets=secrets)
        self._collector = Collector(self, self._mask)
        self._log = Log(store, home, self._grew, self._collector.again)
        self._ended = self._closing = False
        self._grown = asyncio.Event()
        self._waiting: deque[tuple[str, bytes]] = deque(maxlen=_WAITING)
        self._work = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def newest(self) -> int:
        """The seq of the newest event; that before the first one, where there is none. Raises `StoreAway`."""
        return self._log.window.newest

    @property
    def epoch(self) -> int:
        """Counts how often the feed was made anew. Raises `StoreAway`."""
        return self._log.window.base // SPAN

    async def start(self) -> None:
        """Begins to collect. A store that is away is tried again and again: until then every reader is refused."""
        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(StoreAway):
            await self._log.look()
        self._collector.start(self._loop)
        self._task = asyncio.create_task(self._write(), name="feed")

    async def close(self) -> None:
        """Ends; what was published is stored, and what is on record now was collected, if the store is there."""
        await asyncio.to_thread(self._collector.stop)
        if self._task is not None:
            self._closing = True
            self._work.set()
            await self._task
        with contextlib.suppress(StoreAway):
            await self._flush()
            self._log.end()
        self._loop = None

    def end(self) -> None:
        """Ends all subscriptions, so that a server that stops need not wait for its readers."""
        self._ended = True
        self._grew(())

    def follow(self, followed: Followed) -> None:
        """Collects from a project folder from now on, and what is on record there already. One folder counts once."""
        self._collector.follow(followed)

    def follow_all(self, listed: Callable[[], Iterable[Followed]]) -> None:
        """Collects from what is listed, as long as it is; that is asked now and then, in a thread."""
        self._collector.follow_all(listed)

    def publish(
        self,
        type: str,  # noqa: A002 - the field's name
        text: str,
        *,
        repo: str = "",
        goal: str = "",
        task: str = "",
        actor: str = "server",
        data: dict[str, Any] | None = None,
    ) -> None:
        """Tells an event of the server itself, at once and without waiting; it is stored as soon as the store is there.

        Args:
            type: of the event, such as `run_started`.
            text: in words.
            repo: id of the repository; empty: only administrators see it.
            goal: id of the goal, if it is of one.
            task: id of the task, if it is about one.
            actor: who did it.
            data: more of it, as JSON has it.
        """
        event = FeedEvent(
            seq=0,
            time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            repo=repo,
            goal=goal,
            source="server",
            record="server",
            type=type,
            task=task,
            actor=actor,
            text=self._mask(text),
            data=masked({**(data or {}), "type": type}, self._mask),
        )
        self._waiting.append((uuid.uuid4().hex, stored(event)))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._work.set)

    async def read(self, after: int, limit: int, wanted: Filter) -> tuple[FeedEvent, ...]:
        """At most `limit` events behind `after` that match, oldest first; raises `StoreAway`."""
        window, found = self._log.window, list[FeedEvent]()
        at = max(after, window.base)
        while len(found) < limit and (frames := await window.after(at)):
            found += [each.event for each in frames if each.matches(wanted)]
            at = frames[-1].seq
        return tuple(found[:limit])

    async def subscribe(
        self, after: int | None, wanted: Filter, *, idle_s: float = IDLE_S
    ) -> AsyncGenerator[tuple[Frame, ...], None]:
        """Yields what matches, in batches, each event once and in order, until the feed ends.

        A reader costs no memory but its place: it is served from what all share, and may be as slow as it likes. A
        reader whose place is of an epoch that is over gets a frame of type `reset` first, then the feed from its
        beginning.

        Args:
            after: the seq that the reader has; None: only what happens from now on; 0: everything.
            wanted: what it is sent.
            idle_s: seconds without an event after which it gets an empty batch.

        Raises:
            StoreAway: the store is away, and what is wanted is not in memory; the reader may come again.
        """
        window = self._log.window
        at = window.newest if after is None else after
        if at == 0:
            at = window.base
        while not self._ended:
            if window is not self._log.window or not window.base <= at <= window.newest:
                window = self._log.window
                at = window.base
                yield (self._reset(at),)
            grown = self._grown
            frames = await window.after(at)
            if frames:
                at = frames[-1].seq
                if matching := tuple(each for each in frames if each.matches(wanted)):
                    yield matching
                else:
                    await asyncio.sleep(0)  # a long way without a match lets others go on
            elif at < window.newest:
                self._work.set()  # rows that were told are not there: the writer looks what became of the store
                await _set(grown, idle_s)
            elif not await _set(grown, idle_s):
                yield ()  # for a heartbeat

    async def rebuild(self) -> None:
        """Collects everything anew, in a new epoch; raises `StoreAway`."""
        await self._log.renew()

    # --- what is collected ---

    async def cursor(self, record: str) -> bytes | None:
        """How far a record was collected; see `collector.Sink`."""
        return await self._log.cursor(record)

    async def keep(self, record: str, rows: list[StreamRow], cursor: bytes) -> bool:
        """Appends lines of a record, each once, and remembers how far that is; see `collector.Sink`."""
        if not await self._log.append(rows):
            return False
        await self._log.note(record, cursor)
        return True

    async def trouble(self, followed: Followed, record: str, why: str) -> None:
        """Tells readers that a record cannot be read on in; see `collector.Sink`."""
        data = {"record": record, "why": why}
        self.publish("unreadable", why, repo=followed.repo, goal=followed.goal, data=data)

    # --- the writer ---

    async def _write(self) -> None:
        """Writes what was published, and looks now and then whether the store is still the one that it was."""
        away = False
        while not self._closing:
            await _set(self._work, LOOK_S)
            self._work.clear()
            try:
                await self._log.look()
                await self._flush()
            except StoreAway as error:
                if not away:
                    _logger.warning("Nothing that may spend is begun before the store is back: %s", error.message)
                away = True
                await asyncio.sleep(RETRY_S)
                self._work.set()
            else:
                if away:
                    _logger.warning("The store is back.")
                away = False

    async def _flush(self) -> None:
        while self._waiting:
            rows = [StreamRow(f"server/{key}", value) for key, value in islice(self._waiting, _CHUNK)]
            if await self._log.append(rows):
                for _ in rows:
                    self._waiting.popleft()

    def _grew(self, frames: Sequence[Frame]) -> None:
        self._grown.set()
        self._grown = asyncio.Event()
        now = time.time()
        for each in frames:
            self.metrics.events.labels(each.source).inc()
            if (age := now - datetime.fromisoformat(each.time).timestamp()) < _FRESH_S:
                self.metrics.lag.observe(max(age, 0.0))

    def _reset(self, base: int) -> Frame:
        said = b'{"seq":%d,"type":"reset","epoch":%d}' % (base, self._log.epoch)
        return Frame(base, "", "server", "", "", "", "reset", said, name="reset")


async def _set(event: asyncio.Event, within_s: float) -> bool:
    """Whether the event is set within that time."""
    try:
        async with asyncio.timeout(within_s):  # `wait_for` may swallow that the task was cancelled
            await event.wait()
    except TimeoutError:
        return False
    return True

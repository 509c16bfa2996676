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
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from swarmgate.domain.text.redaction import masked, redact
from swarmgate.errors import StoreAway
from swarmgate.server.events.collector import Collector
from swarmgate.server.events.epoch import SPAN, Epochs, cursors, stream
from swarmgate.server.events.model import FeedEvent, Filter, Frame, frame, stored
from swarmgate.server.events.records import Followed
from swarmgate.server.events.window import Window
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

_log = logging.getLogger(__name__)


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
        self._store, self._epochs = store, Epochs(store, home)
        self._mask = partial(redact, secrets=secrets)
        self._collector = Collector(self, self._mask)
        self._window: Window | None = None
        self._epoch = -1
        self._ended = False
        self._grown = asyncio.Event()
        self._writing = asyncio.Lock()
        self._waiting: deque[tuple[str, bytes]] = deque(maxlen=_WAITING)
        self._work = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def newest(self) -> int:
        """The seq of the newest event; that before the first one, where there is none. Raises `StoreAway`."""
        return self._opened().newest

    @property
    def epoch(self) -> int:
        """Counts how often the feed was made anew. Raises `StoreAway`."""
        self._opened()
        return self._epoch

    async def start(self) -> None:
        """Begins to collect. A store that is away is tried again and again: until then every reader is refused."""
        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(StoreAway):
            await self._open()
        self._collector.start(self._loop)
        self._task = asyncio.create_task(self._write(), name="feed")

    async def close(self) -> None:
        """Ends; what was published is stored, and what is on record now was collected, if the store is there."""
        await asyncio.to_thread(self._collector.stop)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        with contextlib.suppress(StoreAway):
            await self._flush()
            if self._window is not None:
                self._epochs.end(self._epoch, self._window.newest - self._window.base)
        self._loop = None

    def end(self) -> None:
        """Ends all subscriptions, so that a server that stops need not wait for its readers."""
        self._ended = True
        self._wake()

    def follow(self, followed: Followed) -> None:
        """Collects from a project folder from now on, and what is on record there already. One folder counts once."""
        self._collector.follow(followed)

    def unfollow(self, swarm: Path) -> None:
        """Collects from a project folder (`.swarm`) no more; what was told stays."""
        self._collector.unfollow(swarm)

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
        window, found = self._opened(), list[FeedEvent]()
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
        window = self._opened()
        at = window.newest if after is None else after
        if at == 0:
            at = window.base
        while not self._ended:
            if window is not self._opened() or not window.base <= at <= window.newest:
                window = self._opened()
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
        async with self._writing:
            await self._renew()

    # --- what is collected ---

    async def cursor(self, record: str) -> bytes | None:
        """How far a record was collected; see `collector.Sink`."""
        self._opened()
        return await self._store.get(cursors(self._epoch), record)

    async def keep(self, record: str, rows: list[StreamRow], cursor: bytes) -> bool:
        """Appends lines of a record, each once, and remembers how far that is; see `collector.Sink`."""
        self._opened()
        async with self._writing:
            if not await self._append(rows):
                return False
            await self._store.put(cursors(self._epoch), record, cursor)
        return True

    async def trouble(self, followed: Followed, record: str, why: str) -> None:
        """Tells readers that a record cannot be read on in; see `collector.Sink`."""
        data = {"record": record, "why": why}
        self.publish("unreadable", why, repo=followed.repo, goal=followed.goal, data=data)

    # --- the writer ---

    def _opened(self) -> Window:
        if self._window is None:
            raise StoreAway("The events of the server cannot be read now.", hint="Its store is away: try again later.")
        return self._window

    async def _write(self) -> None:
        """Writes what was published, and looks now and then whether the store is still the one that it was."""
        while True:
            await _set(self._work, LOOK_S)
            self._work.clear()
            try:
                await self._look()
                await self._flush()
            except StoreAway as error:
                _log.warning("The feed waits for its store: %s", error.message)
                await asyncio.sleep(RETRY_S)
                self._work.set()

    async def _flush(self) -> None:
        while self._window is not None and self._waiting:
            rows = [StreamRow(f"server/{key}", value) for key, value in islice(self._waiting, _CHUNK)]
            async with self._writing:
                kept = await self._append(rows)
            for _ in rows if kept else ():
                self._waiting.popleft()

    async def _look(self) -> None:
        async with self._writing:
            if self._window is None:
                await self._open()
            else:
                await self._caught_up()

    async def _append(self, rows: Sequence[StreamRow]) -> bool:
        """Appends rows; whether they are in the feed: not, where all of it was lost, and a new epoch began."""
        window = self._opened()
        numbers = await self._store.append(stream(self._epoch), rows)
        new = [(window.base + seq, row.value) for seq, row in zip(numbers, rows, strict=True) if seq]
        if new and new[0][0] == window.newest + 1:
            self._extend(window, new)
            return True
        return await self._caught_up()

    async def _caught_up(self) -> bool:
        """Takes in rows whose append was not answered; False where rows that were told are gone: an epoch begins."""
        window, name = self._opened(), stream(self._epoch)
        last = window.base + await self._store.last(name)
        if last < window.newest or not await self._epochs.lasts(self._epoch):
            await self._renew()
            return False
        while rows := await self._store.read(name, window.newest - window.base, _CHUNK):
            self._extend(window, [(window.base + seq, value) for seq, value in rows])
        return True

    def _extend(self, window: Window, rows: Sequence[tuple[int, bytes]]) -> None:
        frames = [frame(seq, value) for seq, value in rows]
        window.extend(frames)
        self._wake()
        now = time.time()
        for each in frames:
            self.metrics.events.labels(each.source).inc()
            if (age := now - datetime.fromisoformat(each.time).timestamp()) < _FRESH_S:
                self.metrics.lag.observe(max(age, 0.0))

    async def _open(self) -> None:
        self._epoch, rows = await self._epochs.begin()
        self._take(rows)

    async def _renew(self) -> None:
        self._epoch = await self._epochs.next(self._epoch)
        self._take(0)
        self._collector.again()

    def _take(self, rows: int) -> None:
        base = self._epoch * SPAN
        self._window = Window(self._store, stream(self._epoch), base=base, newest=base + rows)
        self._wake()

    def _reset(self, base: int) -> Frame:
        said = b'{"seq":%d,"type":"reset","epoch":%d}' % (base, self._epoch)
        return Frame(base, "", "server", "", "", "", "reset", said, name="reset")

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()


async def _set(event: asyncio.Event, within_s: float) -> bool:
    """Whether the event is set within that time."""
    try:
        async with asyncio.timeout(within_s):  # `wait_for` may swallow that the task was cancelled
            await event.wait()
    except TimeoutError:
        return False
    return True

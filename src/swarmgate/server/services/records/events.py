"""Events of the feed as one account sees them: only what it may see, and no longer than it may."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager

from swarmgate.errors import Full, NotAllowed, StoreAway
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.model import FeedEvent, Filter, Frame
from swarmgate.server.services.reading.access import Access

CHECK_S = 1.0
"""Seconds that a permission may be older than what is sent under it."""
MOST = 2_000
"""Streams that are open at once; each costs a connection, and what the system buffers for it."""
_FULL = Full(f"{MOST:,} streams of events are open.", hint="Close some, or try again later.")

Prove = Callable[[], Principal]
"""Says who asks, by what proved it at first; raises `Unauthenticated` where that is over, revoked or disabled."""


class Events:
    """The feed, as far as somebody may see it.

    Args:
        access: says who may see what.
        feed: of the server.
    """

    def __init__(self, access: Access, feed: Feed) -> None:
        self._access, self._feed = access, feed
        self._open = 0

    @property
    def newest(self) -> int:
        """The seq behind which a page that is made now goes on; 0, where it cannot be told: then from the beginning."""
        try:
            return self._feed.newest
        except StoreAway:
            return 0

    @contextmanager
    def opened(self, kind: str) -> Iterator[None]:
        """Counts a stream while it is open; `kind` is `sse` or `websocket`.

        Raises:
            Full: there are as many as the server serves.
        """
        if self._open >= MOST:
            raise _FULL
        gauge = self._feed.metrics.streams.labels(kind)
        self._open += 1
        gauge.inc()
        try:
            yield
        finally:
            self._open -= 1
            gauge.dec()

    async def check(self, who: Principal, wanted: Filter) -> None:
        """Insists that a stream may be opened; raises as `past`."""
        await self._narrowed(who, wanted)
        if self._feed.newest >= 0 and self._open >= MOST:
            raise _FULL

    async def past(self, who: Principal, after: int, limit: int, wanted: Filter) -> tuple[FeedEvent, ...]:
        """At most `limit` events behind `after`, oldest first.

        Raises:
            NotFound: the filter names a repository or a goal that is not there, or that may not be seen.
            StoreAway: the feed cannot be read.
        """
        return await self._feed.read(after, limit, await self._narrowed(who, wanted))

    async def stream(self, prove: Prove, after: int | None, wanted: Filter) -> AsyncGenerator[tuple[Frame, ...], None]:
        """Yields as `Feed.subscribe`, with the permission looked at again as time goes by.

        Raises:
            Unauthenticated: what proved the account proves it no more.
            NotAllowed: something that it saw was taken from it.
            NotFound: as `past`; or what the filter names is gone.
            StoreAway: the feed cannot be read.
        """
        who, checked = prove(), time.monotonic()
        allowed = await self._narrowed(who, wanted)
        at = self._feed.newest if after is None else after
        batches = self._feed.subscribe(at, allowed)
        try:
            while (frames := await anext(batches, None)) is not None:
                if time.monotonic() - checked >= CHECK_S:
                    now, checked = prove(), time.monotonic()
                    if _lost(who, now):
                        raise NotAllowed("What this stream is about may not be seen any more.", hint="Ask an admin.")
                    who, again = now, await self._narrowed(now, wanted)
                    if again != allowed:  # more may be seen: from here on
                        await batches.aclose()
                        allowed, batches = again, self._feed.subscribe(at, again)
                        continue
                if frames:
                    at = frames[-1].seq
                yield frames
        finally:
            await batches.aclose()

    async def _narrowed(self, who: Principal, wanted: Filter) -> Filter:
        """The filter, within what the account may see."""
        if wanted.repos or wanted.goal:
            await asyncio.to_thread(self._look_up, who, wanted)
        return wanted.within(who.repositories, server=who.may(Role.ADMIN))

    def _look_up(self, who: Principal, wanted: Filter) -> None:
        for repo in wanted.repos or ():
            self._access.repository(who, repo)
        if wanted.goal:
            self._access.goal(who, wanted.goal)


def _lost(before: Principal, now: Principal) -> bool:
    """Whether the account may see less than it did."""
    if before.may(Role.ADMIN) and not now.may(Role.ADMIN):
        return True
    if now.repositories is None:
        return False
    return before.repositories is None or not before.repositories <= now.repositories

"""Tells sockets what becomes of the councils whose rooms they are in: each event once to each socket, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from swarmgate.errors import StoreAway, SwarmError, Unauthenticated
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.model import Filter
from swarmgate.server.reference.executions import Executions
from swarmgate.server.reference.members import Members, Told
from swarmgate.server.reference.progress import Happened

_LOOK_S = 2.0
"""Seconds after which a council is looked at though the feed has nothing of it."""

Tell = Callable[[str, Happened], Awaitable[None]]
Refuse = Callable[[str, Unauthenticated], Awaitable[None]]


class Watching:
    """The councils that sockets are told of.

    Args:
        feed: wakes when a line of a journal came.
        run: reads councils.
        members: the sockets.
        tell: sends an event to a socket.
        refuse: cuts a socket off whose proof is over.
    """

    def __init__(self, feed: Feed, run: Executions, members: Members, tell: Tell, refuse: Refuse) -> None:
        self._feed, self._run, self._members, self._tell, self._refuse = feed, run, members, tell, refuse
        self._tasks: dict[str, asyncio.Task[object]] = {}
        self._looking: dict[str, asyncio.Lock] = {}

    def begin(self, id: str, room: str) -> None:  # noqa: A002 - the field's name
        """Tells the sockets of a room of a council: what was so far, and what comes."""
        if id not in self._tasks:
            self._looking.setdefault(id, asyncio.Lock())
            self._begin(id, self._watch(id, room))
        else:
            self._begin(f"{id} again", self._look(id, room))

    async def close(self) -> None:
        """Tells nothing any more."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- inside ---

    def _begin(self, name: str, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work, name=f"watch {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None) if self._tasks.get(name) is task else None)

    async def _watch(self, id: str, room: str) -> None:  # noqa: A002 - the field's name
        """Looks at a council whenever something was written of it, until it is over or nobody listens."""
        over = await self._look(id, room)
        while not over and self._members.joined(room):
            async with aclosing(self._told_of(id)) as looks:
                async for _ in looks:
                    over = await self._look(id, room)
                    if over or not self._members.joined(room):
                        break

    async def _told_of(self, id: str) -> AsyncGenerator[None, None]:  # noqa: A002 - the field's name
        """Yields when something was told of a council, and now and then."""
        sign = f'"{id}"'.encode()
        try:
            async with aclosing(self._feed.subscribe(None, Filter(), idle_s=_LOOK_S)) as batches:
                yield  # what was told before this
                async for frames in batches:
                    if not frames or any(sign in each.json for each in frames):
                        yield
        except StoreAway:
            await asyncio.sleep(_LOOK_S)

    async def _look(self, id: str, room: str) -> bool:  # noqa: A002 - the field's name
        """Tells every socket what it was not told yet; whether nothing follows by itself."""
        over = False
        async with self._looking[id]:
            for sid in self._members.joined(room):
                try:
                    over = await self._catch_up(sid, id) or over
                except Unauthenticated as error:
                    await self._refuse(sid, error)
                except StoreAway:
                    continue
                except SwarmError:  # it may not see it any more, or it cannot be read
                    self._members.leave_room(sid, room)
        return over

    async def _catch_up(self, sid: str, id: str) -> bool:  # noqa: A002 - the field's name
        seen = await self._run.seen(await self._members.principal(sid), id)
        if sid not in self._members:
            return seen.over
        told = self._members[sid].told.get(id, Told(0))
        news = [*seen.events[told.events :], *(seen.end if seen.over and not told.ended else ())]
        self._members[sid].told[id] = Told(len(seen.events), seen.over)
        for event in news:
            await self._tell(sid, event)
        return seen.over

"""Operations: what takes a while, begun for who may, done beside requests, its result kept for a day.

begun = await operations.begin(who, goal, "doctor", lambda: acting.decide(who, goal, doctor, apart=True))
found = await operations.get(who, begun.id)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from swarmgate.domain.text.cleaning import plain
from swarmgate.errors import NotFound, SwarmError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.goals import new_id, now
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.views.operation import Kind, OperationView, Result
from swarmgate.server.store.model import Store

_log = logging.getLogger("swarmgate.server")

KEPT_S = 24 * 3600.0
"""Seconds for which what came of one is kept."""
_KIND = "operations"
_CUT_SHORT = "The server ended before it was over."


@dataclass(frozen=True)
class Operations:
    """The operations of a server. Belongs to one event loop.

    Attributes:
        access: who may see what.
        store: of what came of them.
        turns: as many go on at once; the others wait.
    """

    access: Access
    store: Store
    turns: asyncio.Semaphore
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict, init=False, repr=False)

    async def begin(
        self, who: Principal, goal: Goal, kind: Kind, work: Callable[[], Awaitable[Result]], *, token: str = ""
    ) -> OperationView:
        """Begins one.

        Args:
            who: asks; whether they may was asked before.
            goal: whose it is.
            kind: what it is.
            work: does it.
            token: of the request, where that may come again: the one that it began is then found instead.

        Raises:
            StoreAway: what came of it could not be kept.
        """
        id = new_id("o", token)  # noqa: A001 - the field's name
        if token and (known := await self._kept(id)) is not None:
            return self._as_it_is(known)
        view = OperationView(id=id, goal=goal.id, kind=kind, state="working", by=who.actor, began=now())
        await self._keep(view)
        await self.store.put(_of(goal.id), f"{view.began} {id}", b"", ttl_s=KEPT_S)
        task = self._tasks[id] = asyncio.create_task(self._done(view, work))
        task.add_done_callback(lambda _: self._tasks.pop(id, None))
        return view

    async def get(self, who: Principal, id: str) -> OperationView:  # noqa: A002 - the field's name
        """One of them, with what came of it where it is over.

        Raises:
            NotFound: there is none, or none any more, or none that may be seen.
        """
        kept = await self._kept(id)
        if kept is None:
            raise unknown("operation")
        try:
            self.access.goal(who, kept.goal)
        except NotFound:
            raise unknown("operation") from None
        return self._as_it_is(kept)

    async def of(self, who: Principal, goal: str, *, most: int = 5) -> tuple[OperationView, ...]:
        """The newest ones of a goal, the newest first."""
        self.access.goal(who, goal)
        names = sorted(await self.store.keys(_of(goal)), reverse=True)[:most]
        found = [await self._kept(name.partition(" ")[2]) for name in names]
        return tuple(self._as_it_is(each) for each in found if each is not None)

    async def close(self) -> None:
        """Ends those that go on: whoever looks at them is told."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- inside ---

    async def _done(self, view: OperationView, work: Callable[[], Awaitable[Result]]) -> None:
        """Does it, and keeps what came of it."""
        try:
            async with self.turns:
                result = await work()
            over = view.model_copy(update={"state": "complete", "result": result})
        except SwarmError as error:
            told = {"problem": plain(error.message), "hint": plain(error.hint), "code": error.code}
            over = view.model_copy(update={"state": "failed", **told})
        except Exception:  # noqa: BLE001 - the boundary: whoever looks at it is told
            _log.exception("bug", extra={"operation": view.id, "kind": view.kind})
            told = {"problem": "This is a bug in swarmgate.", "hint": "It is in the server's log.", "code": "BUG"}
            over = view.model_copy(update={"state": "failed", **told})
        await self._keep(over)

    async def _keep(self, view: OperationView) -> None:
        await self.store.put(_KIND, view.id, view.model_dump_json().encode(), ttl_s=KEPT_S)

    async def _kept(self, id: str) -> OperationView | None:  # noqa: A002 - the field's name
        found = await self.store.get(_KIND, id)
        return None if found is None else OperationView.model_validate_json(found)

    def _as_it_is(self, kept: OperationView) -> OperationView:
        """It, or that nobody is at it any more."""
        if kept.state != "working" or kept.id in self._tasks:
            return kept
        return kept.model_copy(update={"state": "failed", "problem": _CUT_SHORT, "hint": "Begin it again."})


def _of(goal: str) -> str:
    """The kind under which the store keeps which operations a goal has."""
    return f"{_KIND}-{goal}"

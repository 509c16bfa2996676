"""Puts the endpoints and the sockets of ADR 0007 into an application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from swarmgate.config import Config
from swarmgate.errors import TooMany
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.events.feed import Feed
from swarmgate.server.http import problems
from swarmgate.server.http.door import CLOSE_LIMIT, COUNTS_ITSELF, caller_of, closed
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.reference import envelope, openapi, routes
from swarmgate.server.services.services import Services

if TYPE_CHECKING:
    from swarmgate.server.reference.sockets import Sockets

PATH = COUNTS_ITSELF


def install(
    app: FastAPI, settings: Config, *, services: Services, feed: Feed, accounts: Accounts, limits: RateLimits
) -> AbstractAsyncContextManager[SocketsOnDemand]:
    """Adds the routes and mounts the sockets, which are closed at the end of the context that is given back.

    Args:
        app: of the server.
        settings: of the server.
        services: what is asked for.
        feed: wakes who tells sockets.
        accounts: who may come in.
        limits: how often.
    """
    app.router.routes.extend(routes.router.routes)  # as those of the interface, for the same reasons
    problems.speak(app, routes.PREFIX, envelope.dialect)
    app.add_api_route(openapi.PATH, cache(lambda: openapi.document(app)), include_in_schema=False)

    def make(kind: type[Sockets]) -> Sockets:
        return kind(services, feed, accounts, limits, most_bytes=settings.server.limits.body_bytes)

    sockets = SocketsOnDemand(make, limits)
    app.mount(PATH, sockets)
    return aclosing(sockets)


class SocketsOnDemand:
    """The sockets, made for the first client that wants one: Socket.IO takes half a second to load, and most want none.

    Whoever opens one is counted, by the address where nobody knows yet who it is: by long polling as by WebSocket.

    Args:
        make: makes them of their class.
        limits: how often one may be opened.
    """

    def __init__(self, make: Callable[[type[Sockets]], Sockets], limits: RateLimits) -> None:
        self._make, self._limits = make, limits
        self._made: Sockets | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on.

        Raises:
            TooMany: it would open one too many; a WebSocket is closed instead.
        """
        sid = "".join(parse_qs(scope.get("query_string", b"").decode("latin-1")).get("sid", ()))
        if self._made is None or not self._made.has(sid):
            try:
                await self._limits.hit("sockets", caller_of(scope))
            except TooMany as error:
                if scope["type"] != "websocket":
                    raise
                await closed(receive, send, CLOSE_LIMIT, error.message)
                return
        async with self._making:
            if self._made is None:
                found = await asyncio.to_thread(import_module, "swarmgate.server.reference.sockets")
                self._made = self._make(found.Sockets)
        await self._made.application(scope, receive, send)

    async def aclose(self) -> None:
        """Closes the sockets, if anybody had one."""
        if self._made is not None:
            await self._made.aclose()

"""Puts the endpoints and the sockets of ADR 0007 into an application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from importlib import import_module
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from swarmgate.config import Config
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.events.feed import Feed
from swarmgate.server.http import problems
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.reference import envelope, routes
from swarmgate.server.services.services import Services

if TYPE_CHECKING:
    from swarmgate.server.reference.sockets import Sockets

PATH = "/socket.io"


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
    app.include_router(routes.router)
    problems.speak(app, routes.PREFIX, envelope.dialect)

    def make(kind: type[Sockets]) -> Sockets:
        return kind(services, feed, accounts, limits, most_bytes=settings.server.limits.body_bytes)

    sockets = SocketsOnDemand(make)
    app.mount(PATH, sockets)
    return aclosing(sockets)


class SocketsOnDemand:
    """The sockets, made for the first client that wants one: Socket.IO takes half a second to load, and most want none.

    Args:
        make: makes them of their class.
    """

    def __init__(self, make: Callable[[type[Sockets]], Sockets]) -> None:
        self._make = make
        self._made: Sockets | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        async with self._making:
            if self._made is None:
                found = await asyncio.to_thread(import_module, "swarmgate.server.reference.sockets")
                self._made = self._make(found.Sockets)
        await self._made.application(scope, receive, send)

    async def aclose(self) -> None:
        """Closes the sockets, if anybody had one."""
        if self._made is not None:
            await self._made.aclose()

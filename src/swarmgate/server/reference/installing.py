"""Puts the endpoints and the sockets of ADR 0007 into an application."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing

from fastapi import FastAPI

from swarmgate.config import Config
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.events.feed import Feed
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.reference import routes
from swarmgate.server.reference.sockets import PATH, Sockets
from swarmgate.server.services.services import Services


def install(
    app: FastAPI, settings: Config, *, services: Services, feed: Feed, accounts: Accounts, limits: RateLimits
) -> AbstractAsyncContextManager[Sockets]:
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
    sockets = Sockets(services, feed, accounts, limits, most_bytes=settings.server.limits.body_bytes)
    app.mount(PATH, sockets.application)
    return aclosing(sockets)

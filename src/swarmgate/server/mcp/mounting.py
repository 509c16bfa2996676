"""Mounts the protocol at `/mcp`, behind the door of the server: host, account, limits and bodies were looked at there.

The package is loaded with the first request: few servers are asked, and it takes seconds.
"""

# ruff: noqa: PLC0415 - late, see above

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from swarmgate.errors import NotAllowed, NotFound
from swarmgate.server.http.dependencies import current_principal
from swarmgate.server.services.services import Services

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
_IDLE_S = 1800.0
"""Seconds after which a session ends that nobody asked anything in."""
_MOST = 10_000
"""Sessions that are known at once; the oldest is forgotten first."""
_SESSION = "mcp-session-id"


class Mounted:
    """The protocol as an application of its own.

    Args:
        services: of the server.
        public_url: the address that people open; empty: the one that they call it by.
    """

    def __init__(self, services: Services, public_url: str) -> None:
        self._services, self._public = services, urlsplit(public_url).netloc.lower()
        self._manager: StreamableHTTPSessionManager | None = None
        self._work: asyncio.Task[None] | None = None
        self._end, self._ready = asyncio.Event(), asyncio.Event()
        self._owners: dict[str, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request.

        Raises:
            Unauthenticated: nothing proves who asks.
            NotAllowed: it comes from a foreign page.
            NotFound: the account has no such session.
        """
        request = Request(scope, receive)
        account = current_principal(request).account.id
        origin = urlsplit(request.headers.get("origin", "")).netloc.lower()
        if origin and origin not in (request.headers.get("host", "").lower(), self._public):
            raise NotAllowed("The request came from a foreign page.")
        session = request.headers.get(_SESSION, "")
        if session and self._owners.get(session) != account:
            raise NotFound("There is no such session, or it is another account's.", hint="begin one with initialize")

        async def owned(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["status"] = int(message["status"])  # the package gives names
                for name, value in message["headers"]:
                    if name.decode("latin-1").lower() == _SESSION:
                        self._own(value.decode("latin-1"), account)
            await send(message)

        await (await self._begun()).handle_request(scope, receive, owned)

    def _own(self, session: str, account: str) -> None:
        """Remembers whose a session is; who comes back to one that is forgotten begins another."""
        self._owners.setdefault(session, account)
        while len(self._owners) > _MOST:
            self._owners.pop(next(iter(self._owners)))

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """The time in which it serves; calls that are at work at its end are cancelled."""
        try:
            yield
        finally:
            self._end.set()
            if self._work is not None:
                await self._work

    async def _begun(self) -> StreamableHTTPSessionManager:
        if self._manager is None:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

            from swarmgate.mcp.session import server_of
            from swarmgate.server.mcp.backend import Remote
            from swarmgate.server.mcp.tools import SERVER_TOOLS

            server = server_of(lambda request: Remote(self._services, current_principal(request)), SERVER_TOOLS)
            self._manager = StreamableHTTPSessionManager(server, session_idle_timeout=_IDLE_S)
            self._work = asyncio.ensure_future(self._serve(self._manager))
        await self._ready.wait()
        return self._manager

    async def _serve(self, manager: StreamableHTTPSessionManager) -> None:
        async with manager.run():
            self._ready.set()
            await self._end.wait()


def install(app: FastAPI, services: Services, public_url: str) -> Mounted:
    """Adds the route; what is returned works as long as the application does."""
    mounted = Mounted(services, public_url)
    app.router.routes.append(Route(PATH, endpoint=mounted, methods=["GET", "POST", "DELETE"], include_in_schema=False))
    return mounted

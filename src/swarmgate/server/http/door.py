"""What every request passes before a route sees it, and every answer on its way out.

    id > proxy > host > who asks > own page > body > limits > idempotency > route

One pure ASGI middleware: its steps are functions of their own files, and what they decide stands in `scope["state"]`:
`request_id`, `client` (an address), `principal` (perhaps None), `refused` (why a proof was none).
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swarmgate.config import Config
from swarmgate.errors import BadRequest, StoreAway, SwarmError, Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Principal
from swarmgate.server.http import bug_reports, problems
from swarmgate.server.http.bodies import ClientGone, read_body, replayed
from swarmgate.server.http.forgery import SAFE, require_own_page, require_token, token_of
from swarmgate.server.http.hosts import Hosts
from swarmgate.server.http.idempotency import HEADER, Replays
from swarmgate.server.http.identity import identify
from swarmgate.server.http.limits.rates import Caller, RateLimits
from swarmgate.server.http.proxies import Proxies
from swarmgate.server.http.security_headers import with_security
from swarmgate.server.store.model import Store

_log = logging.getLogger("swarmgate.server")

GOES_ON = ("/stop", "/pause", "/session", "/refresh", "/login", "/link", "/logout")
"""Ends of paths that spend nothing, or save: they are answered while the store is away, too."""
COUNTS_ITSELF = "/socket.io"
"""Below this, sockets are counted by what is mounted there: it alone knows which of them are open already."""
CLOSE_FORBIDDEN, CLOSE_LIMIT = 4003, 4029
"""What a WebSocket is closed with that a foreign page opened, or that is one too many."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def install(
    app: FastAPI,
    settings: Config,
    *,
    accounts: Accounts,
    limits: RateLimits,
    store: Store,
    home: Path,
    environ: Mapping[str, str],
) -> None:
    """Puts the door in front of an application, and has all its errors answered as problems.

    Args:
        app: the application; its state gets what routes that log in need: settings, environ, accounts, limits.
        settings: of the server.
        accounts: who may come in.
        limits: how often.
        store: of answers under an `Idempotency-Key`.
        home: of the server; reports of bugs go to its folder `bugs`.
        environ: where the keys of providers are looked up, that reports may not hold.
    """
    app.state.settings, app.state.environ = settings, environ
    app.state.accounts, app.state.limits = accounts, limits
    problems.install(app)
    app.add_middleware(
        Door, settings=settings, accounts=accounts, limits=limits, store=store, bugs=home / "bugs", environ=environ
    )


class Door:
    """The middleware; see `install`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Config,
        accounts: Accounts,
        limits: RateLimits,
        store: Store,
        bugs: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._app, self._settings, self._accounts, self._limits = app, settings.server, accounts, limits
        self._proxies, self._hosts = Proxies(self._settings.trusted_proxies), Hosts(self._settings)
        self._replays = Replays(store)
        self._bugs, self._keys = bugs, settings.keys(environ)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or one WebSocket; a lifespan passes."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        state = scope.setdefault("state", {})
        peer = scope["client"][0] if scope.get("client") else ""
        state["request_id"] = self._request_id(peer, headers)
        if scope["type"] == "http":
            await self._http(scope, receive, send, headers, peer)
        else:
            await self._websocket(scope, receive, send, headers, peer)

    async def _http(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str], peer: str) -> None:
        state: dict[str, Any] = scope["state"]
        answer = _Outgoing(send, scope)
        try:
            self._who_and_where(scope, headers, peer)
            if scope["method"] in SAFE:
                await self._app(scope, receive, answer)
            else:
                await self._change(scope, receive, answer, headers)
        except ClientGone:
            return
        except SwarmError as error:
            await answer.instead(problems.answer_error(error, state["request_id"], scope), receive)
        except Exception as error:  # noqa: BLE001 - the boundary: a bug becomes a report and an answer
            asked = f"{scope['method']} {scope['path']}"
            report = bug_reports.write(self._bugs, state["request_id"], asked, error, self._keys)
            _log.error("bug", extra={"request_id": state["request_id"], "report": report, "kind": type(error).__name__})
            await answer.instead(problems.bug(state["request_id"], report and Path(report).name, scope), receive)

    async def _change(self, scope: Scope, receive: Receive, answer: _Outgoing, headers: dict[str, str]) -> None:
        """A request that changes something: from our own page, bounded, counted, once."""
        state: dict[str, Any] = scope["state"]
        principal: Principal | None = state["principal"]
        if principal is None or principal.via == "session":
            require_own_page(headers, self._origins(scope, headers))
        account = principal.account.id if principal else ""
        allowance = await self._limits.hit("writes", Caller(account, state["client"]))
        answer.extra = allowance.headers
        if allowance.away and not scope["path"].endswith(GOES_ON):
            raise StoreAway("The server's store cannot be reached: nothing is begun that may spend.", hint="try again")
        bounds = self._settings.limits
        body = await read_body(headers, receive, most=bounds.body_bytes, seconds=bounds.body_s)
        if principal is not None and principal.via == "session":
            require_token(headers, body, token_of(self._accounts.signer, principal.session))
        again = replayed(body, receive)
        if HEADER in headers and principal is not None and scope["method"] == "POST":
            await self._replays.once(self._app, scope, again, answer, owner=account, body=body)
        else:
            await self._app(scope, again, answer)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str], peer: str) -> None:
        try:
            self._who_and_where(scope, headers, peer)
        except SwarmError:
            await send({"type": "websocket.close", "code": CLOSE_FORBIDDEN})  # before it is accepted: HTTP 403
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins(scope, headers):
            await closed(receive, send, CLOSE_FORBIDDEN, "foreign page")
            return
        if not scope["path"].startswith(COUNTS_ITSELF):
            try:
                await self._limits.hit("sockets", caller_of(scope))
            except SwarmError as error:
                await closed(receive, send, CLOSE_LIMIT, error.message)
                return
        await self._app(scope, receive, send)

    def _who_and_where(self, scope: Scope, headers: dict[str, str], peer: str) -> None:
        """Client, scheme and host as they are known, then who asks. Raises `BadRequest` for a host that is not us."""
        state = scope["state"]
        seen = self._proxies.read(
            peer, _all(scope, b"x-forwarded-for"), _all(scope, b"x-forwarded-proto"), _all(scope, b"x-forwarded-host")
        )
        state["client"], state["principal"], state["refused"] = seen.client, None, None
        secure = self._settings.behind_proxy or self._settings.tls or seen.scheme == "https"
        scope["scheme"] = ("wss" if secure else "ws") if scope["type"] == "websocket" else "https" if secure else "http"
        if scope.get("client"):
            scope["client"] = (seen.client, scope["client"][1])
        if seen.host:  # for all that come behind, too: links and redirects name the host that is checked here
            headers["host"] = seen.host
            others = [each for each in scope["headers"] if each[0] != b"host"]
            scope["headers"] = [*others, (b"host", seen.host.encode("latin-1"))]
        if not self._hosts.are(headers.get("host", "")):
            raise BadRequest(
                "This server does not go by that name.", hint="name it: [server] hosts, or public_url behind a proxy"
            )
        try:
            state["principal"] = identify(self._accounts, headers, tls=secure)
        except Unauthenticated as refused:
            state["refused"] = refused

    def _origins(self, scope: Scope, headers: Mapping[str, str]) -> frozenset[str]:
        scheme = "https" if scope["scheme"] in {"https", "wss"} else "http"
        public = urlsplit(self._settings.public_url)
        own = f"{scheme}://{headers['host'].lower()}"
        return frozenset({own, f"{public.scheme}://{public.netloc.lower()}"} if public.netloc else {own})

    def _request_id(self, peer: str, headers: Mapping[str, str]) -> str:
        said = headers.get("x-request-id", "")
        return said if self._proxies.are(peer) and _REQUEST_ID.fullmatch(said) else secrets.token_hex(8)


class _Outgoing:
    """Sends the answer, with what belongs to every one."""

    def __init__(self, send: Callable[[Message], Awaitable[None]], scope: Scope) -> None:
        self._send, self._scope, self._started = send, scope, False
        self.extra: dict[str, str] = {}

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            own = {"x-request-id": self._scope["state"]["request_id"], **self.extra}
            headers = [
                *message.get("headers", ()),
                *((name.lower().encode(), value.encode()) for name, value in own.items()),
            ]
            message = {**message, "headers": with_security(headers, tls=self._scope["scheme"] == "https")}
        await self._send(message)

    async def instead(self, response: ASGIApp, receive: Receive) -> None:
        """Answers an error, unless an answer has begun: then the connection ends in the middle of it."""
        if self._started:
            raise ConnectionAbortedError("the answer had begun when it failed")
        await response(self._scope, receive, self)


def caller_of(scope: Scope) -> Caller:
    """Whom a request that passed the door is counted for."""
    principal: Principal | None = scope["state"]["principal"]
    return Caller(principal.account.id if principal else "", scope["state"]["client"])


async def closed(receive: Receive, send: Send, code: int, reason: str) -> None:
    """Takes a WebSocket and closes it: only then does the client learn the code."""
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": code, "reason": reason[:100]})


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name; of those that come more than once, the first, so that nothing can be put behind it."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]

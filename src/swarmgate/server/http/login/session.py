"""Logs people in and out: counts attempts, checks what they bring, writes it down, gives a cookie.

account = await by_password(request, name, password)
await begin(request, response, account, "password")
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import HTTPConnection
from starlette.responses import Response

from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Account, Principal, Tokens
from swarmgate.server.http.identity import PLAIN_COOKIE, TLS_COOKIE
from swarmgate.server.http.limits.rates import Caller, RateLimits

_HASHING = ThreadPoolExecutor(2, thread_name_prefix="swarm-password")
"""Threads of their own: many logins at once wait for each other, and nobody else for them."""


async def by_password(connection: HTTPConnection, name: str, password: str) -> Account:
    """The account of a name and a password.

    Raises:
        Unauthenticated: they do not belong together.
        TooMany: of this address, or for this account.
    """
    accounts = _accounts(connection)
    await count(connection, name)
    try:
        loop = asyncio.get_running_loop()
        account = await loop.run_in_executor(_HASHING, accounts.check_password, name, password)
    except Unauthenticated:
        await _write_down(connection, "server", "login_refused", name, "password")
        raise
    return account


async def by_link(connection: HTTPConnection, token: str) -> Account:
    """The account of a login link, which is used up by that.

    Raises:
        Unauthenticated: it was used, is over, or is wrong.
        TooMany: of this address.
    """
    await count(connection, "")
    try:
        principal = await asyncio.to_thread(_accounts(connection).redeem, token)
    except Unauthenticated:
        await _write_down(connection, "server", "login_refused", "", "link")
        raise
    return principal.account


async def begin(connection: HTTPConnection, response: Response, account: Account, how: str) -> None:
    """Begins the session of a browser: a new one each time, so that none can be prepared for somebody.

    Args:
        connection: the request that logged in.
        response: gets the cookie.
        account: whose.
        how: `password`, `link` or `provider`, for the audit log.
    """
    _session, secret = await asyncio.to_thread(_accounts(connection).sessions.begin, account.id)
    await _write_down(connection, f"user:{account.name}", "login", account.id, how)
    lifetime = connection.app.state.settings.server.refresh_days * 86_400
    tls = _is_tls(connection)
    name = TLS_COOKIE if tls else PLAIN_COOKIE
    response.set_cookie(name, secret, max_age=lifetime, path="/", secure=tls, httponly=True, samesite="lax")


async def tokens(connection: HTTPConnection, account: Account, how: str) -> Tokens:
    """Begins the session of a program: its first tokens."""
    issued = await asyncio.to_thread(_accounts(connection).sessions.issue, account.id)
    await _write_down(connection, f"user:{account.name}", "login", account.id, f"{how}, tokens")
    return issued


async def refreshed(connection: HTTPConnection, refresh_token: str) -> Tokens:
    """The next tokens for a refresh token, which is used up by that.

    Raises:
        Unauthenticated: it is over, revoked or wrong, or was used before.
        TooMany: of this address.
    """
    await count(connection, "")
    return await asyncio.to_thread(_accounts(connection).refresh, refresh_token)


async def end(connection: HTTPConnection, response: Response, principal: Principal) -> None:
    """Ends the session that asks: its cookie or its tokens prove nobody any more."""
    if principal.session:
        await asyncio.to_thread(_accounts(connection).sessions.end, principal.session)
    await _write_down(connection, principal.actor, "logout", principal.account.id, principal.via)
    for name, tls in ((PLAIN_COOKIE, False), (TLS_COOKIE, True)):
        response.delete_cookie(name, path="/", secure=tls, httponly=True, samesite="lax")


async def count(connection: HTTPConnection, name: str) -> None:
    """Counts an attempt to prove an account.

    Args:
        connection: whose address it is counted for, too.
        name: of the account, in whatever case; empty: of none.

    Raises:
        TooMany: of this address, or for this account.
    """
    limits: RateLimits = connection.app.state.limits
    await limits.hit("logins", Caller(name.casefold(), connection.scope["state"]["client"]))


async def _write_down(connection: HTTPConnection, actor: str, action: str, subject: str, detail: str) -> None:
    state = connection.scope["state"]
    log = _accounts(connection).log
    await asyncio.to_thread(
        log.add, actor, action, subject, detail=detail, address=state["client"], request=state["request_id"]
    )


def _accounts(connection: HTTPConnection) -> Accounts:
    found: Accounts = connection.app.state.accounts
    return found


def _is_tls(connection: HTTPConnection) -> bool:
    return connection.scope["scheme"] in {"https", "wss"}

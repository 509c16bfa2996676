"""Who asks: the account that an `Authorization` header or a cookie proves."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Principal

PLAIN_COOKIE, TLS_COOKIE = "swarm_session", "__Host-swarm_session"
"""The cookie of a session; under TLS by a name that browsers take from this very host alone."""


def identify(accounts: Accounts, headers: Mapping[str, str], *, tls: bool) -> Principal | None:
    """Who asks; None: the request does not say.

    A header counts before a cookie: a program that says who it is means that, and no browser adds one by itself.

    Args:
        accounts: of the server.
        headers: of the request, names in lower case.
        tls: whether it came encrypted.

    Raises:
        Unauthenticated: what it says proves nobody.
        StoreAway: the accounts cannot be read.
    """
    authorization = headers.get("authorization", "")
    if authorization:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("The Authorization header is not `Bearer` and a token or a key.")
        return accounts.verify(token.strip())
    secret = cookie(headers.get("cookie", ""), TLS_COOKIE if tls else PLAIN_COOKIE)
    return accounts.verify_cookie(secret) if secret else None


def cookie(header: str, name: str) -> str:
    """The value of a cookie; empty where there is none, or the header cannot be read."""
    if name not in header:
        return ""
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""

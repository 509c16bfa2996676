"""Cross-site request forgery: what a browser sends by itself is believed from our own pages alone."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection

from swarmgate.errors import NotAllowed
from swarmgate.server.accounts.model import Principal
from swarmgate.server.accounts.signing import Signer

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing."""
HEADER, FIELD = "x-csrf-token", "csrf_token"
"""Where a script of ours, and where a form of ours, says the token."""
_FORM = "application/x-www-form-urlencoded"


def token_of(signer: Signer, session: str) -> str:
    """The token of a session: only this server can make it, and only pages of ours can read it."""
    return signer.bound("csrf", session)


def csrf_token(connection: HTTPConnection) -> str:
    """The token of the session that a page is shown to; empty where there is none."""
    principal = connection.scope.get("state", {}).get("principal")
    signer = connection.app.state.accounts.signer
    return token_of(signer, principal.session) if isinstance(principal, Principal) and principal.session else ""


def require_own_page(headers: Mapping[str, str], origins: frozenset[str]) -> None:
    """Insists that a request which a browser sends was begun by a page of this server.

    Args:
        headers: of the request, names in lower case.
        origins: of this server, such as `https://swarm.example.org`.

    Raises:
        NotAllowed: it was begun by another page. A program sends neither of these headers.
    """
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in origins:
        raise _foreign()
    if origin is None and headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        raise _foreign()


def require_token(headers: Mapping[str, str], body: bytes, expected: str) -> None:
    """Insists that a request whose cookie proves somebody carries the token of that session.

    Raises:
        NotAllowed: it does not.
    """
    said = headers.get(HEADER, "")
    if not said and headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
        said = next(iter(parse_qs(body.decode("latin-1"), max_num_fields=1000).get(FIELD, [])), "")
    if not hmac.compare_digest(said.encode(), expected.encode()):
        raise NotAllowed("The request carries no token of this session.", hint="load the page again")


def _foreign() -> NotAllowed:
    return NotAllowed("The request came from a foreign page.", hint="use the server's own page, or an API key")

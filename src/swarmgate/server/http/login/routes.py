"""The two routes of a login through an OpenID provider: to it, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse

from swarmgate.errors import NotFound
from swarmgate.server.accounts.model import Role
from swarmgate.server.http.identity import cookie
from swarmgate.server.http.limits.rates import Caller
from swarmgate.server.http.login.provider import LIFETIME_S, Provider
from swarmgate.server.http.login.session import begin

PATH = "/login/oidc"
_COOKIE = "swarm_oidc"

router = APIRouter(include_in_schema=False)


def local_path(path: str) -> str:
    """The path, if it leads to this server; else that of the first page."""
    leads_here = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if leads_here else "/"


@router.get(PATH)
async def to_provider(request: Request, next: str = "/") -> RedirectResponse:  # noqa: A002 - the parameter's usual name
    """Sends the browser to the provider."""
    begun = await _provider(request).begin(_redirect(request), local_path(next))
    response = RedirectResponse(begun.address, status_code=303)
    tls = request.scope["scheme"] == "https"
    lifetime = int(LIFETIME_S)
    response.set_cookie(_COOKIE, begun.cookie, max_age=lifetime, path=PATH, secure=tls, httponly=True, samesite="lax")
    return response


@router.get(f"{PATH}/callback")
async def from_provider(request: Request) -> RedirectResponse:
    """Logs in whom the provider vouches for."""
    provider, accounts = _provider(request), request.app.state.accounts
    await request.app.state.limits.hit("logins", Caller("", request.scope["state"]["client"]))
    kept = cookie(request.headers.get("cookie", ""), _COOKIE)
    person = await provider.finish(_redirect(request), request.query_params, kept)
    new = request.app.state.settings.server.oidc.new_accounts
    account = await asyncio.to_thread(accounts.of_provider, person.subject, person.name, Role(new) if new else None)
    response = RedirectResponse(quote(local_path(person.next), safe="/?&=%#:@+,;~"), status_code=303)
    response.delete_cookie(_COOKIE, path=PATH)
    await begin(request, response, account, "provider")
    return response


def _provider(request: Request) -> Provider:
    settings, environ = request.app.state.settings.server.oidc, request.app.state.environ
    if not settings.issuer:
        raise NotFound("This server has no provider to log in through.")
    return Provider(settings, _secret(settings.client_secret_env, environ), request.app.state.accounts.signer)


def _secret(variable: str, environ: Mapping[str, str]) -> str:
    return environ.get(variable, "") if variable else ""


def _redirect(request: Request) -> str:
    public: str = request.app.state.settings.server.public_url
    own = f"{request.scope['scheme']}://{request.headers['host']}"
    return f"{public or own}{PATH}/callback"

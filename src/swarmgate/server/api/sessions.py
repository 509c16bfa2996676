"""Routes of who asks: log in and out, oneself, API keys."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.accounts.model import ApiKey, NewApiKey, Tokens
from swarmgate.server.api.answers import LOOK, MADE, secret, told
from swarmgate.server.api.bodies import LogIn, NewKey, NewPassword, Refresh
from swarmgate.server.api.parameters import KeyId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.http.login import session
from swarmgate.server.services.views.account import MeView
from swarmgate.server.services.views.view import Page

router = routes("Who asks")


@router.post("/session", response_model=Tokens)
async def log_in(request: Request, body: LogIn) -> Response:
    """Give tokens to who knows the password of an account."""
    account = await session.by_password(request, body.name, body.password)
    return secret(await session.tokens(request, account, "password"))


@router.post("/session/refresh", response_model=Tokens)
async def refresh_session(request: Request, body: Refresh) -> Response:
    """Give the next tokens for a refresh token, which is used up; one that is used twice ends its session."""
    return secret(await session.refreshed(request, body.refresh_token))


@router.delete("/session", status_code=204)
async def log_out(request: Request, response: Response, who: Who) -> None:
    """End the session of the token that asks."""
    await session.end(request, response, who)


@router.get("/me", response_model=MeView, responses=LOOK)
async def get_me(request: Request, services: ServicesOf, who: Who) -> Response:
    """Say who asks, and with which roles."""
    return told(request, await services.accounts.me(who))


@router.put("/me/password", status_code=204)
async def set_password(request: Request, services: ServicesOf, who: Who, body: NewPassword) -> None:
    """Give oneself another password, by the one that one has; all other sessions end."""
    await session.count(request, who.account.name)
    await services.accounts.set_password(who, body.password, current=body.current)


@router.get("/keys", response_model=Page[ApiKey], responses=LOOK)
async def list_keys(request: Request, services: ServicesOf, who: Who) -> Response:
    """List one's own API keys."""
    return told(request, await services.accounts.keys(who))


@router.post("/keys", status_code=201, response_model=NewApiKey, responses=MADE)
async def create_key(services: ServicesOf, who: Who, body: NewKey) -> Response:
    """Make an API key; the key stands in this answer and nowhere else."""
    made = await services.accounts.new_key(who, name=body.name, expires=body.expires)
    return secret(made, status=201, location=f"/v1/keys/{made.id}")


@router.delete("/keys/{key}", status_code=204)
async def revoke_key(services: ServicesOf, who: Who, key: KeyId) -> None:
    """Take an API key back."""
    await services.accounts.revoke_key(who, key)

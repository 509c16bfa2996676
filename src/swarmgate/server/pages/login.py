"""The pages by which somebody comes in and goes out: a password, a link that works once, a provider."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from swarmgate.errors import TooMany, Unauthenticated
from swarmgate.server.http.dependencies import ServicesOf, Who, principal_of
from swarmgate.server.http.login import session
from swarmgate.server.http.login.routes import PATH as TO_PROVIDER
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import Told, back_to, page, went_on

routes = router()

_NEXT = 2000
_REFUSED = 401
Next = Annotated[str, Form(max_length=_NEXT)]


@routes.get("/login")
async def login(
    request: Request,
    services: ServicesOf,
    token: Annotated[str, Query(max_length=200)] = "",
    next: Annotated[str, Query(max_length=_NEXT)] = "/",  # noqa: A002 - the parameter's usual name
) -> Response:
    """The login; with a link's token a button that uses it up, so that no preview of the link does."""
    if token:
        return await page(request, "link.html", "", token=token)
    if principal_of(request) is not None:
        return RedirectResponse(back_to(next), 303)
    return await _form(request, services, next)


async def _form(request: Request, services: ServicesOf, then: str, told: Told | None = None) -> Response:
    oidc = services.settings.server.oidc
    provider = (
        {"name": oidc.name, "href": f"{TO_PROVIDER}?{urlencode({'next': back_to(then)})}"} if oidc.issuer else None
    )
    status = _REFUSED if told else 200
    return await page(request, "login.html", "", None, status, told=told, next=back_to(then), oidc=provider)


@routes.post("/login")
async def by_password(
    request: Request,
    services: ServicesOf,
    name: Annotated[str, Form(max_length=200)],
    password: Annotated[str, Form(max_length=1000)],
    next: Next = "/",  # noqa: A002 - the parameter's usual name
) -> Response:
    """Lets in who knows the password of an account."""
    try:
        account = await session.by_password(request, name, password)
    except (TooMany, Unauthenticated) as error:
        return await _form(request, services, next, Told(text=error.message, hint=error.hint, failed=True))
    response = RedirectResponse(back_to(next), 303)
    await session.begin(request, response, account, "password")
    return response


@routes.post("/login/link")
async def by_link(request: Request, services: ServicesOf, token: Annotated[str, Form(max_length=200)]) -> Response:
    """Lets in whom a link was made for."""
    try:
        account = await session.by_link(request, token)
    except (TooMany, Unauthenticated) as error:
        return await _form(request, services, "/", Told(text=error.message, hint=error.hint, failed=True))
    response = RedirectResponse("/", 303)
    await session.begin(request, response, account, "link")
    return response


@routes.post("/logout")
async def logout(request: Request, who: Who) -> Response:
    """Ends the session of this browser."""
    response = went_on("/login", "You are signed out.")
    await session.end(request, response, who)
    return response

"""The page of settings: look, notifications, keys and password of who looks; accounts and repositories for admins."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Principal, Role
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.http.login import session
from swarmgate.server.notices.subscriptions import Subscription
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page, set_theme, went_on
from swarmgate.server.services.views.fleet import FleetView

routes = router()

_HERE = "/settings"
_ROLE = "role:"
_MOST = 1000
Short = Annotated[str, Form(max_length=_MOST)]


class Secret(Frozen):
    """Something that is told once: a key, or a link."""

    title: str
    about: str
    text: str


@routes.get("/settings")
async def settings(request: Request, services: ServicesOf, who: Who) -> Response:
    """The settings of who looks, and for admins those of the server's accounts and repositories."""
    return await _page(request, services, who)


async def _page(request: Request, services: ServicesOf, who: Principal, secret: Secret | None = None) -> Response:
    admin = who.may(Role.ADMIN)
    keys, browsers = await asyncio.gather(services.accounts.keys(who), services.browsers.of(who))
    fleet = await services.runs.fleet(who) if admin else FleetView(configured=False)
    accounts = (await services.accounts.list(who, limit=_MOST)).items if admin else ()
    repos = (await services.repositories.list(who, limit=_MOST)).items if admin else ()
    return await page(
        request,
        "settings.html",
        "settings",
        who,
        keys=keys.items,
        has_password=who.account.has_password,
        browsers=len(browsers),
        push_key=services.browsers.key,
        admin=admin,
        accounts=accounts,
        repos=repos,
        fleet=fleet,
        secret=secret,
    )


@routes.post("/settings/theme")
async def theme(who: Who, theme: Short = "") -> Response:
    """Has pages in this browser be light or dark."""
    del who
    response = went_on(_HERE)
    set_theme(response, theme)
    return response


@routes.post("/settings/password")
async def password(request: Request, services: ServicesOf, who: Who, password: Short, current: Short = "") -> Response:
    """Gives who looks another password, by the one that they have."""
    await session.count(request, who.account.name)
    await services.accounts.set_password(who, password, current=current)
    return went_on(_HERE, "The password is set.", "Your other sessions have ended.")


@routes.post("/settings/keys")
async def new_key(
    request: Request,
    services: ServicesOf,
    who: Who,
    name: Short,
    days: Annotated[str, Form(pattern=r"^[0-9]{0,5}$")] = "",
) -> Response:
    """Makes a key for a program, and tells it once."""
    expires = datetime.now(UTC) + timedelta(days=int(days)) if days else None
    made = await services.accounts.new_key(who, name=name, expires=expires)
    about = "It stands here and nowhere else: copy it now."
    return await _page(request, services, who, Secret(title=f"The key {made.name}", about=about, text=made.secret))


@routes.post("/settings/keys/{key}/revoke")
async def revoke_key(services: ServicesOf, who: Who, key: str) -> Response:
    """Takes a key back."""
    await services.accounts.revoke_key(who, key)
    return went_on(_HERE, "The key proves nobody any more.")


@routes.post("/settings/push")
async def push(
    services: ServicesOf,
    who: Who,
    what: Annotated[Literal["add", "remove"], Form()],
    endpoint: Annotated[str, Form(max_length=2048)],
    p256dh: Short = "",
    auth: Short = "",
) -> Response:
    """Has this browser told of what needs who looks, or no longer."""
    if what == "remove":
        await services.browsers.remove(who, endpoint)
    else:
        try:
            browser = Subscription(account=who.account.id, endpoint=endpoint, p256dh=p256dh, auth=auth)
        except ValueError:
            raise UsageError("That is no subscription of a browser.") from None
        await services.browsers.add(who, browser)
    return Response(status_code=204)


# --- admins ---


@routes.post("/settings/accounts")
async def new_account(request: Request, services: ServicesOf, who: Who, name: Short, password: Short = "") -> Response:
    """Makes an account."""
    made = await services.accounts.create(who, name=name, roles=await _roles(request), password=password)
    hint = "" if password else "It signs in by a link that you make for it."
    return went_on(f"{_HERE}#accounts", f"There is an account {made.name}.", hint)


@routes.post("/settings/accounts/{account}")
async def change_account(
    request: Request, services: ServicesOf, who: Who, account: str, disabled: Short = ""
) -> Response:
    """Changes the roles of an account, and whether it may sign in."""
    made = await services.accounts.update(who, account, roles=await _roles(request), disabled=disabled == "yes")
    return went_on(f"{_HERE}#accounts", f"The account {made.name} is changed.")


@routes.post("/settings/accounts/{account}/link")
async def link(request: Request, services: ServicesOf, who: Who, account: str) -> Response:
    """Makes a link by which somebody signs in, and tells it once."""
    made = await services.accounts.login_link(who, account)
    name = (await services.accounts.get(who, account)).name
    about = "It works once, and for a quarter of an hour. Give it to nobody else."
    text = f"{str(request.base_url).rstrip('/')}{made.path}"
    return await _page(request, services, who, Secret(title=f"A login link for {name}", about=about, text=text))


@routes.post("/settings/accounts/{account}/delete")
async def delete_account(services: ServicesOf, who: Who, account: str) -> Response:
    """Deletes an account; ledgers keep its name."""
    await services.accounts.delete(who, account)
    return went_on(f"{_HERE}#accounts", "The account is deleted.")


@routes.post("/settings/repos")
async def register(services: ServicesOf, who: Who, source: Short, name: Short = "") -> Response:
    """Registers a repository."""
    made = await services.repositories.register(who, source=source, name=name)
    return went_on(f"{_HERE}#repositories", f"{made.name} is registered.")


@routes.post("/settings/repos/{repo}/remove")
async def remove(services: ServicesOf, who: Who, repo: str) -> Response:
    """Forgets a repository; nothing of it is deleted."""
    await services.repositories.remove(who, repo)
    return went_on(f"{_HERE}#repositories", "It is forgotten; nothing of it was deleted.")


async def _roles(request: Request) -> dict[str, Role]:
    """The roles that a form gives, by repository."""
    found: dict[str, Role] = {}
    for field, value in (await request.form()).items():
        if field.startswith(_ROLE) and value:
            try:
                found[field.removeprefix(_ROLE) or EVERY_REPOSITORY] = Role(str(value))
            except ValueError:
                raise UsageError("That is no role.", hint=f"One of: {', '.join(Role)}") from None
    return found

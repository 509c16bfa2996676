"""What every page has around it: who looks, what waits for them, where they are, and what was just told them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from swarmgate import html
from swarmgate.council.discussion.view import page as discussion_page
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Principal
from swarmgate.server.http.dependencies import services_of
from swarmgate.server.http.forgery import csrf_token
from swarmgate.server.pages import words

STATIC = Path(__file__).parent / "static"
"""Style sheets, modules and pictures."""
ROOMS = (
    ("needs", "/", "Needs me"),
    ("goals", "/goals", "Goals"),
    ("councils", "/councils", "Councils"),
    ("cost", "/cost", "Cost"),
    ("ledger", "/ledger", "Ledger"),
    ("settings", "/settings", "Settings"),
)
"""The rooms of the pages: name, address, words."""
_DRAWINGS = Path(discussion_page.__file__).parent / "templates"
_TOLD, _THEME = "swarm_told", "swarm_theme"
_TOLD_S, _YEAR_S = 60, 365 * 86_400
THEMES = ("light", "dark")


class Told(Frozen):
    """What the page says that follows a form: done, or why not."""

    text: str = ""
    hint: str = ""
    failed: bool = False


class Shell(Frozen):
    """The frame of one page. `newest` is the seq of the feed that the page knows of."""

    room: str
    name: str = ""
    role: str = ""
    waiting: int = 0
    newest: int = 0
    theme: str = ""
    csrf: str = ""
    told: str = ""
    hint: str = ""
    failed: bool = False
    rooms: tuple[tuple[str, str, str], ...] = ROOMS

    def static(self, name: str) -> str:
        """The address of a static file, which changes with its content: browsers may keep it for ever."""
        return f"/static/{name}?v={_digest(name)}"


@cache
def _digest(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]


async def page(
    request: Request,
    template: str,
    room: str,
    who: Principal | None = None,
    status: int = 200,
    *,
    told: Told | None = None,
    **values: Any,
) -> Response:
    """A page of the server.

    Args:
        request: that asked for it.
        template: in the folder `templates`.
        room: which of the rooms it is in.
        who: looks at it; None: somebody who is not logged in.
        status: of the answer.
        told: what is said above all; None: what the form before it left to be said.
        values: what the template speaks of.
    """
    told = told or _told(request.cookies.get(_TOLD, ""))
    waiting, newest = 0, 0
    if who is not None:
        services = services_of(request)
        waiting = len((await services.needs.list(who)).items)
        newest = services.events.newest
    shell = Shell(
        room=room,
        name=who.account.name if who else "",
        role=_role(who) if who else "",
        waiting=waiting,
        newest=newest,
        theme=theme if (theme := request.cookies.get(_THEME, "")) in THEMES else "",
        csrf=csrf_token(request),
        told=told.text,
        hint=told.hint,
        failed=told.failed,
    )
    text = await asyncio.to_thread(
        html.rendered, __file__, template, folders=(_DRAWINGS,), shell=shell, words=words, **values
    )
    response = HTMLResponse(text, status, headers={"cache-control": "no-store"})
    if request.cookies.get(_TOLD):
        response.delete_cookie(_TOLD)
    return response


def _role(who: Principal) -> str:
    held = who.role(EVERY_REPOSITORY)
    if held is not None:
        return held.value
    count = len(who.account.roles)
    return f"in {count} {'repository' if count == 1 else 'repositories'}"


def back_to(place: str, otherwise: str = "/") -> str:
    """A path on this server, from a form: any other address leads to `otherwise`."""
    plain = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable() and place.isascii()
    return place if plain else otherwise


def went_on(place: str, text: str = "", hint: str = "", *, failed: bool = False) -> RedirectResponse:
    """The answer to a form: a look at a page, which says once what became of it."""
    response = RedirectResponse(back_to(place), 303)
    if text:
        said = json.dumps(Told(text=text[:500], hint=hint[:500], failed=failed).model_dump())
        value = base64.urlsafe_b64encode(said.encode("utf-8", "replace")).decode()
        response.set_cookie(_TOLD, value, max_age=_TOLD_S, httponly=True, samesite="lax")
    return response


def refused(place: str, error: SwarmError) -> RedirectResponse:
    """The same where the form could not be done as asked."""
    return went_on(place, error.message, error.hint, failed=True)


def _told(cookie: str) -> Told:
    try:
        return Told.model_validate_json(base64.urlsafe_b64decode(cookie))
    except ValueError:
        return Told()


def set_theme(response: Response, theme: str) -> None:
    """Has pages in this browser be light or dark; anything else: as its system is."""
    if theme in THEMES:
        response.set_cookie(_THEME, theme, max_age=_YEAR_S, samesite="lax")
    else:
        response.delete_cookie(_THEME)

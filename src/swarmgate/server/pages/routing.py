"""Routes of pages: errors become pages, and who is not logged in is led to the login and back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from swarmgate.errors import NotFound, SwarmError, Unauthenticated
from swarmgate.server.http.problems import status_of
from swarmgate.server.pages.shell import back_to, page, refused

_WORDS = {
    403: "You may not do that",
    404: "There is nothing here",
    422: "That could not be read",
    429: "Slow down a little",
    503: "The server cannot answer now",
}
_MISSING, _UNREADABLE = 404, 422


class PageRoute(APIRoute):
    """A route whose errors are pages: of a form the page that it came from, which says what was wrong."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, within a boundary for errors."""
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await inner(request)
            except Unauthenticated:
                return _to_login(request)
            except RequestValidationError:
                return await error_page(request, _UNREADABLE, "", "A field of the form is missing or too long.", "")
            except SwarmError as error:
                return await _told(request, error)

        return handler


def router() -> APIRouter:
    """A router for pages, which stand in no description of the API."""
    return APIRouter(route_class=PageRoute, include_in_schema=False)


def _to_login(request: Request) -> Response:
    if request.method != "GET":
        return RedirectResponse("/login", 303)
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/login" if wanted == "/" else f"/login?{urlencode({'next': wanted})}", 303)


async def _told(request: Request, error: SwarmError) -> Response:
    if request.method == "POST" and not isinstance(error, NotFound):
        return refused(_came_from(request), error)
    return await error_page(request, status_of(error), error.code, error.message, error.hint)


def _came_from(request: Request) -> str:
    """The path of the page that a form was on; browsers say it, the frame's own policy has them do so."""
    parts = urlsplit(request.headers.get("referer", ""))
    if parts.netloc != request.headers.get("host"):
        return "/"
    return back_to(f"{parts.path}?{parts.query}" if parts.query else parts.path)


async def error_page(request: Request, status: int, code: str, message: str, hint: str) -> Response:
    """A page that says what went wrong, and leads on."""
    return await page(
        request,
        "error.html",
        "",
        None,
        status,
        said={
            "status": status,
            "code": code,
            "title": _WORDS.get(status, "That did not work"),
            "message": "" if status == _MISSING else message,
            "hint": "It is not there, or you may not see it." if status == _MISSING else hint,
        },
    )

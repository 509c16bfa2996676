"""All pages as one router, with what they are styled and moved by: native modules and style sheets, no build."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from swarmgate.server.pages import cost, councils, goals, ledgers, login, needs, operations, settings
from swarmgate.server.pages.routing import error_page
from swarmgate.server.pages.shell import STATIC

Handler = Callable[[Request, Any], Response | Awaitable[Response]]

_LASTING = "public, max-age=31536000, immutable"
_MISSING = 404
_SHORT = "public, max-age=60"


class _Static(StaticFiles):
    """Files that browsers keep: for ever where their address names their content, else for a minute."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _LASTING if b"v=" in scope.get("query_string", b"") else _SHORT
        return response


def install(app: FastAPI) -> None:
    """Gives an application its pages, at `/`, and their static files, at `/static/`.

    Its errors are handled already: a browser that goes to where nothing is gets a page, everybody else what they got.
    """
    for each in (login, needs, goals, operations, councils, cost, ledgers, settings):
        app.router.routes.extend(each.routes.routes)  # as those of the interface: a router in a router takes its time
    app.add_exception_handler(HTTPException, _for_browsers(app.exception_handlers[HTTPException]))
    app.mount("/static", _Static(directory=STATIC), name="static")


def _for_browsers(otherwise: Handler) -> Callable[[Request, Exception], Awaitable[Response]]:
    """The handler of what the framework refuses, with a page for who looks for one that is not there."""

    async def handler(request: Request, error: Exception) -> Response:
        looks = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if looks and isinstance(error, HTTPException) and error.status_code == _MISSING:
            return await error_page(request, _MISSING, "", "", "")
        answer = otherwise(request, error)
        return answer if isinstance(answer, Response) else await answer

    return handler

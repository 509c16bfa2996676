"""All pages as one router, with what they are styled and moved by: native modules and style sheets, no build."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from swarmgate.server.pages import cost, councils, goals, ledgers, login, needs, settings
from swarmgate.server.pages.shell import STATIC

_LASTING = "public, max-age=31536000, immutable"
_SHORT = "public, max-age=60"


class _Static(StaticFiles):
    """Files that browsers keep: for ever where their address names their content, else for a minute."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _LASTING if b"v=" in scope.get("query_string", b"") else _SHORT
        return response


def install(app: FastAPI) -> None:
    """Gives an application its pages, at `/`, and their static files, at `/static/`."""
    router = APIRouter(include_in_schema=False)
    for each in (login, needs, goals, councils, cost, ledgers, settings):
        router.include_router(each.routes)
    app.include_router(router)
    app.mount("/static", _Static(directory=STATIC), name="static")

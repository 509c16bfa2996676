"""All routes of `/v1`, in the order in which a program meets them.

app.include_router(router())
"""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from swarmgate.server.api import (
    accounts,
    councils,
    decisions,
    gates,
    goals,
    records,
    repositories,
    runs,
    sessions,
    tasks,
)
from swarmgate.server.api.openapi import document
from swarmgate.server.http.problems import RESPONSES, http_error

PREFIX = "/v1"

_ROUTERS = (sessions, accounts, repositories, goals, decisions, tasks, runs, councils, gates, records)


def router() -> APIRouter:
    """The routes, each with what it may answer."""
    found = APIRouter(prefix=PREFIX, responses=RESPONSES, generate_unique_id_function=_operation)
    for each in _ROUTERS:
        found.include_router(each.router)
    return found


def _operation(route: APIRoute) -> str:
    """The id of an operation: the name of its function."""
    return route.name


def install(app: FastAPI) -> None:
    """Adds the routes to an application, and the document that describes them at `/openapi.json`."""
    app.include_router(router())
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _not_allowed)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # FastAPI's own way


async def _not_allowed(request: Request, error: Exception) -> Response:
    """Says which methods there are at a path: the framework names only those of the first route that it tried."""
    if not isinstance(error, HTTPException):
        raise error
    allowed = methods_at(request.url.path)
    headers = {**(error.headers or {}), **({"Allow": ", ".join(sorted(allowed))} if allowed else {})}
    return await http_error(request, HTTPException(error.status_code, error.detail, headers))


def methods_at(path: str) -> frozenset[str]:
    """The methods of all routes of a path; none where it is no path of `/v1`."""
    if not path.startswith(f"{PREFIX}/"):
        return frozenset()
    rest = path.removeprefix(PREFIX)
    routes = (route for each in _ROUTERS for route in each.router.routes if isinstance(route, APIRoute))
    return frozenset(method for route in routes if route.path_regex.match(rest) for method in route.methods or ())

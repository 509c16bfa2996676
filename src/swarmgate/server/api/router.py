"""All routes of `/v1`."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from swarmgate.server.api import (
    accounts,
    checks,
    councils,
    decisions,
    gates,
    goals,
    operations,
    records,
    repositories,
    runs,
    sessions,
    tasks,
)
from swarmgate.server.api.openapi import document
from swarmgate.server.http.problems import http_error

_ROUTERS = (
    goals,
    decisions,
    tasks,
    runs,
    sessions,
    accounts,
    repositories,
    councils,
    gates,
    operations,
    records,
    checks,
)


def install(app: FastAPI) -> None:
    """Adds the routes to an application, and the document that describes them at `/openapi.json`.

    They stand in its own list: FastAPI looks through a router in a router twice for each request, and through one in
    that four times. The first ones are asked for most often.
    """
    for each in _ROUTERS:
        app.router.routes.extend(each.router.routes)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _not_allowed)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # FastAPI's own way


async def _not_allowed(request: Request, error: Exception) -> Response:
    """Says which methods there are at a path: the framework names only those of the first route that it tried."""
    if not isinstance(error, HTTPException):
        raise error
    allowed = methods_at(request.app, request.url.path)
    headers = {**(error.headers or {}), **({"Allow": ", ".join(sorted(allowed))} if allowed else {})}
    return await http_error(request, HTTPException(error.status_code, error.detail, headers))


def methods_at(app: FastAPI, path: str) -> frozenset[str]:
    """The methods of all routes of a path; none where none is one of ours."""
    routes = (route for route in app.routes if isinstance(route, APIRoute))
    return frozenset(method for route in routes if route.path_regex.match(path) for method in route.methods or ())

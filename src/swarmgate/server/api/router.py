"""All routes of `/v1`, in the order in which a program meets them.

app.include_router(router())
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

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
from swarmgate.server.http.problems import RESPONSES

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
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # FastAPI's own way

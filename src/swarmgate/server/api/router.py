"""All routes of `/v1`."""

from __future__ import annotations

from fastapi import FastAPI

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

_ROUTERS = (goals, decisions, tasks, runs, sessions, accounts, repositories, councils, gates, records)


def install(app: FastAPI) -> None:
    """Adds the routes to an application, and the document that describes them at `/openapi.json`.

    They stand in its own list: FastAPI looks through a router in a router twice for each request, and through one in
    that four times. The first ones are asked for most often.
    """
    for each in _ROUTERS:
        app.router.routes.extend(each.router.routes)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # FastAPI's own way

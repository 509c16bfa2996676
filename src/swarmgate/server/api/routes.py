"""How each module of the interface begins its routes: below `/v1`, with what every one may answer."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from swarmgate.server.http.problems import RESPONSES

PREFIX = "/v1"


def routes(tag: str) -> APIRouter:
    """An empty router.

    Args:
        tag: the heading of its routes in the document of the interface.
    """
    return APIRouter(prefix=PREFIX, tags=[tag], responses=RESPONSES, generate_unique_id_function=_operation)


def _operation(route: APIRoute) -> str:
    """The id of an operation: the name of its function."""
    return route.name

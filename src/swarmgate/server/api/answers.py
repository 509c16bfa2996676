"""Answers of the routes: a view is sent as it was written once, and not sent again to who has it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from swarmgate.domain.base import Frozen
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.view import View

_JSON = "application/json"
_CACHED = "private, no-cache"
"""May be kept by the client alone, which asks each time whether it is still so."""


def etag(view: View) -> str:
    """The tag of a view: the position of its ledger, where it has one, and what it says."""
    seq = getattr(view, "seq", None)
    return f'"{seq}-{view.digest}"' if seq is not None else f'"{view.digest}"'


def told(request: Request, view: View, *, status: int = 200, location: str = "") -> Response:
    """A view as an answer; 304 without a body for who asks `If-None-Match` and has it.

    Args:
        request: which is answered.
        view: what is told.
        status: of the answer.
        location: where what was begun can be looked at; empty: nothing was.
    """
    tag = etag(view)
    headers = {"ETag": tag, "Cache-Control": _CACHED}
    if location:
        headers["Location"] = location
    if request.method == "GET" and _known(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(view.encoded, status, headers, _JSON)


def begun(request: Request, operation: OperationView) -> Response:
    """That something is under way which takes a while, and where it can be looked at."""
    return told(request, operation, status=202, location=f"/v1/operations/{operation.id}")


def secret(model: Frozen, *, status: int = 200, location: str = "") -> Response:
    """An answer that holds a secret: nobody keeps it."""
    headers = {"Cache-Control": "no-store"}
    if location:
        headers["Location"] = location
    return Response(model.model_dump_json(), status, headers, _JSON)


def _known(said: str, tag: str) -> bool:
    return tag in {each.strip().removeprefix("W/") for each in said.split(",")}


_ETAG = {"ETag": {"description": "Position of the ledger and digest of the answer.", "schema": {"type": "string"}}}
_NOT_MODIFIED: dict[str, Any] = {"description": "What the client has is still so.", "headers": _ETAG}
_LOCATION = {"Location": {"description": "Where it can be looked at.", "schema": {"type": "string"}}}

LOOK: dict[int | str, dict[str, Any]] = {200: {"headers": _ETAG}, 304: _NOT_MODIFIED}
"""What a route that looks answers beside problems."""
BEGUN: dict[int | str, dict[str, Any]] = {202: {"description": "It is under way.", "headers": _ETAG | _LOCATION}}
"""What a route answers that begins work."""
MADE: dict[int | str, dict[str, Any]] = {201: {"description": "It is there.", "headers": _LOCATION}}
"""What a route answers that makes something."""

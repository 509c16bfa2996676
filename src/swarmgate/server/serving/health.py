"""What a supervisor asks: whether the process answers, whether it can do its work, and how much it does."""

from __future__ import annotations

import asyncio
from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from swarmgate.errors import NotAllowed, NotFound, SwarmError
from swarmgate.server.accounts.model import Role
from swarmgate.server.http.dependencies import Who
from swarmgate.server.serving.rooms import Rooms
from swarmgate.server.telemetry.metrics import CONTENT_TYPE

router = APIRouter(include_in_schema=False)

_PATIENCE_S = 2.0
"""Seconds that the store has to answer: who asks waits for a few seconds at most."""


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop turns."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Answers 503 before the server has begun, while it ends, and while its store is away."""
    why = "" if request.app.state.ready else "it begins or ends"
    if not why:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await _rooms(request).store.ping()
        except (SwarmError, TimeoutError):
            why = "the store is away"
    return JSONResponse({"status": f"not ready: {why}" if why else "ready"}, status_code=503 if why else 200)


@router.get("/metrics")
async def metrics(request: Request, who: Who) -> Response:
    """Answers in Prometheus' text format, to those who may look at all repositories."""
    rooms = _rooms(request)
    if not rooms.settings.server.telemetry.metrics:
        raise NotFound("There is nothing at this address.")
    if not who.may(Role.VIEWER):
        raise NotAllowed("Metrics are of all repositories; your account may look at some.")
    return Response(rooms.metrics.text(), media_type=CONTENT_TYPE)


def _rooms(request: Request) -> Rooms:
    return cast("Rooms", request.app.state.rooms)

"""What a supervisor asks: `/healthz`, whether the process answers, and `/readyz`, whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop turns."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Answers 503 before the server has begun and while it ends."""
    ready = bool(request.app.state.ready)
    return JSONResponse({"status": "ready" if ready else "not ready"}, status_code=200 if ready else 503)

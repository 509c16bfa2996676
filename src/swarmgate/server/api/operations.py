"""Routes of what takes a while."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import LOOK, told
from swarmgate.server.api.parameters import OperationId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.operation import OperationView

router = routes("Operations")


@router.get("/operations/{operation}", response_model=OperationView, responses=LOOK)
async def get_operation(request: Request, services: ServicesOf, who: Who, operation: OperationId) -> Response:
    """Look at what takes a while: how it stands, and its result, which is kept for a day."""
    return told(request, await services.operations.get(who, operation))

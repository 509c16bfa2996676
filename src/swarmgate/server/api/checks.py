"""Routes of what else the command line looks at in a project."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, begun, told
from swarmgate.server.api.parameters import GoalId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Token, Who
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.record import (
    AutomationView,
    DriftView,
    HandoffView,
    SbomView,
)

router = routes("Goals")


@router.get("/goals/{goal}/drift", response_model=DriftView, responses=LOOK)
async def get_drift(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Compare the decisions on record with what came after them."""
    return told(request, await services.checks.drift(who, goal))


@router.get("/goals/{goal}/handoff", response_model=HandoffView, responses=LOOK)
async def get_handoff(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Read one page on where the work stands, for somebody else."""
    return told(request, await services.checks.handoff(who, goal))


@router.get("/goals/{goal}/automation", response_model=AutomationView, responses=LOOK)
async def get_automation(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Look at what happens beside the loop, and where it was switched on."""
    return told(request, await services.checks.automation(who, goal))


@router.post("/goals/{goal}/doctor", status_code=202, response_model=OperationView, responses=BEGUN)
async def run_doctor(request: Request, services: ServicesOf, who: Who, token: Token, goal: GoalId) -> Response:
    """Check settings, models, tools, tests and the ledger; nothing is changed. It takes an operator."""
    return begun(request, await services.checks.doctor(who, goal, token=token))


@router.post("/goals/{goal}/preflight", status_code=202, response_model=OperationView, responses=BEGUN)
async def run_preflight(request: Request, services: ServicesOf, who: Who, token: Token, goal: GoalId) -> Response:
    """Check whether the current phase can begin. It takes an operator."""
    return begun(request, await services.checks.preflight(who, goal, token=token))


@router.get("/goals/{goal}/sbom", response_model=SbomView, responses=LOOK)
async def get_sbom(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """List the components of the project as a CycloneDX document."""
    return told(request, await services.checks.sbom(who, goal))

"""Routes of what else the command line looks at in a project."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import LOOK, told
from swarmgate.server.api.parameters import GoalId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.record import (
    AutomationView,
    DoctorView,
    DriftView,
    HandoffView,
    PreflightView,
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


@router.get("/goals/{goal}/doctor", response_model=DoctorView, responses=LOOK)
async def get_doctor(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Check settings, models, tools, tests and the ledger; nothing is changed. It takes an operator."""
    return told(request, await services.checks.doctor(who, goal))


@router.get("/goals/{goal}/preflight", response_model=PreflightView, responses=LOOK)
async def get_preflight(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Check whether the current phase can begin. It takes an operator."""
    return told(request, await services.checks.preflight(who, goal))


@router.get("/goals/{goal}/sbom", response_model=SbomView, responses=LOOK)
async def get_sbom(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """List the components of the project as a CycloneDX document."""
    return told(request, await services.checks.sbom(who, goal))

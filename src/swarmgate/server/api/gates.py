"""Routes of the gates."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, begun, told
from swarmgate.server.api.bodies import GateRun
from swarmgate.server.api.parameters import RuleId, TheGoal
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Token, Who
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.record import GateView, RuleView
from swarmgate.server.services.views.view import Page

router = routes("Gates")


@router.get("/gates", response_model=Page[GateView], responses=LOOK)
async def list_gates(request: Request, services: ServicesOf, who: Who, goal: TheGoal) -> Response:
    """List the gates of a goal's project, in the order of the pipeline."""
    return told(request, await services.gates.list(who, goal))


@router.get("/gates/rules/{rule}", response_model=RuleView, responses=LOOK)
async def explain_rule(request: Request, services: ServicesOf, who: Who, rule: RuleId, goal: TheGoal) -> Response:
    """Say what a rule means, how to mend what it finds, and how to suppress it."""
    return told(request, await services.gates.explain(who, goal, rule))


@router.post("/gates", status_code=202, response_model=OperationView, responses=BEGUN)
async def run_gates(request: Request, services: ServicesOf, who: Who, token: Token, body: GateRun) -> Response:
    """Run the gates over the work tree of a goal; no file is changed."""
    return begun(request, await services.gates.start(who, token=token, **body.model_dump()))

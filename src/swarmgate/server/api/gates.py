"""Routes of the gates."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, told
from swarmgate.server.api.bodies import GateRun
from swarmgate.server.api.parameters import RuleId, TheGoal
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.record import GateRunView, GateView, RuleView
from swarmgate.server.services.views.view import Page

router = routes("Gates")

_RunId = Annotated[
    str,
    Path(alias="run", description="Of a run of the gates.", pattern=r"^j-[0-9a-f]{12}$", examples=["j-0c1d2e3f4a5b"]),
]


@router.get("/gates", response_model=Page[GateView], responses=LOOK)
async def list_gates(request: Request, services: ServicesOf, who: Who, goal: TheGoal) -> Response:
    """List the gates of a goal's project, in the order of the pipeline."""
    return told(request, await services.gates.list(who, goal))


@router.get("/gates/rules/{rule}", response_model=RuleView, responses=LOOK)
async def explain_rule(request: Request, services: ServicesOf, who: Who, rule: RuleId, goal: TheGoal) -> Response:
    """Say what a rule means, how to mend what it finds, and how to suppress it."""
    return told(request, await services.gates.explain(who, goal, rule))


@router.post("/gates", status_code=202, response_model=GateRunView, responses=BEGUN)
async def run_gates(request: Request, services: ServicesOf, who: Who, body: GateRun) -> Response:
    """Run the gates over the work tree of a goal; no file is changed."""
    run = await services.gates.start(who, body.goal, base=body.base, everything=body.everything, only=body.only)
    return told(request, run, status=202, location=f"/v1/gates/runs/{run.id}")


@router.get("/gates/runs/{run}", response_model=GateRunView, responses=LOOK)
async def get_gate_run(request: Request, services: ServicesOf, who: Who, run: _RunId) -> Response:
    """Look at a run of the gates; its report is kept for a day."""
    return told(request, await services.gates.result(who, run))

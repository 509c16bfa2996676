"""Routes of the work on goals."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, told
from swarmgate.server.api.bodies import NewRun
from swarmgate.server.api.parameters import After, GoalId, Limit, OfRepo
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.fleet import FleetView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page

router = routes("Runs")


@router.get("/runs", response_model=Page[RunView], responses=LOOK)
async def list_runs(
    request: Request, services: ServicesOf, who: Who, repo: OfRepo = "", after: After = "", limit: Limit = 100
) -> Response:
    """List the goals that are worked on, wait for their turn, are paused, or whose last run failed."""
    return told(request, await services.runs.list(who, repo=repo, after=after, limit=limit))


@router.get("/fleet", response_model=FleetView, responses=LOOK)
async def get_fleet(request: Request, services: ServicesOf, who: Who) -> Response:
    """Look at the goals that workers of a fleet work on, and at those workers. It takes an operator."""
    return told(request, await services.runs.fleet(who))


@router.post("/runs", status_code=202, response_model=RunView, responses=BEGUN)
async def start_run(request: Request, services: ServicesOf, who: Who, body: NewRun) -> Response:
    """Have the work on a goal go on, as soon as a worker is free."""
    run = await services.runs.start(who, body.goal, until=body.until, stash=body.stash)
    return told(request, run, status=202, location=f"/v1/runs/{run.goal}")


@router.get("/runs/{goal}", response_model=RunView, responses=LOOK)
async def get_run(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Look at how the work on a goal goes."""
    return told(request, await services.runs.get(who, goal))


@router.post("/runs/{goal}/stop", status_code=202, response_model=RunView, responses=BEGUN)
async def stop_run(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Have nothing wanted of a goal any more; a run at work ends at its next safe point."""
    return told(request, await services.runs.stop(who, goal), status=202, location=f"/v1/runs/{goal}")


@router.post("/runs/{goal}/pause", status_code=202, response_model=RunView, responses=BEGUN)
async def pause_run(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Stop, and keep what is wanted until it is resumed."""
    return told(request, await services.runs.pause(who, goal), status=202, location=f"/v1/runs/{goal}")


@router.post("/runs/{goal}/resume", status_code=202, response_model=RunView, responses=BEGUN)
async def resume_run(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Have what was paused, or waits for the end of a limit, go on."""
    return told(request, await services.runs.resume(who, goal), status=202, location=f"/v1/runs/{goal}")

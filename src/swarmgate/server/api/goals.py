"""Routes of goals."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from swarmgate.engine.reports.status import HistoryLine
from swarmgate.server.api.answers import BEGUN, LOOK, begun, told
from swarmgate.server.api.bodies import Abandonment, NewGoal, NewPullRequest, Revision
from swarmgate.server.api.parameters import After, AfterNumber, GoalId, Limit, OfRepo, OfTask
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Token, Who
from swarmgate.server.http.etags import IfMatch
from swarmgate.server.services.views.goal import (
    FailuresView,
    GoalSummary,
    GoalView,
    PlanView,
    ReportView,
)
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page

router = routes("Goals")

_State = Annotated[
    Literal["", "idle", "queued", "working", "paused", "stopping", "failed", "waiting"],
    Query(description="Only those in this state; `waiting`: for a person."),
]
_Phase = Annotated[int, Query(description="Only of this phase, from 1; 0: all.", ge=0, le=1_000_000)]


@router.get("/goals", response_model=Page[GoalSummary], responses=LOOK)
async def list_goals(
    request: Request,
    services: ServicesOf,
    who: Who,
    repo: OfRepo = "",
    state: _State = "",
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """List the goals that the account may see, the newest first."""
    return told(request, await services.goals.list(who, repo=repo, state=state, after=after, limit=limit))


@router.post("/goals", status_code=202, response_model=GoalView, responses=BEGUN)
async def create_goal(request: Request, services: ServicesOf, who: Who, token: Token, body: NewGoal) -> Response:
    """Begin a goal: it is cloned and planned as soon as a worker is free, and its plan then waits for approval."""
    made = await services.goals.create(who, token=token, **body.model_dump())
    return told(request, made, status=202, location=f"/v1/goals/{made.id}")


@router.get("/goals/{goal}", response_model=GoalView, responses=LOOK)
async def get_goal(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Look at a goal: what `swarm status` says of it, and what the server does with it."""
    return told(request, await services.goals.get(who, goal))


@router.delete("/goals/{goal}", status_code=204)
async def archive_goal(services: ServicesOf, who: Who, goal: GoalId) -> None:
    """Put a goal away that nobody works on; its branch and its folder stay."""
    await services.goals.archive(who, goal)


@router.get("/goals/{goal}/plan", response_model=PlanView, responses=LOOK)
async def get_plan(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Look at the plan, as data and as plan.md."""
    return told(request, await services.goals.plan(who, goal))


@router.get("/goals/{goal}/history", response_model=Page[HistoryLine], responses=LOOK)
async def get_history(
    request: Request,
    services: ServicesOf,
    who: Who,
    goal: GoalId,
    task: OfTask = "",
    after: AfterNumber = "",
    limit: Limit = 100,
) -> Response:
    """Read what happened, in words and in order."""
    return told(request, await services.goals.history(who, goal, task=task, after=after, limit=limit))


@router.get("/goals/{goal}/failures", response_model=FailuresView, responses=LOOK)
async def get_failures(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Look at the rejections of all tasks, grouped by what they have in common."""
    return told(request, await services.goals.failures(who, goal))


@router.get("/goals/{goal}/report", response_model=ReportView, responses=LOOK)
async def get_report(request: Request, services: ServicesOf, who: Who, goal: GoalId, phase: _Phase = 0) -> Response:
    """Look at the record of a goal, or of one phase, with its changes."""
    return told(request, await services.goals.report(who, goal, phase=phase))


@router.get("/goals/{goal}/report.html", response_class=HTMLResponse)
async def get_report_page(services: ServicesOf, who: Who, goal: GoalId, phase: _Phase = 0) -> HTMLResponse:
    """Fetch the same as one page of HTML, which asks no other host for anything."""
    page = await services.goals.report_page(who, goal, phase=phase)
    return HTMLResponse(page, headers={"Content-Disposition": 'attachment; filename="report.html"'})


@router.post("/goals/{goal}/revise", status_code=202, response_model=RunView, responses=BEGUN)
async def revise_goal(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, body: Revision, if_match: IfMatch
) -> Response:
    """Have the architect change the plan, and the critic review it."""
    run = await services.goals.revise(who, goal, body.text, if_match=if_match)
    return told(request, run, status=202, location=f"/v1/runs/{goal}")


@router.post("/goals/{goal}/abandon", response_model=GoalView)
async def abandon_goal(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, body: Abandonment, if_match: IfMatch
) -> Response:
    """End a goal before its work is done; its branch stays."""
    return told(request, await services.goals.abandon(who, goal, reason=body.reason, if_match=if_match))


@router.post("/goals/{goal}/pull-request", status_code=202, response_model=OperationView, responses=BEGUN)
async def open_pull_request(
    request: Request, services: ServicesOf, who: Who, token: Token, goal: GoalId, body: NewPullRequest
) -> Response:
    """Push the goal's branch, never by force, and open a pull request; with `check` only describe one."""
    return begun(request, await services.goals.pull_request(who, goal, token=token, **body.model_dump()))

"""Routes of what is on record: ledger, evidence, cost, agents."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from swarmgate.domain.spending.cost import By
from swarmgate.server.api.answers import LOOK, told
from swarmgate.server.api.parameters import (
    AfterNumber,
    AttemptNumber,
    FileName,
    GoalId,
    Limit,
    OfGoal,
    OfRepo,
    OfTask,
    TaskId,
)
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.record import (
    AgentView,
    AuditView,
    CostView,
    EntryView,
    EvidenceContent,
    EvidenceFiles,
    EvidenceView,
)
from swarmgate.server.services.views.view import Page

router = routes("Records")


@router.get("/ledger/{goal}", response_model=Page[EntryView], responses=LOOK)
async def get_ledger(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, after: AfterNumber = "", limit: Limit = 100
) -> Response:
    """Read the ledger of a goal, in order."""
    return told(request, await services.ledger.page(who, goal, after=after, limit=limit))


@router.get("/ledger/{goal}/verify", response_model=AuditView, responses=LOOK)
async def verify_ledger(request: Request, services: ServicesOf, who: Who, goal: GoalId) -> Response:
    """Walk the chain of the ledger, and compare it with plan, evidence and git."""
    return told(request, await services.ledger.verify(who, goal))


@router.get("/evidence/{goal}", response_model=EvidenceView, responses=LOOK)
async def get_evidence(request: Request, services: ServicesOf, who: Who, goal: GoalId, task: OfTask = "") -> Response:
    """Look at how complete the evidence of every attempt is."""
    return told(request, await services.evidence.report(who, goal, task=task))


@router.get("/evidence/{goal}/{task}/{attempt}", response_model=EvidenceFiles, responses=LOOK)
async def list_evidence(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskId, attempt: AttemptNumber
) -> Response:
    """List the files of evidence of one attempt."""
    return told(request, await services.evidence.list(who, goal, task, attempt))


@router.get("/evidence/{goal}/{task}/{attempt}/{name}", response_model=EvidenceContent, responses=LOOK)
async def read_evidence(
    request: Request,
    services: ServicesOf,
    who: Who,
    goal: GoalId,
    task: TaskId,
    attempt: AttemptNumber,
    name: FileName,
) -> Response:
    """Read one file of evidence, without keys."""
    return told(request, await services.evidence.read(who, goal, task, attempt, name))


@router.get("/cost", response_model=CostView, responses=LOOK)
async def get_cost(
    request: Request,
    services: ServicesOf,
    who: Who,
    repo: OfRepo = "",
    goal: OfGoal = "",
    by: Annotated[By, Query(description="The table.")] = "day",
) -> Response:
    """Look at what one goal, a repository, or all that the account may see have used."""
    return told(request, await services.cost.report(who, repo=repo, goal=goal, by=by))


@router.get("/agents", response_model=Page[AgentView], responses=LOOK)
async def list_agents(
    request: Request, services: ServicesOf, who: Who, repo: OfRepo = "", goal: OfGoal = ""
) -> Response:
    """List the roles and agents of projects, with their models."""
    return told(request, await services.agents.list(who, repo=repo, goal=goal))

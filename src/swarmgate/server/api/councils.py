"""Routes of councils."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, told
from swarmgate.server.api.bodies import NewCouncil, PersonalAnswer, ResumedCouncil
from swarmgate.server.api.bodies import Pattern as Named
from swarmgate.server.api.parameters import After, AfterNumber, CouncilId, Limit, OfGoal, OfRepo
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Token, Who
from swarmgate.server.services.views.record import (
    ArgumentGraph,
    CouncilSummary,
    CouncilView,
    MetricsView,
    UtteranceView,
    VotesView,
)
from swarmgate.server.services.views.view import Page

router = routes("Councils")


@router.get("/councils", response_model=Page[CouncilSummary], responses=LOOK)
async def list_councils(
    request: Request,
    services: ServicesOf,
    who: Who,
    repo: OfRepo = "",
    goal: OfGoal = "",
    pattern: Annotated[Named | None, Query(description="Only of this pattern.")] = None,
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """List the councils that the account may see, the newest first."""
    found = await services.councils.list(who, repo=repo, goal=goal, pattern=pattern or "", after=after, limit=limit)
    return told(request, found)


@router.post("/councils", status_code=202, response_model=CouncilView, responses=BEGUN)
async def start_council(request: Request, services: ServicesOf, who: Who, token: Token, body: NewCouncil) -> Response:
    """Begin a council: it is held as soon as a worker is free."""
    begun = await services.councils.start(who, body.pattern, body.request, repo=body.repo, goal=body.goal, token=token)
    return told(request, begun, status=202, location=f"/v1/councils/{begun.id}")


@router.get("/councils/metrics", response_model=MetricsView, responses=LOOK)
async def get_metrics(request: Request, services: ServicesOf, who: Who, repo: OfRepo = "") -> Response:
    """Look at what councils came to, by pattern: rounds, convergence, tokens, cost."""
    return told(request, MetricsView(patterns=await services.councils.metrics(who, repo=repo)))


@router.get("/councils/{council}", response_model=CouncilView, responses=LOOK)
async def get_council(request: Request, services: ServicesOf, who: Who, council: CouncilId) -> Response:
    """Look at a council: how it stands, and all that its pattern makes of it."""
    return told(request, await services.councils.get(who, council))


@router.get("/councils/{council}/transcript", response_model=Page[UtteranceView], responses=LOOK)
async def get_transcript(
    request: Request, services: ServicesOf, who: Who, council: CouncilId, after: AfterNumber = "", limit: Limit = 100
) -> Response:
    """Read what was said and done in a council, in order."""
    return told(request, await services.councils.transcript(who, council, after=after, limit=limit))


@router.get("/councils/{council}/arguments", response_model=ArgumentGraph, responses=LOOK)
async def get_arguments(request: Request, services: ServicesOf, who: Who, council: CouncilId) -> Response:
    """Look at who said what for or against what."""
    return told(request, await services.councils.graph(who, council))


@router.get("/councils/{council}/votes", response_model=VotesView, responses=LOOK)
async def get_votes(request: Request, services: ServicesOf, who: Who, council: CouncilId) -> Response:
    """Look at how everybody voted, round by round."""
    return told(request, await services.councils.votes(who, council))


@router.post("/councils/{council}/stop", status_code=202, response_model=CouncilView, responses=BEGUN)
async def stop_council(request: Request, services: ServicesOf, who: Who, council: CouncilId) -> Response:
    """Have a council end at its next safe point; it can go on later."""
    found = await services.councils.stop(who, council)
    return told(request, found, status=202, location=f"/v1/councils/{council}")


@router.post("/councils/{council}/resume", status_code=202, response_model=CouncilView, responses=BEGUN)
async def resume_council(
    request: Request, services: ServicesOf, who: Who, council: CouncilId, body: ResumedCouncil
) -> Response:
    """Have a council go on after its last complete step, with other budgets where they are given."""
    found = await services.councils.resume(who, council, tokens=body.tokens, usd=body.usd)
    return told(request, found, status=202, location=f"/v1/councils/{council}")


@router.post("/councils/{council}/answer", status_code=202, response_model=CouncilView, responses=BEGUN)
async def answer_council(
    request: Request, services: ServicesOf, who: Who, council: CouncilId, body: PersonalAnswer
) -> Response:
    """Give the vote of a person that a decision waits for; it goes on with that."""
    found = await services.councils.answer(who, council, body.vote, person=body.person)
    return told(request, found, status=202, location=f"/v1/councils/{council}")

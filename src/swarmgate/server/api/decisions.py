"""Routes of what waits for a person: needs, approvals, questions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from starlette.responses import Response

from swarmgate.server.api.answers import BEGUN, LOOK, told
from swarmgate.server.api.bodies import Answer, Decision
from swarmgate.server.api.parameters import After, ApprovalId, Limit, OfGoal, OfRepo, QuestionId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.http.etags import IfMatch
from swarmgate.server.services.views.decision import ApprovalSummary, ApprovalView, NeedView, QuestionView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page

router = routes("Needs me")

_UNDER_WAY = ("queued", "working")


@router.get("/needs", response_model=Page[NeedView], responses=LOOK)
async def list_needs(
    request: Request, services: ServicesOf, who: Who, repo: OfRepo = "", after: After = "", limit: Limit = 100
) -> Response:
    """List everything that waits for a person and that the account may decide, most urgent first."""
    return told(request, await services.needs.list(who, repo=repo, after=after, limit=limit))


@router.get("/approvals", response_model=Page[ApprovalSummary], responses=LOOK)
async def list_approvals(
    request: Request, services: ServicesOf, who: Who, repo: OfRepo = "", after: After = "", limit: Limit = 100
) -> Response:
    """List what waits for approval, what has waited longest first."""
    return told(request, await services.approvals.list(who, repo=repo, after=after, limit=limit))


@router.get("/approvals/{approval}", response_model=ApprovalView, responses=LOOK)
async def get_approval(request: Request, services: ServicesOf, who: Who, approval: ApprovalId) -> Response:
    """Look at what waits for approval: plan, changes, gates, tests, cost, drift."""
    return told(request, await services.approvals.get(who, approval))


@router.post("/approvals/{approval}", response_model=RunView, responses=BEGUN | {202: {**BEGUN[202], "model": RunView}})
async def decide_approval(
    request: Request, services: ServicesOf, who: Who, approval: ApprovalId, body: Decision, if_match: IfMatch
) -> Response:
    """Approve what waits, or have the plan revised; 202 where work goes on by that."""
    run = await services.approvals.decide(
        who, approval, body.decision, text=body.text, if_match=if_match, go_on=body.go_on
    )
    if run.state in _UNDER_WAY:
        return told(request, run, status=202, location=f"/v1/runs/{run.goal}")
    return told(request, run)


@router.get("/questions", response_model=Page[QuestionView], responses=LOOK)
async def list_questions(
    request: Request,
    services: ServicesOf,
    who: Who,
    goal: OfGoal = "",
    which: Annotated[Literal["open", "all"], Query(description="Only those that wait for an answer, or all.")] = "open",
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """List questions of agents and of the architect."""
    found = await services.questions.list(who, goal=goal, open_only=which == "open", after=after, limit=limit)
    return told(request, found)


@router.get("/questions/{question}", response_model=QuestionView, responses=LOOK)
async def get_question(request: Request, services: ServicesOf, who: Who, question: QuestionId) -> Response:
    """Look at a question."""
    return told(request, await services.questions.get(who, question))


@router.post("/questions/{question}", response_model=QuestionView)
async def answer_question(
    request: Request, services: ServicesOf, who: Who, question: QuestionId, body: Answer, if_match: IfMatch
) -> Response:
    """Answer a question, or leave it to who asks; keys in the answer are masked."""
    found = await services.questions.answer(who, question, **body.model_dump(), if_match=if_match)
    return told(request, found)

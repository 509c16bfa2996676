"""The endpoints of ADR 0007 below `/api/v1/agents`, in the words of its reference."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from swarmgate.errors import SwarmError, UsageError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.http.dependencies import ServicesOf, Who, principal_of, token_of
from swarmgate.server.reference import counting, registry
from swarmgate.server.reference.bodies import (
    CritiqueBody,
    DiscussionBody,
    ExecutionBody,
    OrchestrationBody,
    PatternName,
)
from swarmgate.server.reference.envelope import EnvelopeRoute, answer, failure, now
from swarmgate.server.reference.executions import FAILED, LONGEST_S, Begun, Executions, Kind, Seen, generic, kind_of

PREFIX = "/api/v1/agents"
router = APIRouter(
    prefix=PREFIX,
    route_class=EnvelopeRoute,
    tags=["ADR 0007"],
    generate_unique_id_function=lambda route: f"agents_{route.name}",
)

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*(\d{1,6})\s*(?:,|;|$)", re.ASCII)
_YES, _NO = ("true", "yes"), ("", "false", "no", "0")
_BEGAN = time.monotonic()


class Where(BaseModel):
    """Where a council is held, and whether the answer waits for its end."""

    model_config = ConfigDict(frozen=True)

    repo: Annotated[str, Field(description="The repository; empty: the only one in which you may begin one.")] = ""
    goal: Annotated[str, Field(description="The goal in whose project it is held; empty: none.")] = ""
    wait: Annotated[
        str, Field(max_length=10, description="`true`, or so many seconds: the answer comes when it has ended.")
    ] = ""


Asked = Annotated[Where, Query()]
Repo = Annotated[str, Query(description="Of one repository; empty: of all that you may see.")]
Period = Annotated[
    int, Query(alias="periodSeconds", ge=60, le=86_400, description="How far it looks back, in seconds.")
]
Recent = Annotated[bool, Query(alias="includeRecent", description="Whether the newest ones are listed.")]


# --- begin ---


@router.post("/orchestrate/self-critique", status_code=202)
async def self_critique(request: Request, services: ServicesOf, who: Who, where: Asked, body: CritiqueBody) -> Response:
    """Has an agent improve its output until it is good enough, or its iterations are over."""
    return await _begun(request, services, who, where, "self-critique", body)


@router.post("/orchestrate/discussion", status_code=202)
async def discussion(request: Request, services: ServicesOf, who: Who, where: Asked, body: DiscussionBody) -> Response:
    """Has several agents discuss a topic to a consensus, or honestly to none."""
    return await _begun(request, services, who, where, "discussion", body)


@router.post("/orchestrate/sequential", status_code=202)
async def sequential(
    request: Request, services: ServicesOf, who: Who, where: Asked, body: OrchestrationBody
) -> Response:
    """Has tasks done one after the other, to the first that fails; `{{_lastResult}}` is the result before."""
    return await _begun(request, services, who, where, "sequential", body)


@router.post("/orchestrate/parallel", status_code=202)
async def parallel(request: Request, services: ServicesOf, who: Who, where: Asked, body: OrchestrationBody) -> Response:
    """Has tasks done at once."""
    return await _begun(request, services, who, where, "parallel", body)


@router.post("/orchestrate/conditional", status_code=202)
async def conditional(
    request: Request, services: ServicesOf, who: Who, where: Asked, body: OrchestrationBody
) -> Response:
    """Has the first task done whose condition holds, else the one that has none."""
    return await _begun(request, services, who, where, "conditional", body)


@router.post("/orchestrate/map-reduce", status_code=202)
async def map_reduce(
    request: Request, services: ServicesOf, who: Who, where: Asked, body: OrchestrationBody
) -> Response:
    """Has the task `map` done for each of `options.items`, then `reduce` with all results."""
    return await _begun(request, services, who, where, "map-reduce", body)


@router.post("/orchestrate", status_code=202)
async def orchestrate(
    request: Request, services: ServicesOf, who: Who, where: Asked, body: OrchestrationBody
) -> Response:
    """Has tasks done as the `pattern` of the body says."""
    pattern, found = generic(body)
    return await _begun(request, services, who, where, pattern, found)


@router.post("/registry/{id}/execute", status_code=202)
async def execute(
    request: Request,
    services: ServicesOf,
    who: Who,
    where: Asked,
    id: str,  # noqa: A002 - the field's name
    body: ExecutionBody,
) -> Response:
    """Asks one agent."""
    run = Executions(services.councils)
    registry.registration(await run.agents(who, repo=where.repo), id)
    begun = await run.execute(who, id, body, repo=where.repo, token=token_of(request))
    return await _answered(request, run, who, where, begun)


# --- look ---


@router.get("/orchestrate/metrics")
async def orchestration_metrics(request: Request, services: ServicesOf, who: Who, repo: Repo = "") -> Response:
    """How many councils there were of each pattern, how they ended, and how long they took."""
    return answer(request, counting.orchestrations(await Executions(services.councils).counted(who, repo=repo)))


@router.get("/critique/metrics")
async def critique_metrics(request: Request, services: ServicesOf, who: Who, repo: Repo = "") -> Response:
    """How self-critiques went."""
    return answer(request, counting.critiques(await Executions(services.councils).counted(who, repo=repo)))


@router.get("/discussion/metrics")
async def discussion_metrics(request: Request, services: ServicesOf, who: Who, repo: Repo = "") -> Response:
    """How discussions went."""
    return answer(request, counting.discussions(await Executions(services.councils).counted(who, repo=repo)))


@router.get("/metrics")
async def metrics(
    request: Request, services: ServicesOf, who: Who, *, period: Period = 3600, recent: Recent = True, repo: Repo = ""
) -> Response:
    """All metrics of the last so many seconds."""
    since = (datetime.now(UTC) - timedelta(seconds=period)).isoformat(timespec="milliseconds")
    found = await Executions(services.councils).counted(who, repo=repo, since=since)
    whole = counting.orchestrations(found)
    kept = whole if recent else {key: value for key, value in whole.items() if key != "recentMetrics"}
    data = {"selfCritique": counting.critiques(found), "discussion": counting.discussions(found), "orchestration": kept}
    return answer(request, {**data, "timestamp": now(), "periodSeconds": period})


@router.get("/critique/{id}")
async def critique_result(request: Request, services: ServicesOf, who: Who, id: str) -> Response:  # noqa: A002 - the field's name
    """A self-critique: how it stands, its iterations, its best output."""
    return answer(request, (await Executions(services.councils).seen(who, id, ("critique",))).result)


@router.get("/discussion/{id}")
async def discussion_result(request: Request, services: ServicesOf, who: Who, id: str) -> Response:  # noqa: A002 - the field's name
    """A discussion: how it stands, its rounds, its consensus."""
    return answer(request, (await Executions(services.councils).seen(who, id, ("discussion",))).result)


@router.get("/orchestrate/{pattern}/{id}")
async def result(request: Request, services: ServicesOf, who: Who, pattern: PatternName, id: str) -> Response:  # noqa: A002 - the field's name
    """Any of them: how it stands, and what came of it."""
    return answer(request, (await Executions(services.councils).seen(who, id, (kind_of(pattern),))).result)


@router.get("/registry")
async def agents(request: Request, services: ServicesOf, who: Who, repo: Repo = "") -> Response:
    """The agents: those of the settings, and the voice of participants."""
    return answer(request, registry.registrations(await Executions(services.councils).agents(who, repo=repo)))


@router.get("/registry/{id}")
async def agent(request: Request, services: ServicesOf, who: Who, id: str, repo: Repo = "") -> Response:  # noqa: A002 - the field's name
    """One agent."""
    return answer(request, registry.registration(await Executions(services.councils).agents(who, repo=repo), id))


@router.get("/registry/{id}/health")
async def agent_health(request: Request, services: ServicesOf, who: Who, id: str, repo: Repo = "") -> Response:  # noqa: A002 - the field's name
    """Whether an agent can speak; its endpoint is not asked."""
    found = registry.health(await Executions(services.councils).agents(who, repo=repo), id)
    if found["healthy"]:
        return answer(request, found)
    return failure(request, 503, {"code": "AGENT_UNAVAILABLE", "message": found["message"]}, found)


@router.post("/registry")
async def register(who: Who, body: Annotated[dict[str, Any], Body()]) -> Response:  # noqa: ARG001 - it is refused whatever it says
    """Refused: agents are described in the settings of the repository."""
    raise registry.kept_in_settings()


@router.delete("/registry/{id}")
async def unregister(who: Who, id: str) -> Response:  # noqa: A002, ARG001 - as above
    """Refused: agents are described in the settings of the repository."""
    raise registry.kept_in_settings()


@router.get("/health")
async def health(request: Request, services: ServicesOf) -> Response:
    """Whether councils can be begun; who is known is told of how many, too."""
    who, problem = principal_of(request), await services.councils.problem()
    data: dict[str, Any] = {
        "healthy": not problem,
        "services": dict.fromkeys(("promptTemplates", "agentRegistry", "workflowEngine", "orchestration"), not problem),
        "uptimeSeconds": math.floor(time.monotonic() - _BEGAN),
        "timestamp": now(),
    }
    if who is not None:
        data |= await _crowd(services, who)
    if not problem:
        return answer(request, data)
    return failure(request, 503, {"code": "SERVICE_UNAVAILABLE", "message": problem}, data)


# --- inside ---


async def _begun(
    request: Request, services: Any, who: Principal, where: Where, pattern: PatternName, body: Any
) -> Response:
    run = Executions(services.councils)
    begun = await run.begin(who, pattern, body, repo=where.repo, goal=where.goal, token=token_of(request))
    return await _answered(request, run, who, where, begun)


async def _answered(request: Request, run: Executions, who: Principal, where: Where, begun: Begun) -> Response:
    """The result if it is there, or comes while it is waited for; else 202 and where it will be."""
    if begun.over is not None:
        return answer(request, begun.over)
    within_s = waited_s(where.wait, request.headers, begun.kind)
    seen = await run.ended(who, begun.id, within_s=within_s)
    applied = {"Preference-Applied": f"wait={within_s:.0f}"} if within_s and not where.wait else {}
    folder = f"orchestrate/{seen.result['pattern']}" if begun.kind == "workflow" else begun.kind
    place = {"Location": f"{PREFIX}/{folder}/{begun.id}"}
    if not seen.over:
        return answer(request, seen.result, status=202, headers={**place, **applied, "Retry-After": "1"})
    return _result(request, seen, {**place, **applied}, cached=begun.cached)


def _result(request: Request, seen: Seen, headers: Mapping[str, str], *, cached: bool) -> Response:
    if seen.result["status"] == "completed":
        return answer(request, seen.result, headers=headers, **({"cached": True} if cached else {}))
    why = seen.result.get("error") or "It did not come to its end"
    return failure(request, 500, {"code": FAILED[seen.kind], "message": why}, seen.result, headers=headers)


def waited_s(said: str, headers: Mapping[str, str], kind: Kind) -> float:
    """So many seconds is the end waited for: as the query says, or `Prefer: wait=N`; never longer than one may last.

    Raises:
        UsageError: the query says no time.
    """
    most = LONGEST_S[kind]
    if said.lower() in _YES:
        return most
    if said.isascii() and said.isdigit():
        return min(float(said), most)
    if said.lower() not in _NO:
        raise UsageError(f"`wait` is {said[:20]!r}, and that is no number of seconds.", hint="true, or such as 30")
    preferred = _WAIT.search(headers.get("prefer", "")) if not said else None
    return min(float(preferred[1]), most) if preferred else 0.0


async def _crowd(services: Any, who: Principal) -> dict[str, Any]:
    """How many agents there are, and how many councils go on, of what the account may see."""
    run = Executions(services.councils)
    try:
        known = registry.registrations(await run.agents(who))
    except SwarmError:  # of several repositories each has its own
        known = []
    words = [each.word for each in await run.counted(who)]
    broken = sum(each["status"] == "error" for each in known)
    told = {"total": len(known), "healthy": len(known) - broken, "degraded": broken, "offline": 0}
    most = services.settings.server.concurrency
    return {
        "agents": told,
        "workflows": {"active": words.count("running"), "queued": words.count("pending"), "maxConcurrent": most},
    }

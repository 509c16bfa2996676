"""The pages of goals: all of them, one with its phases and its run, one task with its attempts, a file of evidence."""

from __future__ import annotations

import asyncio
import secrets
from typing import Annotated, Literal, NamedTuple, TypeVar

from fastapi import Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateReport
from swarmgate.domain.state.plan_view import PhaseStatus
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.status import HistoryLine
from swarmgate.errors import NotFound, SwarmError
from swarmgate.ledger.evidence.evidence import FINAL_GATES, GATES, PATCH, TESTS
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.changes import Change, change_in
from swarmgate.server.pages.needs import Back, Seq, Sure, Text, require_sure
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page, went_on
from swarmgate.server.services.views.goal import GoalView, TaskRow
from swarmgate.server.services.views.record import EvidenceFile

routes = router()

Measured = TypeVar("Measured", GateReport, TestRun)

_ROWS, _LINES, _TASKS = 50, 60, 10_000
_ATTEMPTS = 5
"""As many attempts of a task, the newest, are shown with their change."""
_ACTS = {
    "idle": (("start", "Run"),),
    "failed": (("start", "Run again"),),
    "queued": (("stop", "Take out of the queue"),),
    "working": (("pause", "Pause"), ("stop", "Stop")),
    "paused": (("resume", "Resume"), ("stop", "Stop")),
    "stopping": (),
}
"""What can be done with a goal, by what the server does with it."""
_DONE = {
    "start": "The work goes on.",
    "stop": "It ends at the next safe point.",
    "pause": "It pauses at the next safe point.",
    "resume": "The work goes on.",
}


class ShownPhase(NamedTuple):
    """A phase with its tasks."""

    number: int
    name: str
    status: PhaseStatus
    usage: Usage
    approved_by: str
    verdicts: tuple[str, ...]
    rows: tuple[TaskRow, ...]


class ShownEvidence(NamedTuple):
    """What is kept of an attempt."""

    files: tuple[EvidenceFile, ...]
    change: Change | None = None
    gates: GateReport | None = None
    tests: TestRun | None = None


@routes.get("/goals")
async def goals(
    request: Request,
    services: ServicesOf,
    who: Who,
    repo: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The goals that may be seen, and a form for a new one."""
    found, repos = await asyncio.gather(
        services.goals.list(who, repo=repo, after=after, limit=_ROWS), services.repositories.list(who)
    )
    return await page(
        request,
        "goals.html",
        "goals",
        who,
        goals=found.items,
        next=found.next,
        repo=repo,
        repos=repos.items,
        may_start=[each for each in repos.items if who.may(Role.OPERATOR, each.id)],
        key=secrets.token_urlsafe(16),
    )


@routes.post("/goals")
async def create(services: ServicesOf, who: Who, repo: Annotated[str, Form(max_length=100)], text: Text) -> Response:
    """Has a new goal planned."""
    made = await services.goals.create(who, repo=repo, text=text)
    return went_on(f"/goals/{made.id}", "The architect plans it.", "The plan waits for your approval when it is made.")


@routes.get("/goals/{goal}")
async def goal(request: Request, services: ServicesOf, who: Who, goal: str) -> Response:
    """One goal: its phases and tasks, and the stream of its run."""
    view = await services.goals.get(who, goal)
    after = str(max(0, view.seq - _LINES))
    rows, history, waiting, operations = await asyncio.gather(
        services.tasks.list(who, goal, limit=_TASKS),
        _history(services, who, goal, after),
        services.needs.list(who),
        services.operations.of(who, goal),
    )
    return await page(
        request,
        "goal.html",
        "goals",
        who,
        goal=view,
        phases=_phases(view, rows.items),
        history=list(reversed(history)),
        needs=[each for each in waiting.items if each.goal == goal],
        operations=operations,
        acts=() if view.state == "idle" and view.waiting else _ACTS[view.state],
        may_run=who.may(Role.OPERATOR, view.repo),
        may_revise=who.may(Role.APPROVER, view.repo),
    )


async def _history(services: ServicesOf, who: Principal, goal: str, after: str) -> tuple[HistoryLine, ...]:
    """The newest lines of its ledger; none while its clone is made."""
    try:
        return (await services.goals.history(who, goal, after=after, limit=_LINES)).items
    except NotFound:
        return ()


def _phases(view: GoalView, rows: tuple[TaskRow, ...]) -> list[ShownPhase]:
    if view.status is None:
        return []
    names = [name for name in ShownPhase._fields if name != "rows"]
    return [
        ShownPhase(
            **{name: getattr(phase, name) for name in names},
            rows=tuple(row for row in rows if row.phase == phase.number),
        )
        for phase in view.status.phases
    ]


@routes.post("/goals/{goal}/runs/{verb}")
async def run(
    services: ServicesOf, who: Who, goal: str, verb: Literal["start", "stop", "pause", "resume"], back: Back = "/"
) -> Response:
    """Starts, stops, pauses or resumes the work on a goal."""
    match verb:
        case "start":
            await services.runs.start(who, goal)
        case "stop":
            await services.runs.stop(who, goal)
        case "pause":
            await services.runs.pause(who, goal)
        case "resume":
            await services.runs.resume(who, goal)
    return went_on(back, _DONE[verb])


@routes.post("/goals/{goal}/abandon")
async def abandon(services: ServicesOf, who: Who, goal: str, text: Text, seq: Seq = 0, sure: Sure = "") -> Response:
    """Ends a goal before it is done."""
    require_sure(sure)
    await services.goals.abandon(who, goal, reason=text, if_match=seq or None)
    return went_on(f"/goals/{goal}", "The goal was ended.")


@routes.get("/goals/{goal}/report")
async def report(services: ServicesOf, who: Who, goal: str) -> Response:
    """The page of `swarm report`, which brings its own style and no script."""
    return HTMLResponse(await services.goals.report_page(who, goal), headers=_APART)


_APART = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
    "cache-control": "no-store",
}
"""The page of a report is one file that anybody can keep: its style is in it, and nothing in it can act."""


@routes.get("/goals/{goal}/tasks/{task}")
async def task(request: Request, services: ServicesOf, who: Who, goal: str, task: str) -> Response:
    """One task: its attempts side by side, with changes, findings, verdicts and tests."""
    view, of, waiting = await asyncio.gather(
        services.tasks.get(who, goal, task), services.goals.get(who, goal), services.needs.list(who)
    )
    attempts = view.report.attempts
    numbers = [each.number for each in attempts[-_ATTEMPTS:]]
    kept = await asyncio.gather(*(_evidence(services, who, goal, task, number) for number in numbers))
    return await page(
        request,
        "task.html",
        "goals",
        who,
        view=view,
        report=view.report,
        title=of.title or of.text or of.id,
        attempts=attempts,
        changes={number: each for number, each in zip(numbers, kept, strict=True) if each},
        need=next((each for each in waiting.items if each.goal == goal and each.task == task and each.ways), None),
        may_undo=who.may(Role.OPERATOR, view.repo) and of.state in {"idle", "failed"} and bool(attempts),
    )


async def _evidence(services: ServicesOf, who: Principal, goal: str, task: str, attempt: int) -> ShownEvidence | None:
    """What is kept of an attempt; None: nothing."""
    try:
        files = (await services.evidence.list(who, goal, task, attempt)).files
    except SwarmError:  # it is gone, or cannot be read: the ledger's words are on the page all the same
        return None
    names = {each.name for each in files}

    async def text(*wanted: str) -> str:
        name = next((each for each in wanted if each in names), "")
        try:
            return (await services.evidence.read(who, goal, task, attempt, name)).text if name else ""
        except SwarmError:
            return ""

    patch, gates, tests = await asyncio.gather(text(PATCH), text(FINAL_GATES, GATES), text(TESTS))
    return ShownEvidence(
        files,
        change_in(patch) if patch else None,
        _parsed(GateReport, gates),
        _parsed(TestRun, tests),
    )


def _parsed(kind: type[Measured], text: str) -> Measured | None:
    try:
        return kind.model_validate_json(text) if text else None
    except ValueError:
        return None


@routes.get("/goals/{goal}/evidence/{task}/{attempt}/{name}")
async def evidence(services: ServicesOf, who: Who, goal: str, task: str, attempt: int, name: str) -> Response:
    """A file of evidence as plain text, which no browser takes for anything else."""
    found = await services.evidence.read(who, goal, task, attempt, name)
    return PlainTextResponse(found.text.encode("utf-8", "replace"), headers=_APART)

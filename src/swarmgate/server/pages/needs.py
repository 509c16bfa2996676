"""The pages of decisions: what needs somebody, one approval by itself, and the forms by which all that is decided."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal, NamedTuple

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.domain.evidence.summary import duration
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateReport, GateStatus
from swarmgate.domain.usage import Usage, cost_in_words
from swarmgate.engine.reports.checkpoint import Checkpoint
from swarmgate.engine.reports.status import TaskReport
from swarmgate.errors import IllegalMove, NotFound, UsageError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.changes import Change, change_of
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import back_to, page, went_on
from swarmgate.server.services.views.decision import ApprovalView, NeedView, QuestionView, TaskProof

routes = router()

_WHOLE = 10
"""As many of what waits are shown whole; those after them lead to pages of their own."""
_TEXT = 20_000
_COMMAND = "swarm "
_KINDS = {
    "approval": "approval",
    "question": "question",
    "blocked_task": "blocked",
    "phase_rejected": "phase rejected",
    "planning_failed": "planning failed",
    "limit": "limit reached",
    "budget": "budget used up",
    "failed_run": "run failed",
    "council": "council",
}
_TONES = {"approval": "busy", "question": "busy", "council": "busy", "limit": "warn", "budget": "warn"}

Text = Annotated[str, Form(max_length=_TEXT)]
Back = Annotated[str, Form(max_length=500)]
Seq = Annotated[int, Form(ge=0)]
Sure = Annotated[Literal["", "yes"], Form()]
"""A box that is ticked or not."""


def require_sure(sure: str) -> None:
    """Insists that a box was ticked which says what is about to be done.

    Raises:
        UsageError: it was not.
    """
    if sure != "yes":
        raise UsageError("Nothing was done: that has to be confirmed.", hint="Tick the box that says what happens.")


class NumberedPhase(NamedTuple):
    """A phase of a plan with its number."""

    number: int
    name: str
    tasks: tuple[Task, ...]


class ShownProof(NamedTuple):
    """What a task changed, file by file, and what was measured of it."""

    task: str
    title: str
    attempt: int
    commit: str
    gates: GateReport | None
    tests: TestRun | None
    shown: Change


class ShownApproval(NamedTuple):
    """An approval as the pages show it."""

    id: str
    goal: str
    repo: str
    title: str
    what: str
    phase: int
    seq: int
    since: str
    phases: tuple[NumberedPhase, ...]
    checkpoint: Checkpoint | None
    objections: tuple[str, ...]
    drift: tuple[str, ...]
    proofs: tuple[ShownProof, ...]
    usage: Usage

    @property
    def facts(self) -> list[tuple[str, str, str]]:
        """What was measured, in a few words each: name, value, and whether that is `good` or `bad`."""
        used = [("Cost", cost_in_words(self.usage), ""), ("Time", duration(self.usage.seconds), "")]
        if self.what == "plan":
            return [("Phases", str(len(self.phases)), ""), ("Tasks", str(self.tasks), ""), *used]
        changed = [sum(getattr(each.shown, what) for each in self.proofs) for what in ("added", "removed")]
        gates = [each.gates for each in self.proofs if each.gates]
        runs = [each.tests for each in self.proofs if each.tests]
        passed = sum(result.status is GateStatus.PASS for report in gates for result in report.results)
        stopped = sum(result.blocks for report in gates for result in report.results)
        failed = sum(run.failed or 0 for run in runs) or sum(not run.green for run in runs)
        return [
            ("Tasks", str(len(self.proofs)), ""),
            ("Changed", f"+{changed[0]} -{changed[1]}", ""),
            ("Gates", f"{stopped} against it" if stopped else f"{passed} passed", "bad" if stopped else "good"),
            (
                "Tests",
                f"{failed} failed" if failed else f"{sum(run.passed or 0 for run in runs)} passed",
                "bad" if failed else "good",
            ),
            *used,
        ]

    @property
    def tasks(self) -> int:
        """How many tasks the plan has."""
        return sum(len(phase.tasks) for phase in self.phases)


class ShownNeed(NamedTuple):
    """Something that waits, with what is to be known to decide it where it is one of the first."""

    need: NeedView
    approval: ShownApproval | None = None
    question: QuestionView | None = None
    task: TaskReport | None = None

    @property
    def detail(self) -> tuple[str, ...]:
        """What more there is to say; commands for a terminal are none: the ways out stand below as forms."""
        return tuple(line for line in self.need.detail if not line.startswith(_COMMAND))


def shown(view: ApprovalView) -> ShownApproval:
    """The approval with its changes cut into files."""
    phases = tuple(NumberedPhase(number, phase.name, phase.tasks) for number, phase in view.plan.numbered)
    same = {name: getattr(view, name) for name in ShownApproval._fields if name not in {"phases", "proofs"}}
    return ShownApproval(**same, phases=phases, proofs=tuple(map(_proof, view.proofs)))


def _proof(each: TaskProof) -> ShownProof:
    same = {name: getattr(each, name) for name in ShownProof._fields if name != "shown"}
    return ShownProof(**same, shown=change_of(each.change))


@routes.get("/")
async def needs(request: Request, services: ServicesOf, who: Who) -> Response:
    """What needs who looks, the most urgent first."""
    found = (await services.needs.list(who)).items
    cards = await asyncio.gather(*(_card(services, who, each) for each in found[:_WHOLE]))
    rest = [ShownNeed(each) for each in found[_WHOLE:]]
    tones = {kind: _TONES.get(kind, "bad") for kind in _KINDS}
    return await page(request, "needs.html", "needs", who, needs=[*cards, *rest], kinds=_KINDS, tones=tones)


async def _card(services: ServicesOf, who: Principal, need: NeedView) -> ShownNeed:
    try:
        if need.kind == "approval":
            return ShownNeed(need, approval=shown(await services.approvals.get(who, need.id)))
        if need.kind == "question":
            return ShownNeed(need, question=await services.questions.get(who, need.id))
        if need.kind == "blocked_task" and need.task:
            return ShownNeed(need, task=(await services.tasks.get(who, need.goal, need.task)).report)
    except NotFound:  # it was decided in this moment
        pass
    return ShownNeed(need)


@routes.get("/approvals/{id}")
async def approval(request: Request, services: ServicesOf, who: Who, id: str) -> Response:  # noqa: A002 - the field's name
    """One approval, with all that is to be known to decide it."""
    found = shown(await services.approvals.get(who, id))
    return await page(request, "approval.html", "needs", who, approval=found)


@routes.post("/approvals/{id}")
async def decide(
    services: ServicesOf,
    who: Who,
    id: str,  # noqa: A002 - the field's name
    decision: Annotated[Literal["approve", "revise"], Form()],
    text: Text = "",
    back: Back = "/",
) -> Response:
    """Approves what waits, or sends it back."""
    await services.approvals.decide(who, id, decision, text=text)
    return went_on(back, "Approved." if decision == "approve" else "Sent back to the architect.")


@routes.post("/questions/{id}")
async def answer(
    services: ServicesOf,
    who: Who,
    id: str,  # noqa: A002 - the field's name
    how: Annotated[Literal["answer", "decline"], Form()] = "answer",
    option: Annotated[int, Form(ge=0)] = 0,
    text: Text = "",
    seq: Seq = 0,
    back: Back = "/",
) -> Response:
    """Answers a question, or leaves it to whoever asked."""
    if how == "decline":
        await services.questions.answer(who, id, decline=True, if_match=seq or None)
        return went_on(back, "Left to whoever asked.")
    await services.questions.answer(who, id, text=text, option=option, if_match=seq or None)
    return went_on(back, "Answered.")


@routes.post("/goals/{goal}/ways/{do}")
async def way_out(
    services: ServicesOf,
    who: Who,
    goal: str,
    do: Literal["retry", "skip", "override", "undo", "revise", "run", "plan", "resume", "approve"],
    text: Text = "",
    task: Annotated[str, Form(max_length=50)] = "",
    need: Annotated[str, Form(max_length=100)] = "",
    seq: Seq = 0,
    back: Back = "/",
    sure: Sure = "",
    dependents: Sure = "",
) -> Response:
    """Takes one of the ways out of what stands still, or takes a task back."""
    expect = seq or None
    match do:
        case "undo":
            require_sure(sure)
            await services.tasks.undo(
                who, goal, task, reason=text, with_dependents=dependents == "yes", if_match=expect
            )
        case "retry":
            await services.tasks.retry(who, goal, task, note=text, if_match=expect)
        case "skip":
            await services.tasks.skip(who, goal, task, reason=text, if_match=expect)
        case "override":
            await services.tasks.override(who, goal, task, reason=text, if_match=expect)
        case "revise":
            await services.goals.revise(who, goal, text, if_match=expect)
        case "approve":
            await services.approvals.decide(who, need, "approve")
        case "resume":
            await services.runs.resume(who, goal)
        case "run" | "plan":
            await services.runs.start(who, goal)
    return went_on(back_to(back), await _told(services, who, goal, do))


async def _told(services: ServicesOf, who: Principal, goal: str, do: str) -> str:
    """What became of it; a decision about a task has the work go on where nobody is at it."""
    said = {
        "retry": "It is tried again.",
        "skip": "The task was given up.",
        "override": "The rejection was overruled.",
        "undo": "The task was taken back: its commit is reverted, and it is to be done again.",
        "revise": "The architect changes the plan.",
        "approve": "Approved.",
    }
    if do in {"retry", "skip", "override"}:
        try:
            await services.runs.start(who, goal)
        except IllegalMove:  # somebody works on it, or it waits for something else
            return said[do]
    return said.get(do, "The work goes on.")

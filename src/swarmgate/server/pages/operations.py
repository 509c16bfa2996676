"""The pages of what takes a while: runs of the gates, doctor, preflight and pull requests, begun by forms of a goal."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.needs import Sure
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page, went_on
from swarmgate.server.services.views.operation import OperationView

routes = router()

Word = Annotated[str, Form(max_length=250)]
_TITLES = {"gates": "Gates", "doctor": "Doctor", "preflight": "Preflight", "pull_request": "Pull request"}


@routes.get("/operations/{id}")
async def operation(request: Request, services: ServicesOf, who: Who, id: str) -> Response:  # noqa: A002 - the field's name
    """One of them: how it stands, and what came of it."""
    view = await services.operations.get(who, id)
    of = await services.goals.get(who, view.goal)
    title = of.title or of.text or of.id
    return await page(request, "operation.html", "goals", who, view=view, name=_TITLES[view.kind], title=title)


@routes.post("/goals/{goal}/gates")
async def gates(
    services: ServicesOf,
    who: Who,
    goal: str,
    what: Annotated[Literal["change", "base", "all"], Form()],
    base: Word = "",
) -> Response:
    """Runs the gates over the work tree of a goal."""
    since = base.strip() if what == "base" else ""
    return _begun(await services.gates.start(who, goal, base=since, everything=what == "all"))


@routes.post("/goals/{goal}/checks/{what}")
async def check(services: ServicesOf, who: Who, goal: str, what: Literal["doctor", "preflight"]) -> Response:
    """Looks whether all is there that the work needs, or that the current phase does."""
    look = services.checks.doctor if what == "doctor" else services.checks.preflight
    return _begun(await look(who, goal))


@routes.post("/goals/{goal}/pull-request")
async def pull_request(
    services: ServicesOf,
    who: Who,
    goal: str,
    what: Annotated[Literal["describe", "open"], Form()],
    title: Word = "",
    draft: Sure = "",
    cost: Sure = "",
) -> Response:
    """Describes a pull request, or pushes the branch of a goal and opens one."""
    begun = await services.goals.pull_request(
        who, goal, title=title.strip(), draft=draft == "yes", cost=cost == "yes", check=what == "describe"
    )
    return _begun(begun)


def _begun(operation: OperationView) -> Response:
    return went_on(f"/operations/{operation.id}")

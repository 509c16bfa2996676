"""Routes of tasks, and of decisions about one."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import LOOK, told
from swarmgate.server.api.bodies import Decided, Retry, Undo
from swarmgate.server.api.parameters import After, GoalId, Limit, TaskId, TaskOrPhase, TheGoal
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.http.etags import IfMatch
from swarmgate.server.services.views.goal import GoalView, TaskRow, TaskView
from swarmgate.server.services.views.view import Page

router = routes("Tasks")


@router.get("/tasks", response_model=Page[TaskRow], responses=LOOK)
async def list_tasks(
    request: Request, services: ServicesOf, who: Who, goal: TheGoal, after: After = "", limit: Limit = 100
) -> Response:
    """List the tasks of a goal in the order of its plan."""
    return told(request, await services.tasks.list(who, goal, after=after, limit=limit))


@router.get("/tasks/{goal}/{task}", response_model=TaskView, responses=LOOK)
async def get_task(request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskId) -> Response:
    """Look at a task: its criteria, its attempts, who rejected them and why."""
    return told(request, await services.tasks.get(who, goal, task))


@router.post("/tasks/{goal}/{task}/retry", response_model=GoalView)
async def retry_task(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskOrPhase, body: Retry, if_match: IfMatch
) -> Response:
    """Have a blocked or rejected task tried again, or a phase judged anew; the next run does it."""
    await services.tasks.retry(who, goal, task, note=body.note, if_match=if_match)
    return told(request, await services.goals.get(who, goal))


@router.post("/tasks/{goal}/{task}/skip", response_model=GoalView)
async def skip_task(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskId, body: Decided, if_match: IfMatch
) -> Response:
    """Give a task up."""
    await services.tasks.skip(who, goal, task, reason=body.reason, if_match=if_match)
    return told(request, await services.goals.get(who, goal))


@router.post("/tasks/{goal}/{task}/override", response_model=GoalView)
async def override_task(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskOrPhase, body: Decided, if_match: IfMatch
) -> Response:
    """Overrule the last rejection of a task or of a phase; secrets, SAST and syntax cannot be overruled."""
    await services.tasks.override(who, goal, task, reason=body.reason, if_match=if_match)
    return told(request, await services.goals.get(who, goal))


@router.post("/tasks/{goal}/{task}/undo", response_model=GoalView)
async def undo_task(
    request: Request, services: ServicesOf, who: Who, goal: GoalId, task: TaskId, body: Undo, if_match: IfMatch
) -> Response:
    """Take a task back: its commit is reverted by another one, and it is pending again."""
    await services.tasks.undo(
        who, goal, task, reason=body.reason, with_dependents=body.with_dependents, if_match=if_match
    )
    return told(request, await services.goals.get(who, goal))

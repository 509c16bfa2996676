"""Goals, their plans, history and reports."""

from __future__ import annotations

from typing import Literal

from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.evidence import Review
from swarmgate.domain.usage import Usage
from swarmgate.engine.pull_request.opening import PullRequest
from swarmgate.engine.reports.failures import FailureGroup
from swarmgate.engine.reports.goal_page.page import GoalReport
from swarmgate.engine.reports.status import StatusReport, TaskReport
from swarmgate.ledger.files.live_progress import LiveRun
from swarmgate.server.services.views.run import RunState, WantedView
from swarmgate.server.services.views.view import View

GoalKind = Literal["clone", "checkout"]


class GoalSummary(View):
    """One goal in a list."""

    id: str
    repo: str
    """Id of its repository."""
    kind: GoalKind
    """`clone`: the server made its folder; `checkout`: it is the registered folder, in which somebody works."""
    owner: str
    """Name of the account that created it; empty: nobody did, it was there."""
    created: str
    """UTC, ISO 8601."""
    text: str
    """What is wanted, as it was said."""
    title: str
    """Of the plan; empty while there is none."""
    seq: int
    """Ledger position; 0: there is no ledger yet."""
    state: RunState
    waiting: str
    """What it waits for a person for (`domain.next_step.Waiting`); empty: it does not."""
    branch: str = ""
    tasks: dict[str, int] = {}  # noqa: RUF012 - frozen by pydantic, which copies it
    """How many tasks are pending, in_progress, complete, blocked and skipped."""
    usage: Usage = Usage()
    updated: str = ""
    """Time of the newest ledger entry (UTC, ISO 8601)."""
    problem: str = ""
    """Why it cannot be read; empty: it can."""


class GoalView(GoalSummary):
    """One goal: what `swarm status` says of it, and what the server does with it."""

    status: StatusReport | None = None
    """None: there is no ledger yet, or it cannot be read."""
    wanted: WantedView | None = None
    """What the server has been asked to do with it and has not ended."""
    live: LiveRun | None = None
    """What the run at work told last."""


class PlanView(View):
    """The plan of a goal at a ledger position, as data and as plan.md."""

    goal: str
    seq: int
    approved: bool
    plan: Plan
    markdown: str
    reviews: tuple[Review, ...] = ()
    """What the critic said of it, oldest first."""
    objections: tuple[str, ...] = ()
    """What it still objects to."""


class TaskRow(View):
    """One task in a list."""

    goal: str
    id: str
    title: str
    phase: int
    status: str
    attempts: int
    usage: Usage


class TaskView(View):
    """One task of a goal: what `swarm show` says of it."""

    goal: str
    repo: str
    seq: int
    report: TaskReport


class FailuresView(View):
    """Rejections of all tasks, grouped."""

    goal: str
    seq: int
    groups: tuple[FailureGroup, ...]


class ReportView(View):
    """The record of a goal with its changes: what `swarm report --json` says."""

    goal: str
    seq: int
    report: GoalReport


class PullRequestView(View):
    """The description of a pull request, and what became of it."""

    goal: str
    seq: int
    pull_request: PullRequest

"""Goals as the faces ask for them: looked at, created, revised, abandoned, handed over as a pull request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from typing import NamedTuple

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.pull_request.opening import PullRequest
from swarmgate.engine.reports.status import HistoryLine
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import NotAProject, SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal, Verb
from swarmgate.server.services.goals import views
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.runs import Runs
from swarmgate.server.services.goals.summary import Known, goal_view, known, summary
from swarmgate.server.services.operations.operations import Operations
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.reading.readings import Readings, stamp
from swarmgate.server.services.views.goal import (
    FailuresView,
    GoalSummary,
    GoalView,
    PlanView,
    PullRequestView,
    ReportView,
)
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page

_KEPT = 1000
"""As many views of goals are kept whole."""


class _Shown(NamedTuple):
    """A view, and what it was made of."""

    goal: Goal
    found: Known | None
    told: tuple[int, int, int] | None
    view: GoalView


@dataclass(frozen=True)
class Goals:
    """The goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of them.
        acting: decides, in the name of who asks.
        runs: the work on them.
        operations: what takes a while.
        owner: the name of an account by its id.
    """

    access: Access
    readings: Readings
    acting: Acting
    runs: Runs
    operations: Operations
    owner: Callable[[str], str]
    _shown: dict[str, _Shown] = field(default_factory=dict, init=False, repr=False)

    # --- looking ---

    async def list(
        self, who: Principal, *, repo: str = "", state: str = "", after: str = "", limit: int = 100
    ) -> Page[GoalSummary]:
        """Goals that may be seen, the newest first.

        Args:
            who: asks.
            repo: only those of this repository.
            state: only those in this state (`RunState`), or that wait for a person (`waiting`).
            after: the id of the last one of the part before.
            limit: as many at most.
        """
        goals = self.access.goals(who, repo)
        if not state:
            part = page(goals, after=after, limit=limit, key=lambda goal: goal.id)
            rows = await asyncio.gather(*map(self.summary, part.items))
            return Page[GoalSummary](items=tuple(rows), next=part.next)
        rows = await asyncio.gather(*map(self.summary, goals))
        fitting = [row for row in rows if state == row.state or (state == "waiting" and row.waiting)]
        return page(fitting, after=after, limit=limit, key=lambda row: row.id)

    async def get(self, who: Principal, goal: str) -> GoalView:
        """One goal."""
        return await self.view(self.access.goal(who, goal))

    async def plan(self, who: Principal, goal: str) -> PlanView:
        """The plan of a goal.

        Raises:
            NotFound: there is none yet.
        """
        return await self.readings.view(self._there(who, goal), "plan", views.plan_view)

    async def history(
        self, who: Principal, goal: str, *, task: str = "", after: str = "", limit: int = 100
    ) -> Page[HistoryLine]:
        """What happened, in words and in order; of one task only where it is named."""
        there = self._there(who, goal)
        return await self.readings.view(there, ("history", task, after, limit), views.history_page(task, after, limit))

    async def failures(self, who: Principal, goal: str) -> FailuresView:
        """Rejections of all tasks, grouped by what they have in common."""
        return await self.readings.view(self._there(who, goal), "failures", views.failures_view)

    async def report(self, who: Principal, goal: str, *, phase: int = 0) -> ReportView:
        """The record of a goal, or of a phase, with its changes.

        Raises:
            NotFound: there is no plan yet, or no such phase.
        """
        return await self.readings.view(self._there(who, goal), ("report", phase), views.report_view(phase))

    async def report_page(self, who: Principal, goal: str, *, phase: int = 0) -> str:
        """The same as one page of HTML, which asks no other host for anything."""
        return await self.readings.view(self._there(who, goal), ("report page", phase), views.report_page(phase))

    # --- deciding ---

    async def create(
        self, who: Principal, *, repo: str, text: str, spec: str = "", source: str = "", token: str = ""
    ) -> GoalView:
        """A new goal in a repository, whose plan is made as soon as a worker is free.

        Args:
            who: asks; an operator.
            repo: id of the repository.
            text: what is wanted.
            spec: a specification, as text; empty: none.
            source: the name of the file that it is from.
            token: of the request, where that may come again: the goal that it began is then found instead.
        """
        self.access.repository(who, repo, Role.OPERATOR)
        made = await self.runs.begin(who, repo=repo, text=text, spec=spec, source=source, token=token)
        return await self.view(made)

    async def revise(self, who: Principal, goal: str, text: str, *, if_match: int | None = None) -> RunView:
        """Has the architect change the plan as somebody says.

        Raises:
            Stale: the ledger is not at `if_match`.
            IllegalMove: something else is wanted of the goal.
        """
        there = self._there(who, goal, Role.APPROVER)
        await self.acting.require(there, if_match)
        return await self.runs.want(who, there, Verb.REVISE, text=text)

    async def abandon(self, who: Principal, goal: str, *, reason: str, if_match: int | None = None) -> GoalView:
        """Ends a goal before its work is done. Its branch stays.

        Raises:
            Stale: the ledger is not at `if_match`.
            IllegalMove: there is nothing to abandon.
            LedgerLocked: a run is going on.
        """
        there = self._there(who, goal, Role.OPERATOR)
        await self.acting.decide(who, there, lambda swarm: swarm.abandon(reason=reason), expect=if_match)
        return await self.get(who, goal)

    async def pull_request(
        self,
        who: Principal,
        goal: str,
        *,
        title: str = "",
        base: str = "",
        remote: str = "",
        draft: bool = False,
        cost: bool = False,
        check: bool = False,
        token: str = "",
    ) -> OperationView:
        """Begins to push the goal's branch and to open a pull request, or only to describe one.

        Args:
            who: asks; an operator, to `check` a viewer.
            goal: its id.
            title: of the request; empty: that of the plan.
            base: the branch that it is for; empty: the one that the work began on.
            remote: where it is pushed; empty: as git has it.
            draft: whether the goal may be unfinished.
            cost: whether the description names the cost.
            check: only describe it; nothing is pushed.
            token: as of `Operations.begin`.
        """
        there = self._there(who, goal, Role.VIEWER if check else Role.OPERATOR)
        pushed = methodcaller("pull_request", title=title, base=base, remote=remote, draft=draft, cost=cost)
        made = methodcaller("describe", title=title, cost=cost) if check else pushed
        told = partial(_pull_request, goal, made)
        return await self.operations.begin(
            who, there, "pull_request", lambda: self.acting.decide(who, there, told, apart=True), token=token
        )

    async def archive(self, who: Principal, goal: str) -> None:
        """Puts a goal away; its branch and its folder stay.

        Raises:
            IllegalMove: somebody works on it, or it is a checkout.
        """
        there = self.access.goal(who, goal, Role.OPERATOR)
        await asyncio.to_thread(self.access.goals_there.archive, there.id, by=who.actor)

    # --- for other services ---

    async def known(self, goal: Goal) -> Known | None:
        """What is known of a goal; None where its folder is not there yet.

        Raises:
            SwarmError: its ledger cannot be read.
        """
        try:
            return await self.readings.view(goal, "known", known, lasting=False)
        except NotAProject:
            return None

    async def summary(self, goal: Goal) -> GoalSummary:
        """A goal in a list; one that cannot be read says so."""
        return await self.view(goal)

    async def view(self, goal: Goal) -> GoalView:
        """One goal; one that cannot be read says so."""
        problem: SwarmError | None = None
        try:
            found = await self.known(goal)
        except SwarmError as error:
            found, problem = None, error
        told = stamp(SwarmFolder(self.readings.root(goal)).progress) if found and found.status.working else None
        shown = self._shown.get(goal.id)
        if shown and problem is None and (shown.goal, shown.told) == (goal, told) and shown.found is found:
            return shown.view
        short = summary(goal, found, self.owner(goal.owner) if goal.owner else "", problem=problem)
        live = await self.runs.live(goal) if told else None
        view = goal_view(short, goal, found, live)
        if len(self._shown) >= _KEPT:
            self._shown.pop(next(iter(self._shown)))
        self._shown[goal.id] = _Shown(goal, found, told, view)
        return view

    def _there(self, who: Principal, id: str, role: Role = Role.VIEWER) -> Goal:  # noqa: A002 - the field's name
        """A goal whose folder is there."""
        goal = self.access.goal(who, id, role)
        if not self.access.goals_there.ready(goal):
            raise unknown("ledger yet")
        return goal


def _pull_request(goal: str, make: Callable[[Swarm], PullRequest], swarm: Swarm) -> PullRequestView:
    made = cleaned(make(swarm), swarm.project.cleaner())
    return PullRequestView(goal=goal, seq=swarm.state.seq, pull_request=made)

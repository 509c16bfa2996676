"""Approvals as the faces ask for them: what waits, and what is decided about it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from swarmgate.domain.state.state import State
from swarmgate.errors import IllegalMove, Stale, SwarmError, UsageError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal, Verb
from swarmgate.server.services.decisions.waiting import approval_due, approval_view, due
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.runs import Runs
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.ids import ApprovalId, approval_id
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.reading.readings import Readings
from swarmgate.server.services.views.decision import ApprovalSummary, ApprovalView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page

Decision = Literal["approve", "revise"]
"""What can be decided about what waits for approval."""


@dataclass(frozen=True)
class Approvals:
    """What waits for approval on a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
        acting: decides, in the name of who asks.
        runs: the work on them.
    """

    access: Access
    readings: Readings
    acting: Acting
    runs: Runs

    async def list(self, who: Principal, *, repo: str = "", after: str = "", limit: int = 100) -> Page[ApprovalSummary]:
        """What waits for approval, what has waited longest first."""
        found = await asyncio.gather(*map(self.due, self.access.goals(who, repo)))
        rows = sorted((each for each in found if each), key=lambda each: each.since)
        return page(rows, after=after, limit=limit, key=lambda row: row.id)

    async def get(self, who: Principal, id: str) -> ApprovalView:  # noqa: A002 - the field's name
        """What waits for approval, with all that is to be known to decide it.

        Raises:
            NotFound: there is no such approval, or it has been decided.
        """
        _, goal = self._named(who, id, Role.VIEWER)
        found = await self.readings.view(goal, "approval", approval_view, lasting=False)
        if found is None or found.id != id:
            raise unknown("approval any more")
        return found

    async def decide(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        decision: Decision,
        *,
        text: str = "",
        if_match: int | None = None,
        go_on: bool = True,
    ) -> RunView:
        """Approves what waits, or has the plan revised.

        Args:
            who: decides; an approver.
            id: of what waits.
            decision: which of the two.
            text: what is to be changed; only to revise.
            if_match: the ledger position that was looked at.
            go_on: whether the work goes on at once after an approval; in a checkout only whoever asks for it is
                given a run, so there it is not.

        Raises:
            Stale: the ledger has moved on since, or something else waits there now.
            IllegalMove: it has been decided.
            UsageError: a text is missing, or there is one too many.
        """
        if (decision == "revise") != bool(text.strip()):
            raise UsageError("`text` says what is to be changed: it belongs to `revise`, and to nothing else.")
        named, goal = self._named(who, id, Role.APPROVER)
        state = (await asyncio.to_thread(self.readings.read, goal)).state
        _require(state, named)
        if decision == "revise":
            await self.acting.require(goal, if_match)
            return await self.runs.want(who, goal, Verb.REVISE, text=text)
        seq = state.seq if if_match is None else if_match
        last = state.plan is not None and named.phase == len(state.plan.phases)
        async with self.runs.following(who, goal, Verb.RUN, go_on=go_on and not last):
            await self.acting.decide(who, goal, lambda swarm: swarm.approve(), expect=seq)
        return await self.runs.get(who, goal.id)

    # --- for other services ---

    async def due(self, goal: Goal) -> ApprovalSummary | None:
        """What of a goal waits for approval; None: nothing, or it cannot be read."""
        try:
            return await self.readings.view(goal, "approval due", approval_due, lasting=False)
        except SwarmError:  # the list of goals says why
            return None

    def _named(self, who: Principal, id: str, role: Role) -> tuple[ApprovalId, Goal]:  # noqa: A002 - the field's name
        named = approval_id(id)
        if named is None:
            raise unknown("approval")
        goal = self.access.goal(who, named.goal, role)
        if not self.access.goals_there.ready(goal):
            raise unknown("approval")
        return named, goal


def _require(state: State, named: ApprovalId) -> None:
    """Lets only what still waits pass.

    Raises:
        IllegalMove: it has been decided.
        Stale: something else waits now.
    """
    now = due(named.goal, state)
    if now is None:
        raise IllegalMove("That was decided already, or does not wait for approval any more.")
    if now != named:
        raise Stale("Something has happened since you looked.", seq=state.seq, hint=f"Look at {now} instead.")

"""The work on goals, as the faces ask for it: started, stopped, paused, resumed, looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from swarmgate.domain.state.state import Planning
from swarmgate.domain.state.unattended import Until
from swarmgate.domain.text.cleaning import cleaned, plain
from swarmgate.errors import NotAProject, SwarmError, UsageError
from swarmgate.ledger.files.live_progress import LiveRun
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Principal, Role
from swarmgate.server.runs.model import Goal, Verb
from swarmgate.server.runs.runs import Runs as Queue
from swarmgate.server.services.goals.summary import Known, known, run_state, wanted_view
from swarmgate.server.services.reading.access import Access, require
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.reading.readings import Readings
from swarmgate.server.services.views.fleet import FleetGoalView, FleetView, FleetWorkerView
from swarmgate.server.services.views.run import RunView
from swarmgate.server.services.views.view import Page, View


@dataclass(frozen=True)
class Runs:
    """The work on the goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
        queue: of what is wanted, with its workers.
    """

    access: Access
    readings: Readings
    queue: Queue

    async def list(self, who: Principal, *, repo: str = "", after: str = "", limit: int = 100) -> Page[RunView]:
        """The goals that something is wanted of, or that are worked on, and those whose last run failed."""
        found = await asyncio.gather(*map(self._view, self.access.goals(who, repo)))
        busy = [each for each in found if each.state != "idle"]
        return page(busy, after=after, limit=limit, key=lambda run: run.goal)

    async def get(self, who: Principal, goal: str) -> RunView:
        """How the work on a goal goes."""
        return await self._view(self.access.goal(who, goal))

    async def start(self, who: Principal, goal: str, *, until: str = "", stash: bool = False) -> RunView:
        """Has the work on a goal go on, as soon as a worker is free.

        Args:
            who: asks; an operator.
            goal: its id.
            until: how far it goes: `phase`, `blocked` or `done`; empty: as the settings say.
            stash: put uncommitted changes aside instead of refusing to start.

        Raises:
            UsageError: `until` is none of those.
            IllegalMove: something is wanted of it already.
        """
        if until and until not in tuple(Until):
            raise UsageError(f"`until` is {', '.join(Until)}, or nothing, not {until[:40]!r}.")
        there = self.access.goal(who, goal, Role.OPERATOR)
        return await self.go_on(who, there, until=until, stash=stash)

    async def stop(self, who: Principal, goal: str) -> RunView:
        """Has nothing wanted of a goal any more; a run at work ends at its next safe point."""
        return await self._told(who, goal, self.queue.stop)

    async def pause(self, who: Principal, goal: str) -> RunView:
        """As `stop`, and what is wanted stays so.

        Raises:
            IllegalMove: nothing is wanted of it.
        """
        return await self._told(who, goal, self.queue.pause)

    async def resume(self, who: Principal, goal: str) -> RunView:
        """Has what was paused go on.

        Raises:
            IllegalMove: nothing is wanted of it.
        """
        return await self._told(who, goal, self.queue.resume)

    async def fleet(self, who: Principal) -> FleetView:
        """The goals that workers of the fleet work on, and those workers; for operators of the whole server."""
        require(who, Role.OPERATOR, EVERY_REPOSITORY)
        fleet = self.access.goals_there.fleet
        if fleet is None:
            return FleetView(configured=False)
        try:
            found = (await asyncio.to_thread(fleet.status)).model_dump(mode="json")
        except SwarmError as error:
            return FleetView(configured=True, problem=plain(error.message))
        goals = (FleetGoalView(**_fields(each, FleetGoalView)) for each in found["goals"])
        workers = (FleetWorkerView(**_fields(each, FleetWorkerView)) for each in found["workers"])
        view = FleetView(configured=True, problem=found["problem"], goals=tuple(goals), workers=tuple(workers))
        return cleaned(view, plain)

    # --- for other services ---

    async def begin(self, who: Principal, *, repo: str, text: str, spec: str, source: str, token: str) -> Goal:
        """Writes a new goal down, with a plan as what is wanted of it, and has the queue know."""
        if token and (known := await asyncio.to_thread(self.access.goals_there.begun, token)) is not None:
            return known
        created = await asyncio.to_thread(
            lambda: self.access.goals_there.create(
                repo, text, spec=spec, source=source, owner=who.account.id, by=who.actor, token=token
            )
        )
        self.queue.created(created)
        return created

    async def want(self, who: Principal, goal: Goal, verb: Verb, **arguments: Any) -> RunView:
        """Puts work on a goal into the queue.

        Raises:
            IllegalMove: something is wanted of it already.
        """
        return await self._view(await self.queue.want(goal.id, verb, by=who.actor, **arguments))

    def following(self, who: Principal, goal: Goal, verb: Verb, *, go_on: bool) -> AbstractAsyncContextManager[None]:
        """Has work follow what the block decides: in a checkout, in which somebody works, never."""
        goes_on = go_on and goal.kind == "clone"
        return self.queue.following(goal.id, verb, by=who.actor) if goes_on else nullcontext()

    async def go_on(self, who: Principal, goal: Goal, **arguments: Any) -> RunView:
        """Has the work go on where it is: with the plan while that is made, else with its tasks."""
        given = {name: each for name, each in arguments.items() if each}
        planning = await asyncio.to_thread(self._planning, goal)
        verb = Verb.RUN if planning is Planning.APPROVED else Verb.PLAN
        return await self.want(who, goal, verb, **(given if verb is Verb.RUN else {}))

    async def live(self, goal: Goal) -> LiveRun | None:
        """What the run at work told last; None where nobody works."""

        def read() -> LiveRun | None:
            swarm = self.access.goals_there.swarm(goal)
            found = swarm.live()
            return cleaned(found, swarm.project.cleaner()) if found else None

        return await asyncio.to_thread(read)

    async def _told(self, who: Principal, goal: str, tell: Callable[..., Awaitable[object]]) -> RunView:
        there = self.access.goal(who, goal, Role.OPERATOR)
        await tell(there.id, by=who.actor)
        return await self.get(who, goal)

    async def _view(self, goal: Goal) -> RunView:
        found: Known | None
        try:
            found = await self.readings.view(goal, "known", known, lasting=False)
        except NotAProject:
            found = None
        except SwarmError as error:
            return RunView(goal=goal.id, repo=goal.repo, state="failed", problem=plain(error.message), code=error.code)
        starting = any(each.subject == goal.id for each in self.queue.working())
        queued = self.queue.queued()
        state = run_state(goal, found, starting=starting)
        ended = goal.ended if goal.ended and state == "failed" else None
        waits = goal.wanted.not_before if goal.wanted else ""
        return RunView(
            goal=goal.id,
            repo=goal.repo,
            state=state,
            wanted=wanted_view(goal),
            place=queued.index(goal.id) + 1 if goal.id in queued else 0,
            working=found.status.working if found else "",
            paused_until=waits or (found.status.paused_until if found else ""),
            problem=plain(f"{ended.message} {ended.hint}").strip() if ended else "",
            code=ended.code if ended else "",
            seq=found.status.seq if found else 0,
            live=await self.live(goal) if state in ("working", "stopping") and found else None,
        )

    def _planning(self, goal: Goal) -> Planning:
        try:
            return self.access.goals_there.swarm(goal).state.planning
        except NotAProject:
            return Planning.NONE


def _fields(record: dict[str, Any], view: type[View]) -> dict[str, Any]:
    """What a view shows of a record."""
    return {name: record[name] for name in view.model_fields}

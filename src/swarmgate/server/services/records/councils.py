"""Councils as the faces ask for them: started, looked at, stopped, resumed, answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from swarmgate.council import patterns
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import NotAProject, SwarmError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Council
from swarmgate.server.runs.runs import Runs as Queue
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.cleaning import cleaner
from swarmgate.server.services.reading.paging import numbered, page
from swarmgate.server.services.records import council_views as views
from swarmgate.server.services.views.council import (
    ArgumentGraph,
    CouncilDocument,
    CouncilSummary,
    CouncilView,
    UtteranceView,
    VotesView,
)
from swarmgate.server.services.views.view import Page

T = TypeVar("T")


@dataclass(frozen=True)
class Councils:
    """The councils of a server.

    Attributes:
        access: who may see what.
        queue: of what is wanted, with its workers.
        owner: the name of an account by its id.
        environ: where keys and settings of projects are looked up.
    """

    access: Access
    queue: Queue
    owner: Callable[[str], str]
    environ: Mapping[str, str]

    # --- looking ---

    async def list(
        self,
        who: Principal,
        *,
        repo: str = "",
        goal: str = "",
        pattern: str = "",
        after: str = "",
        limit: int = 100,
    ) -> Page[CouncilSummary]:
        """Councils that may be seen, the newest first.

        Args:
            who: asks.
            repo: only of this repository.
            goal: only of this goal.
            pattern: only of this pattern.
            after: the id of the last one of the part before.
            limit: as many at most.
        """
        if repo:
            self.access.repository(who, repo)
        if goal:
            self.access.goal(who, goal)
        jobs = await asyncio.to_thread(self.access.jobs.list, repo, goal)
        seen = [job for job in jobs if who.may(Role.VIEWER, job.repo) and pattern in ("", job.pattern)]
        part = page(seen, after=after, limit=limit, key=lambda job: job.id)
        views_of = await asyncio.gather(*map(self._view, part.items))
        names = CouncilSummary.model_fields
        rows = tuple(CouncilSummary(**{name: getattr(view, name) for name in names}) for view in views_of)
        return Page[CouncilSummary](items=rows, next=part.next)

    async def get(self, who: Principal, id: str) -> CouncilView:  # noqa: A002 - the field's name
        """One council."""
        return await self._view(self.access.council(who, id))

    async def transcript(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        *,
        after: str = "",
        limit: int = 100,
    ) -> Page[UtteranceView]:
        """What was said and what happened, in order; `after` is a `seq`."""

        def made(job: Council, swarm: Swarm) -> Page[UtteranceView]:
            return numbered(views.transcript(job, swarm), after=after, limit=limit, key=lambda row: row.seq)

        return await self._of_record(who, id, made, Page[UtteranceView]())

    async def arguments(self, who: Principal, id: str) -> ArgumentGraph:  # noqa: A002 - the field's name
        """Who said what for or against what."""
        return await self._of_record(who, id, views.arguments, ArgumentGraph(council=id))

    async def votes(self, who: Principal, id: str) -> VotesView:  # noqa: A002 - the field's name
        """The votes, round by round."""
        return await self._of_record(who, id, views.votes, VotesView(council=id))

    async def document(self, who: Principal, id: str, name: str) -> CouncilDocument:  # noqa: A002 - the field's name
        """A text that is made of it, by its name in `documents`.

        Raises:
            NotFound: there is none of that name.
        """

        def made(job: Council, swarm: Swarm) -> CouncilDocument | None:
            texts = patterns.rules(job.pattern).views(views.standing_of(swarm, job))
            if name not in texts:
                return None
            return CouncilDocument(council=job.id, name=name, text=cleaner(swarm.project)(texts[name]))

        if (found := await self._of_record(who, id, made, None)) is None:
            raise unknown("document")
        return found

    # --- deciding ---

    async def start(
        self, who: Principal, *, pattern: str, request: Mapping[str, Any], repo: str = "", goal: str = ""
    ) -> CouncilView:
        """Begins a council, which is held as soon as a worker is free.

        Args:
            who: asks; an operator.
            pattern: its name in the table of patterns.
            request: the arguments of the facade's verb, such as `question` and `participants`.
            repo: in whose scratch project it is held, where no goal is given.
            goal: in whose project it is held.

        Raises:
            UsageError: there is no such pattern, or the request has a key that it does not know.
        """
        if goal:
            repo = self.access.goal(who, goal, Role.OPERATOR).repo
        else:
            self.access.repository(who, repo, Role.OPERATOR)
        job = await asyncio.to_thread(
            lambda: self.access.jobs.start(pattern, request, repo=repo, goal=goal, owner=who.account.id, by=who.actor)
        )
        return await self._view(await self.queue.hold(job.id, by=who.actor))

    async def stop(self, who: Principal, id: str) -> CouncilView:  # noqa: A002 - the field's name
        """Has a council end at the next safe point; it can be resumed."""
        job = self.access.council(who, id, Role.OPERATOR)
        await self.queue.stop(job.id, by=who.actor)
        return await self.get(who, id)

    async def resume(self, who: Principal, id: str, **arguments: Any) -> CouncilView:  # noqa: A002 - the field's name
        """Has a council that stands still go on.

        Raises:
            IllegalMove: it is at work already, or over.
        """
        job = self.access.council(who, id, Role.OPERATOR)
        given = {name: each for name, each in arguments.items() if each is not None}
        return await self._view(await self.queue.hold(job.id, by=who.actor, **given))

    async def answer(self, who: Principal, id: str, vote: Mapping[str, Any], *, person: str = "") -> CouncilView:  # noqa: A002 - the field's name
        """Gives the vote of a person that a decision waits for, and goes on with it.

        Args:
            who: asks; an approver.
            id: of the council.
            vote: `text`, and as its strategy has it `agreement` (0 to 1), `approves` or `ranking`.
            person: whose seat; empty: the only one that is waited for.

        Raises:
            IllegalMove: it is at work, or over.
            CouncilRefused: it waits for nobody.
        """
        job = self.access.council(who, id, Role.APPROVER)
        return await self._view(await self.queue.hold(job.id, by=who.actor, vote=dict(vote), person=person))

    # --- inside ---

    async def _view(self, job: Council) -> CouncilView:
        status = self._status(job)
        owner = self.owner(job.owner) if job.owner else ""

        def made() -> CouncilView:
            try:
                swarm = self._swarm(job)
                if views.begun(swarm, job):
                    return views.council_view(job, swarm, status, owner)
            except NotAProject:
                pass
            except SwarmError as error:
                told = views.not_begun(job, "damaged", owner)
                return told.model_copy(update={"problem": error.message, "code": error.code})
            failed = job.ended is not None and bool(job.ended.code)
            return views.not_begun(job, status or ("failed" if failed else "prepared"), owner)

        return await asyncio.to_thread(made)

    def _status(self, job: Council) -> str:
        """What the server does with it now; empty: nothing."""
        if any(each.subject == job.id for each in self.queue.working()):
            return "working"
        if job.wanted:
            return "paused" if job.wanted.paused else "queued"
        return ""

    async def _of_record(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        make: Callable[[Council, Swarm], T],
        nothing: T,
    ) -> T:
        """What is made of the record of a council; `nothing` where it has none yet."""
        job = self.access.council(who, id)

        def made() -> T:
            try:
                swarm = self._swarm(job)
            except NotAProject:
                return nothing
            return make(job, swarm) if views.begun(swarm, job) else nothing

        return await asyncio.to_thread(made)

    def _swarm(self, job: Council) -> Swarm:
        swarm = Swarm(Path(job.path), environ=self.environ)
        _ = swarm.folder  # raises where it is not there yet
        return swarm

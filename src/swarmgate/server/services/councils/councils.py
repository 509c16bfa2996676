"""Councils for who may ask for them: begun under an id of the server's, looked at, stopped, gone on with, answered.

view = await councils.start(who, "decision", {"question": "Do we move?"}, repo="shop")
view = await councils.ended(who, view.id, within_s=60)
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from swarmgate.council.decision.user_choices import PersonalVote, counted
from swarmgate.council.requests.seats import checked
from swarmgate.domain.metrics import Execution, PatternMetrics, measured
from swarmgate.errors import CouncilRefused, IllegalMove, NotFound, StoreAway, UsageError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Council
from swarmgate.server.runs.runs import Runs
from swarmgate.server.services.councils.reading import APART, CouncilReading, Held
from swarmgate.server.services.councils.record import OnRecord, argument_graph, utterances, votes
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.paging import numbered, page
from swarmgate.server.services.views.record import (
    ArgumentGraph,
    CouncilSummary,
    CouncilView,
    UtteranceView,
    VotesView,
)
from swarmgate.server.services.views.view import Page
from swarmgate.server.store.model import Store

V = TypeVar("V", ArgumentGraph, VotesView)

RESULT_S = 24 * 3600.0
"""Seconds for which the result of a council answers the same request."""

METRICS_S = 10.0
"""Seconds for which metrics are kept: to count them, every record is read."""

_RESULTS, _METRICS = "council-results", "council-metrics"
_ENDING_S = 10.0
"""Seconds for which an answer waits for the worker that asked for it to be gone."""
_FIRST_LOOK_S, _LAST_LOOK_S, _SLOWER = 0.05, 0.5, 1.5
"""Seconds between two looks at a council that is waited for, and how they grow."""


class Councils:
    """The councils of a server. What it answers is read in threads.

    Args:
        access: who may see what.
        runs: the queue of what is wanted.
        store: of results and metrics that were made before; what is lost there is made anew.
        environ: where the keys of providers and `SWARM_*` settings are looked up.
        owner: the name of an account by its id.
    """

    def __init__(
        self, access: Access, runs: Runs, store: Store, environ: Mapping[str, str], owner: Callable[[str], str]
    ) -> None:
        self._access, self._runs, self._store = access, runs, store
        self._reading = CouncilReading(access, runs, environ, owner)

    # --- begin and go on ---

    async def start(
        self,
        who: Principal,
        pattern: str,
        request: Mapping[str, Any],
        *,
        repo: str = "",
        goal: str = "",
        asked: Mapping[str, Any] | None = None,
        token: str = "",
    ) -> CouncilView:
        """Puts a council into the queue.

        Args:
            who: asks; it takes an operator.
            pattern: debate, discussion, decision, critique, dispatch, chat or orchestration.
            request: the arguments of the facade's verb, such as `question` and `participants`; no `id`.
            repo: in whose scratch project it is held, where no goal is given; empty: the only one in which the account
                may begin one.
            goal: in whose project it is held; empty: in none.
            asked: the request as it came, JSON-ready, for a face that has words of its own for it.
            token: of the request, where that may come again: the council that it began is then found instead.

        Raises:
            NotFound: there is no such repository or goal, or none that may be seen.
            NotAllowed: the role is too low.
            UsageError: there is no such pattern, the request has a key that it does not know, or nothing says where.
        """
        if "id" in request:
            raise UsageError("`id` is the server's: it is in the answer.", hint="leave it out")
        home = await asyncio.to_thread(self._reading.home, who, repo, goal, Role.OPERATOR)
        if token and (known := await asyncio.to_thread(self._access.jobs.begun, token)) is not None:
            return await self.get(who, known.id)
        job = await asyncio.to_thread(
            lambda: self._access.jobs.start(
                pattern, request, repo=home, goal=goal, owner=who.account.id, by=who.actor, asked=asked, token=token
            )
        )
        await self._runs.hold(job.id, by=who.actor)
        return await self.get(who, job.id)

    async def answered(
        self,
        who: Principal,
        pattern: str,
        request: Mapping[str, Any],
        *,
        repo: str = "",
        goal: str = "",
        asked: Mapping[str, Any] | None = None,
        token: str = "",
    ) -> tuple[CouncilView, bool]:
        """The council that answered the same request before, and True; else a new one, and False.

        One answers for a day, as `[council] cache` lets it: it is over, no voice failed, no person took part, and the
        project is what it was. Where the store is away, a new one is begun.

        Args:
            who: as of `start`.
            pattern: as of `start`.
            request: as of `start`.
            repo: as of `start`.
            goal: as of `start`.
            asked: as of `start`.
            token: as of `start`.

        Raises:
            SwarmError: as `start`.
        """
        home = await asyncio.to_thread(self._reading.home, who, repo, goal, Role.OPERATOR)
        whole = {"pattern": pattern, "request": request, "repo": home, "goal": goal, "asked": asked}
        key = hashlib.sha256(json.dumps(whole, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
        with suppress(StoreAway, NotFound):
            known = await self._store.get(_RESULTS, key)
            if known and (view := await asyncio.to_thread(self._still, who, known.decode())):
                return view, True
        view = await self.start(who, pattern, request, repo=home, goal=goal, asked=asked, token=token)
        with suppress(StoreAway):
            await self._store.put(_RESULTS, key, view.id.encode(), ttl_s=RESULT_S)
        return view, False

    async def ended(self, who: Principal, id: str, *, within_s: float) -> CouncilView:  # noqa: A002 - the field's name
        """The council when nothing is wanted of it any more, or as it stands after so many seconds.

        Raises:
            NotFound: there is none, or none that may be seen.
        """
        await self._at_rest(await asyncio.to_thread(self._access.council, who, id), within_s)
        return await self.get(who, id)

    async def stop(self, who: Principal, id: str) -> CouncilView:  # noqa: A002 - the field's name
        """Has it end at the next safe point; it can go on later.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: it takes an operator.
            IllegalMove: a terminal began it.
        """
        job = await asyncio.to_thread(self._job, who, id, Role.OPERATOR)
        await self._runs.stop(job.id, by=who.actor)
        return await self.get(who, job.id)

    async def resume(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
    ) -> CouncilView:
        """Has it go on after its last complete step.

        Args:
            who: asks; it takes an operator.
            id: of the council.
            tokens: what all of it may use, with what it used before; None: as it was begun with.
            usd: the same in US dollars.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: the role is too low.
            IllegalMove: it is at work already, or over; or a terminal began it.
        """
        job = await asyncio.to_thread(self._job, who, id, Role.OPERATOR)
        held = await asyncio.to_thread(self._reading.held, who, job.id)
        if held.record and held.record.standing.over:
            raise IllegalMove(f"The council {job.id} is over: nothing follows.")
        if job.wanted is not None and job.wanted.paused:
            await self._runs.resume(job.id, by=who.actor)
        else:
            given = {"tokens": tokens, "usd": usd}
            more = {name: value for name, value in given.items() if value is not None}
            await self._runs.hold(job.id, by=who.actor, **more)
        return await self.get(who, job.id)

    async def answer(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        vote: Mapping[str, Any],
        *,
        person: str = "",
    ) -> CouncilView:
        """Gives the vote of a person that a decision waits for, or what the user says to a discussion; it goes on.

        Args:
            who: asks; it takes an approver.
            id: of the council.
            vote: of a decision the fields of a `PersonalVote`: `stand`, `level`, `options`, `reason`; of a discussion
                those of a `DiscussionAnswer`: `cast`, `mode`, `say`, `choose`, `text`.
            person: whose vote it is; empty: the account's where it takes part by its name, else of the only one that is
                waited for.

        Raises:
            NotFound: there is none, or none that may be seen.
            NotAllowed: the role is too low.
            IllegalMove: nobody is waited for, or not that person; or a terminal began it.
            CouncilRefused: it is no vote.
        """
        job = await asyncio.to_thread(self._job, who, id, Role.APPROVER)
        held = await asyncio.to_thread(self._reading.held, who, job.id)
        discussed = held.pattern == "discussion"
        arguments = {"answer": dict(vote)} if discussed else _vote(held, vote, person, who.account.name)
        await self._at_rest(job, _ENDING_S)
        await self._runs.hold(job.id, by=who.actor, **arguments)
        return await self.get(who, job.id)

    # --- look ---

    async def list(
        self, who: Principal, *, repo: str = "", goal: str = "", pattern: str = "", after: str = "", limit: int = 50
    ) -> Page[CouncilSummary]:
        """The councils that may be seen, the newest first: those of the server, and those that terminals began.

        Args:
            who: asks.
            repo: of one repository; empty: of all.
            goal: of one goal; empty: of all.
            pattern: of one pattern; empty: of all.
            after: `next` of the page before.
            limit: as many at most.

        Raises:
            NotFound: there is no such repository or goal, or none that may be seen.
        """

        def read() -> Page[CouncilSummary]:
            found = [self._reading.summary(each) for each in self._reading.all(who, repo, goal, pattern)]
            found.sort(key=lambda each: (each.began, each.id), reverse=True)
            return page(found, after=after, limit=limit, key=lambda each: each.id)

        return await asyncio.to_thread(read)

    async def get(self, who: Principal, id: str) -> CouncilView:  # noqa: A002 - the field's name
        """One council.

        Raises:
            NotFound: there is none, or none that may be seen.
        """
        return await asyncio.to_thread(lambda: self._reading.view(self._reading.held(who, id)))

    async def held(self, who: Principal, id: str) -> tuple[Held, str]:  # noqa: A002 - the field's name
        """One council with its record and its status, for who shows it in a way of its own.

        Raises:
            NotFound: there is none, or none that may be seen.
        """

        def read() -> tuple[Held, str]:
            held = self._reading.held(who, id)
            return held, self._reading.status(held)

        return await asyncio.to_thread(read)

    async def jobs(self, who: Principal, *, repo: str = "") -> tuple[Council, ...]:
        """The councils that requests to the server began and that may be seen, the newest first."""

        def read() -> tuple[Council, ...]:
            return tuple(each for each in self._access.jobs.list(repo) if who.may(Role.VIEWER, each.repo))

        return await asyncio.to_thread(read)

    async def transcript(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        *,
        after: str = "",
        limit: int = 200,
    ) -> Page[UtteranceView]:
        """What was said and done in it, in order.

        Raises:
            NotFound: there is none, or none that may be seen.
            SwarmError: its record is damaged.
        """

        def read() -> Page[UtteranceView]:
            held = self._reading.held(who, id)
            said = utterances(held.record) if held.record else ()
            part = numbered(said, after=after, limit=limit, key=lambda each: each.seq)
            return Page[UtteranceView](items=held.clean(part.items), next=part.next)

        return await asyncio.to_thread(read)

    async def graph(self, who: Principal, id: str) -> ArgumentGraph:  # noqa: A002 - the field's name
        """Who said what for or against what in it.

        Raises:
            NotFound: there is none, or none that may be seen.
            SwarmError: its record is damaged.
        """
        return await self._read(who, id, argument_graph, ArgumentGraph(council=id))

    async def votes(self, who: Principal, id: str) -> VotesView:  # noqa: A002 - the field's name
        """How everybody voted in it.

        Raises:
            NotFound: there is none, or none that may be seen.
            SwarmError: its record is damaged.
        """
        return await self._read(who, id, votes, VotesView(council=id))

    async def executions(self, who: Principal, *, repo: str = "") -> tuple[Execution, ...]:
        """Every council on record that may be seen, for who counts them; at most ten seconds old.

        Raises:
            NotFound: there is no such repository, or none that may be seen.
        """
        projects = await asyncio.to_thread(self._reading.projects, who, repo)
        key = hashlib.sha256("\n".join(sorted(map(str, projects))).encode()).hexdigest()
        with suppress(StoreAway):
            if known := await self._store.get(_METRICS, key):
                return tuple(Execution.model_validate(each) for each in json.loads(known))
        found = await asyncio.to_thread(self._reading.executions, projects)
        with suppress(StoreAway):
            rows = json.dumps([each.model_dump(mode="json") for each in found]).encode()
            await self._store.put(_METRICS, key, rows, ttl_s=METRICS_S)
        return found

    async def metrics(self, who: Principal, *, repo: str = "") -> tuple[PatternMetrics, ...]:
        """What is on record of each pattern, and `total` last.

        Raises:
            NotFound: there is no such repository, or none that may be seen.
        """
        return measured(await self.executions(who, repo=repo))

    async def repository_of(self, who: Principal, goal: str) -> str:
        """The id of the repository that a goal is of; empty where no goal is named.

        Raises:
            NotFound: there is no such goal, or none that may be seen.
        """
        return (await asyncio.to_thread(self._access.goal, who, goal)).repo if goal else ""

    async def agents(self, who: Principal, *, repo: str = "") -> dict[str, dict[str, Any]]:
        """The agents of the settings by name, as requests for councils in that repository name them.

        Raises:
            NotFound: there is no such repository, or none that may be seen.
            NotAProject: nothing of it was fetched yet.
            UsageError: nothing says which repository.
        """

        def read() -> dict[str, dict[str, Any]]:
            return self._reading.settled(self._reading.home(who, repo, "", Role.VIEWER)).agents()

        return await asyncio.to_thread(read)

    async def problem(self) -> str:
        """Why no council can be begun, in a sentence; empty: it can."""
        try:
            await self._store.ping()
        except StoreAway as error:
            return error.message
        return ""

    # --- inside ---

    async def _read(self, who: Principal, id: str, view: Callable[[OnRecord], V], nothing: V) -> V:  # noqa: A002 - the field's name
        """A view of the record of a council; `nothing` where nothing was written yet."""

        def read() -> V:
            held = self._reading.held(who, id)
            return held.clean(view(held.record) if held.record else nothing)  # type: ignore[no-any-return]  # what it was given

        return await asyncio.to_thread(read)

    async def _at_rest(self, job: Council, within_s: float) -> None:
        """Waits until nothing is wanted of a council, for so many seconds at most."""
        until, pause = time.monotonic() + within_s, _FIRST_LOOK_S
        while job.wanted is not None and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(pause, left))
            pause = min(pause * _SLOWER, _LAST_LOOK_S)
            job = await asyncio.to_thread(self._access.jobs.get, job.id)

    def _job(self, who: Principal, id: str, role: Role) -> Council:  # noqa: A002 - the field's name
        if APART in id:
            self._reading.held(who, id)
            raise IllegalMove(f"{id} was begun at a terminal.", hint="go on with it there")
        return self._access.council(who, id, role)

    def _still(self, who: Principal, id: str) -> CouncilView | None:  # noqa: A002 - the field's name
        """The council, if it answers the same request again."""
        held = self._reading.held(who, id)
        answers = held.facade.answers.get(held.pattern) if held.record else None
        allowed = held.facade.shared.project.config.council.cache
        return self._reading.view(held) if answers and allowed and answers(id) else None


def _vote(held: Held, vote: Mapping[str, Any], person: str, account: str) -> dict[str, Any]:
    """The arguments by which a decision goes on with a vote."""
    waiting = held.waits_for
    name = person or (account if account in waiting else waiting[0] if len(waiting) == 1 else "")
    if held.record is None or name not in waiting:
        for_whom = f"for {', '.join(waiting)}" if waiting else "for nobody"
        raise IllegalMove(f"The council {held.id} waits {for_whom}.", hint="say whose vote it is" if waiting else "")
    given = checked(PersonalVote, dict(vote), "vote")
    try:
        counted(given, held.record.standing.own.decision)
    except CouncilRefused as error:
        raise CouncilRefused(f"`vote`: {error.message}", hint=error.hint) from None
    return {"vote": given.model_dump(mode="json"), "person": name}

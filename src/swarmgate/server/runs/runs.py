"""The queue of what is wanted, and the workers that do it: so many at once, in the order in which it was asked for.

What is wanted stands in the records of goals and councils, so that a server that was killed goes on with it.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from swarmgate.config import Config, Telemetry
from swarmgate.domain.next_step import waiting_for
from swarmgate.errors import IllegalMove, SwarmError
from swarmgate.ledger import raw_entries
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs import queue
from swarmgate.server.runs.fleet import Fleet
from swarmgate.server.runs.goals import Goals, now
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import HOLD, SWARMGATE, Change, Council, Goal, Verb, Wanted, Working
from swarmgate.server.runs.records import Records
from swarmgate.server.runs.scheduler import Scheduler
from swarmgate.server.runs.work import held, worked
from swarmgate.server.runs.work.worker import Setup
from swarmgate.server.runs.work.workers import Workers

_WORDS = {HOLD: "The council", Verb.PLAN: "The plan", Verb.REVISE: "A change of the plan", Verb.RUN: "A run"}
"""What is wanted, as people call it."""
_LOOK_S = 5.0
"""Seconds between two looks at the goals of a fleet that nobody here follows."""
_log = logging.getLogger(__name__)
_ENDING_S, _POLL_S = 10.0, 0.05
"""How long a worker that is just ending is waited for, and how often it is looked at. A worker that has nothing to do
any more ends within a second, on a busy machine within a few."""


class Runs:
    """The queue and the workers of one server. All but `working` and `queued` belong to one event loop.

    Args:
        goals: what is worked on.
        jobs: the councils that are held.
        concurrency: so many workers at once.
        private_hosts: as of `Repositories`, for the workers, which clone.
        trusted_sources: the same.
        telemetry: where workers send spans; None: nowhere.
        settings: of the server, for workers, where they name a fleet; None: there is none.
        on_change: told of everything that becomes of a goal or council, in the loop's thread; it does not block.
    """

    def __init__(
        self,
        goals: Goals,
        jobs: Jobs,
        *,
        concurrency: int = 2,
        private_hosts: tuple[str, ...] = (),
        trusted_sources: tuple[str, ...] = (),
        telemetry: Telemetry | None = None,
        settings: Config | None = None,
        on_change: Callable[[Change], None] = lambda _: None,
    ) -> None:
        self._goals, self._jobs, self._tell = goals, jobs, on_change
        setup = Setup(goals.home, goals.environ, private_hosts, trusted_sources, telemetry or Telemetry(), settings)
        self._watch: asyncio.Task[None] | None = None
        self._scheduler = Scheduler(Workers(setup), self._records, concurrency=concurrency, tell=on_change)

    async def start(self) -> None:
        """Begins to work on what is wanted, also on what a server before this one left.

        Raises:
            LedgerError: a record cannot be read.
        """
        await asyncio.to_thread(self._goals.settle)
        self._scheduler.start(await asyncio.to_thread(self._left))
        if self._goals.fleet is not None:
            self._watch = asyncio.create_task(self._watched(self._goals.fleet))

    async def close(self, *, grace_s: float = 20.0) -> None:
        """Asks the workers to end at the next safe point, and ends them after that time; what is wanted stays so."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._scheduler.close(grace_s=grace_s)

    async def want(self, goal: str, verb: Verb, *, by: str, **arguments: Any) -> Goal:
        """Puts work on a goal into the queue.

        Args:
            goal: its id.
            verb: `run` (`until`, `stash`), `plan` (`text`, `spec`, `source`, or `answers`), or `revise` (`text`).
            by: who asks, as an actor.
            arguments: of the verb.

        Raises:
            NotFound: there is no such goal.
            UsageError: an argument is unknown or wrong.
            IllegalMove: something is wanted of it already, or it is archived.
            LedgerWriteFailed: the disk refused.
        """
        given = worked.checked(verb, arguments)
        changed = await self._after_its_worker(partial(self._want, goal, verb, given, by), goal)
        self._scheduler.changed(changed, "queued", by, verb=verb)
        return changed

    @asynccontextmanager
    async def following(self, goal: str, verb: Verb, *, by: str) -> AsyncIterator[None]:
        """Has work on a goal follow what the block decides, also where the server is killed in between.

        Where something else is wanted of it already, that stays so. Where the block raises, nothing is wanted.

        Args:
            goal: its id.
            verb: as of `want`.
            by: who decides, as an actor.

        Raises:
            NotFound: there is no such goal.
            LedgerWriteFailed: the disk refused; the block was not begun.
        """
        try:
            asked = await self._after_its_worker(partial(self._want, goal, verb, {}, by, decided=False), goal)
        except IllegalMove:
            yield
            return
        wish, records = asked.wanted, self._goals.records
        try:
            yield
        except BaseException:
            await asyncio.to_thread(records.change, goal, lambda each: _with(each, wish, None))
            raise
        decided = wish and wish.model_copy(update={"decided": True})
        _, changed = await asyncio.to_thread(records.change, goal, lambda each: _with(each, wish, decided))
        self._scheduler.changed(changed, "queued", by, verb=verb)

    async def hold(self, council: str, *, by: str, **arguments: Any) -> Council:
        """Has a council that was just written down begin; or one go on that was stopped, or waits for a person.

        Args:
            council: its id.
            by: who asks, as an actor.
            arguments: `tokens` and `usd`, where the pattern has them. To a decision that waits for a person `vote` (the
                fields of a `PersonalVote`) and `person` (its id); to a discussion with a user, `answer` (the fields of
                a `DiscussionAnswer`).

        Raises:
            NotFound: there is no such council.
            UsageError: an argument is unknown or wrong.
            IllegalMove: something is wanted of it already, or it is over.
            LedgerWriteFailed: the disk refused.
        """
        known = await asyncio.to_thread(self._jobs.get, council)
        if known.wanted is None and known.ended is not None and known.ended.exit_code == 0:
            raise IllegalMove("The council is over.", hint="Look at what it came to, or begin another one.")
        if known.wanted is not None and known.ended is None and not arguments:
            self._scheduler.changed(known, "queued", by, pattern=known.pattern)
            return known
        wanted = Wanted(verb=HOLD, arguments=held.checked(known, arguments), by=by, asked=now())
        _, changed = await asyncio.to_thread(self._jobs.records.change, council, lambda each: _wanting(each, wanted))
        self._scheduler.changed(changed, "queued", by, pattern=changed.pattern)
        return changed

    def created(self, goal: Goal) -> None:
        """Has a goal that was just written down be planned.

        Args:
            goal: as `Goals.create` gave it.
        """
        by = goal.wanted.by if goal.wanted else SWARMGATE
        self._tell(Change(type="goal_created", subject=goal.id, repo=goal.repo, goal=goal.id, actor=by))
        self._scheduler.changed(goal, "queued", by, verb=Verb.PLAN)

    async def stop(self, subject: str, *, by: str) -> str:
        """Has nothing wanted of a goal or council any more; one at work ends at the next safe point.

        Returns:
            Who was at work, in words; empty: nobody.

        Raises:
            NotFound: there is no such goal or council.
            LedgerWriteFailed: the disk refused.
        """
        records = self._records(subject)
        if subject not in records.ids():
            self._goals.get(subject)  # a checkout that nothing was wanted of has no record yet
        else:
            _, changed = await asyncio.to_thread(
                records.change, subject, lambda each: each.model_copy(update={"wanted": None})
            )
            self._scheduler.changed(changed, "stopped", by)
        return await asyncio.to_thread(self._stopped, subject)

    async def pause(self, subject: str, *, by: str) -> None:
        """As `stop`, and what is wanted stays so until `resume`.

        Raises:
            NotFound: there is no such goal or council.
            IllegalMove: nothing is wanted of it.
            LedgerWriteFailed: the disk refused.
        """
        await self._paused(subject, by, paused=True)
        await asyncio.to_thread(self._stopped, subject)

    async def resume(self, subject: str, *, by: str) -> None:
        """Has what was paused, or waits for the end of a limit, go on.

        Raises:
            NotFound: there is no such goal or council.
            IllegalMove: nothing is wanted of it.
            LedgerWriteFailed: the disk refused.
        """
        await self._paused(subject, by, paused=False)

    def working(self) -> tuple[Working, ...]:
        """The workers at work, also those that a server before this one began."""
        return self._scheduler.working()

    def queued(self) -> tuple[str, ...]:
        """The ids of what waits for a worker, in order."""
        return self._scheduler.queued()

    # --- inside ---

    async def _watched(self, fleet: Fleet) -> None:
        """Has goals that nobody here follows show what others decide and do about them."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                await asyncio.to_thread(self._brought_up, fleet)
            except SwarmError as error:
                _log.warning("the fleet's goals cannot be looked at: %s", error.message)

    def _brought_up(self, fleet: Fleet) -> None:
        idle = [each for each in self._goals.list() if each.fleet and each.wanted is None and self._goals.ready(each)]
        for place in fleet.moved((each.fleet, each.id, Path(each.path)) for each in idle) if idle else ():
            fleet.follow(*place)

    async def _after_its_worker(self, want: Callable[[], Goal], goal: str) -> Goal:
        """Puts work on a goal down; a worker that is just ending is waited for, since what it did is decided now.

        Raises:
            IllegalMove: something else is wanted of it.
        """
        end = time.monotonic() + _ENDING_S
        while True:
            try:
                return await asyncio.to_thread(want)
            except IllegalMove:
                if time.monotonic() > end or not await asyncio.to_thread(self._ending, goal):
                    raise
            await asyncio.sleep(_POLL_S)

    def _ending(self, goal: str) -> bool:
        """Whether what is wanted of a goal is done by its ledger, and only its worker has not said so yet."""
        known = self._goals.get(goal)
        if known.wanted is None or known.wanted.paused or not self._goals.ready(known):
            return known.wanted is None
        return waiting_for(self._goals.swarm(known).state) is not None

    def _want(self, goal: str, verb: Verb, given: dict[str, Any], by: str, *, decided: bool = True) -> Goal:
        kept = self._goals.keep(goal)
        wanted = Wanted(verb=verb, arguments=given, by=by, asked=now(), seq=self._seq(kept), decided=decided)
        return self._goals.records.change(goal, lambda each: _wanting(each, wanted))[1]

    def _seq(self, goal: Goal) -> int:
        """Where the ledger of a goal is."""
        newest = raw_entries.entries(SwarmFolder(Path(goal.path)), 1) if self._goals.ready(goal) else ()
        return newest[0].seq if newest else 0

    def _records(self, subject: str) -> Records[Any]:
        return self._jobs.records if subject.startswith("k-") else self._goals.records

    def _left(self) -> tuple[Goal | Council, ...]:
        """All records, as the server before this one left them; what somebody was deciding then is decided or not."""
        goals = [
            each
            if each.wanted is None or each.wanted.decided
            else self._goals.records.change(each.id, partial(queue.after_restart, seq=self._seq(each)))[1]
            for each in self._goals.records.all()
        ]
        return (*goals, *self._jobs.records.all())

    async def _paused(self, subject: str, by: str, *, paused: bool) -> None:
        def change(record: Any) -> Any:
            if record.wanted is None:
                raise IllegalMove("Nothing is wanted of it, so there is nothing to pause or resume.")
            wanted = record.wanted.model_copy(update={"paused": paused, **({} if paused else {"not_before": ""})})
            return record.model_copy(update={"wanted": wanted})

        _, changed = await asyncio.to_thread(self._records(subject).change, subject, change)
        self._scheduler.changed(changed, "paused" if paused else "resumed", by)

    def _stopped(self, subject: str) -> str:
        """Asks whoever is at work to stop: our worker, or a run at somebody's terminal."""
        if (worker := self._scheduler.worker(subject)) is not None:
            worker.send(signal.SIGINT)
            return f"pid {pid}" if (pid := worker.pid) else ""
        if subject.startswith("k-"):
            return ""
        goal = self._goals.get(subject)
        return self._goals.swarm(goal).stop() if self._goals.ready(goal) else ""


def _wanting(record: Any, wanted: Wanted) -> Any:
    """The record with something wanted of it.

    Raises:
        IllegalMove: something is already.
    """
    if record.wanted is not None:
        paused = record.wanted.paused
        what = _WORDS.get(record.wanted.verb, record.wanted.verb)
        raise IllegalMove(
            f"{what} is {'paused' if paused else 'under way, or waits for its turn'} already.",
            hint="Resume it." if paused else "Wait for it, or stop it.",
        )
    return record.model_copy(update={"wanted": wanted})


def _with(record: Goal, wish: Wanted | None, now: Wanted | None) -> Goal:
    """The record with something else in the place of a wish, where that is what is wanted still."""
    return record.model_copy(update={"wanted": now}) if record.wanted == wish else record

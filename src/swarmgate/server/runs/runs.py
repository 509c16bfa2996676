"""The queue of what is wanted, and the workers that do it: so many at once, in the order in which it was asked for.

What is wanted stands in the records of goals and councils, so that a server that was killed goes on with it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from swarmgate.config import Telemetry
from swarmgate.errors import IllegalMove, NotFound, SwarmError
from swarmgate.journal.lock import at_work
from swarmgate.ledger import raw_entries
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs import held, queue, worked
from swarmgate.server.runs.goals import Goals, now
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import HOLD, SWARMGATE, Change, Council, Goal, Verb, Wanted, Working
from swarmgate.server.runs.records import Records
from swarmgate.server.runs.session import LOG
from swarmgate.server.runs.worker import Kind, Setup
from swarmgate.server.runs.workers import Worker, Workers, found

Record = Goal | Council

_ROUND_S = 1.0
"""How often it is looked for what nobody tells: somebody at a terminal is done with a project, a limit has ended."""
_AT_ONCE_S = 5.0
"""For how long a worker is waited for that was told to end at once."""


class Runs:
    """The queue and the workers of one server. All but `working` and `queued` belong to one event loop.

    Args:
        goals: what is worked on.
        jobs: the councils that are held.
        concurrency: so many workers at once.
        private_hosts: as of `Repositories`, for the workers, which clone.
        trusted_sources: the same.
        telemetry: where workers send spans; None: nowhere.
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
        on_change: Callable[[Change], None] = lambda _: None,
    ) -> None:
        self._goals, self._jobs, self._concurrency, self._tell = goals, jobs, concurrency, on_change
        self._workers = Workers(
            Setup(goals.home, goals.environ, private_hosts, trusted_sources, telemetry or Telemetry())
        )
        self._at_work: dict[str, Worker] = {}
        self._watched: set[asyncio.Task[None]] = set()
        self._wanted: dict[str, Record] = {}
        self._look = asyncio.Event()
        self._round: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self) -> None:
        """Begins to work on what is wanted, also on what a server before this one left.

        Raises:
            LedgerError: a record cannot be read.
        """
        await asyncio.to_thread(self._goals.settle)
        self._workers.warm()
        for record in await asyncio.to_thread(self._all):
            if isinstance(record, Goal) and record.wanted and not record.wanted.decided:
                seq = await asyncio.to_thread(self._seq, record)
                change = partial(queue.after_restart, seq=seq)
                _, record = await asyncio.to_thread(self._goals.records.change, record.id, change)  # noqa: PLW2901 - as it is now
            self._know(record)
            if (worker := found(record.id, self._records(record.id).lock(record.id))) is not None:
                self._watch(worker)
        self._round = asyncio.create_task(self._rounds())

    async def close(self, *, grace_s: float = 20.0) -> None:
        """Asks the workers to end at the next safe point, and ends them after that time; what is wanted stays so."""
        self._closing = True
        if self._round is not None:
            self._round.cancel()
            await asyncio.gather(self._round, return_exceptions=True)
            self._round = None
        for number, patience_s in (
            (signal.SIGHUP, grace_s),
            (signal.SIGTERM, _AT_ONCE_S),
            (signal.SIGKILL, _AT_ONCE_S),
        ):
            for worker in self._at_work.values():
                worker.send(number)
            if self._watched:
                await asyncio.wait(self._watched, timeout=patience_s)

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
        changed = await asyncio.to_thread(self._want, goal, verb, worked.checked(verb, arguments), by)
        self._changed(changed, "queued", by, verb=verb)
        return changed

    @asynccontextmanager
    async def following(self, goal: str, verb: Verb, *, by: str) -> AsyncIterator[None]:
        """Has work on a goal follow what the block decides, also where the server is killed in between.

        Where something is wanted of it already, that stays so. Where the block raises, nothing is wanted.

        Args:
            goal: its id.
            verb: as of `want`.
            by: who decides, as an actor.

        Raises:
            NotFound: there is no such goal.
            LedgerWriteFailed: the disk refused; the block was not begun.
        """
        try:
            asked = await asyncio.to_thread(partial(self._want, goal, verb, {}, by, decided=False))
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
        self._changed(changed, "queued", by, verb=verb)

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
            self._changed(known, "queued", by, pattern=known.pattern)
            return known
        wanted = Wanted(verb=HOLD, arguments=held.checked(known, arguments), by=by, asked=now())
        _, changed = await asyncio.to_thread(self._jobs.records.change, council, lambda each: _wanting(each, wanted))
        self._changed(changed, "queued", by, pattern=changed.pattern)
        return changed

    def created(self, goal: Goal) -> None:
        """Has a goal that was just written down be planned.

        Args:
            goal: as `Goals.create` gave it.
        """
        self._tell(Change(type="goal_created", subject=goal.id, repo=goal.repo, goal=goal.id, actor=_by(goal)))
        self._changed(goal, "queued", _by(goal), verb=Verb.PLAN)

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
            self._changed(changed, "stopped", by)
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
        found = []
        for subject, worker in list(self._at_work.items()):
            record = self._wanted.get(subject)
            verb = record.wanted.verb if record and record.wanted else ""
            found.append(Working(subject=subject, verb=verb, pid=worker.pid, since=worker.since))
        return tuple(found)

    def queued(self) -> tuple[str, ...]:
        """The ids of what waits for a worker, in order."""
        return tuple(each.id for each in queue.waiting(list(self._wanted.values())) if each.id not in self._at_work)

    # --- inside ---

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

    def _all(self) -> tuple[Record, ...]:
        return (*self._goals.records.all(), *self._jobs.records.all())

    def _know(self, record: Record) -> None:
        if record.wanted is None:
            self._wanted.pop(record.id, None)
        else:
            self._wanted[record.id] = record

    def _changed(self, record: Record, what: str, actor: str, **data: Any) -> None:
        self._know(record)
        prefix, goal = _place(record)
        self._tell(
            Change(type=f"{prefix}_{what}", subject=record.id, repo=record.repo, goal=goal, actor=actor, data=data)
        )
        self._look.set()

    async def _paused(self, subject: str, by: str, *, paused: bool) -> None:
        def change(record: Any) -> Any:
            if record.wanted is None:
                raise IllegalMove("Nothing is wanted of it, so there is nothing to pause or resume.")
            wanted = record.wanted.model_copy(update={"paused": paused, **({} if paused else {"not_before": ""})})
            return record.model_copy(update={"wanted": wanted})

        _, changed = await asyncio.to_thread(self._records(subject).change, subject, change)
        self._changed(changed, "paused" if paused else "resumed", by)

    def _stopped(self, subject: str) -> str:
        """Asks whoever is at work to stop: our worker, or a run at somebody's terminal."""
        if (worker := self._at_work.get(subject)) is not None:
            worker.send(signal.SIGINT)
            return f"pid {pid}" if (pid := worker.pid) else ""
        if subject.startswith("k-"):
            return ""
        goal = self._goals.get(subject)
        return self._goals.swarm(goal).stop() if self._goals.ready(goal) else ""

    async def _rounds(self) -> None:
        """Begins what is due, again and again."""
        while True:
            self._look.clear()
            for subject in queue.due(
                [each for each in self._wanted.values() if not self._elsewhere(each)],
                working=self._at_work,
                concurrency=self._concurrency,
                now=datetime.now(UTC),
            ):
                await self._begin(subject)
            with suppress(TimeoutError):
                async with asyncio.timeout(_ROUND_S):  # `wait_for` of Python 3.11 may swallow that it is cancelled
                    await self._look.wait()

    def _elsewhere(self, record: Record) -> bool:
        """Whether somebody else is at work in a goal's project: it begins when they are done."""
        if isinstance(record, Council) or record.id in self._at_work:
            return False
        return bool(at_work(SwarmFolder(Path(record.path)).lock))

    async def _begin(self, subject: str) -> None:
        record, lock = self._wanted[subject], self._records(subject).lock(subject)
        kind: Kind = "goal" if isinstance(record, Goal) else "council"
        try:
            worker = found(subject, lock)
            if worker is None:
                worker = await asyncio.to_thread(self._workers.start, kind, subject, lock)
        except OSError as error:
            self._tell(_problem(record, f"no process can be started: {error}"))  # the next round tries again
            return
        self._watch(worker)
        verb = record.wanted.verb if record.wanted else ""
        self._changed(record, "started", _by(record), verb=verb, pid=worker.pid)

    def _watch(self, worker: Worker) -> None:
        self._at_work[worker.subject] = worker
        task = asyncio.create_task(self._followed(worker))
        self._watched.add(task)
        task.add_done_callback(self._watched.discard)

    async def _followed(self, worker: Worker) -> None:
        """Waits for the end of a worker; one that died without a word is begun again a little later."""
        before = self._wanted.get(worker.subject)
        await worker.ended()
        try:
            after = await asyncio.to_thread(self._after, worker.subject, before)
        except NotFound:
            self._wanted.pop(worker.subject, None)
            after = None
        except SwarmError as error:
            after = None
            if before is not None:
                self._tell(_problem(before, error.message))
        del self._at_work[worker.subject]
        if after is not None:
            ended = after.ended.model_dump(exclude={"verb"}) if after.ended else {}
            self._changed(after, "ended", SWARMGATE, **ended)

    def _after(self, subject: str, before: Record | None) -> Record:
        """The record after its worker ended; where that said nothing, it died."""
        records, time = self._records(subject), datetime.now(UTC)
        if self._closing or before is None:
            return records.get(subject)  # type: ignore[no-any-return]  # of either kind
        log = str(records.folder(subject) / LOG)
        _, after = records.change(subject, lambda each: queue.after_end(each, before, time, log))
        return after  # type: ignore[no-any-return]  # of either kind


def _wanting(record: Any, wanted: Wanted) -> Any:
    """The record with something wanted of it.

    Raises:
        IllegalMove: something is already.
    """
    if record.wanted is not None:
        hint = "Resume it." if record.wanted.paused else "Wait for it, or stop it."
        raise IllegalMove(f"{record.wanted.verb} is wanted already.", hint=hint)
    return record.model_copy(update={"wanted": wanted})


def _with(record: Goal, wish: Wanted | None, now: Wanted | None) -> Goal:
    """The record with something else in the place of a wish, where that is what is wanted still."""
    return record.model_copy(update={"wanted": now}) if record.wanted == wish else record


def _by(record: Record) -> str:
    """Who wants it."""
    return record.wanted.by if record.wanted else SWARMGATE


def _place(record: Record) -> tuple[str, str]:
    """How the types of its changes begin, and the id of the goal that they are about."""
    return ("run", record.id) if isinstance(record, Goal) else ("council", record.goal)


def _problem(record: Record, message: str) -> Change:
    """What keeps the server from working on it."""
    prefix, goal = _place(record)
    return Change(type=f"{prefix}_problem", subject=record.id, repo=record.repo, goal=goal, data={"message": message})

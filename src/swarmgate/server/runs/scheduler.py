"""Begins what is wanted and due, follows its workers to their end, and knows what waits. Of one event loop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swarmgate.errors import NotFound, SwarmError
from swarmgate.journal.lock import at_work
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs import queue
from swarmgate.server.runs.model import SWARMGATE, Change, Council, Goal, Working
from swarmgate.server.runs.records import Records
from swarmgate.server.runs.work.session import LOG
from swarmgate.server.runs.work.worker import Kind
from swarmgate.server.runs.work.workers import Worker, Workers, found

Record = Goal | Council

_ROUND_S = 1.0
"""How often it is looked for what nobody tells: somebody at a terminal is done with a project, a limit has ended."""
_AT_ONCE_S = 5.0
"""For how long a worker is waited for that was told to end at once."""


class Scheduler:
    """The workers of one server, and what waits for them.

    Args:
        workers: starts them.
        records: gives the records that an id is of.
        concurrency: so many at once.
        tell: told of everything that becomes of a goal or council; it does not block.
    """

    def __init__(
        self,
        workers: Workers,
        records: Callable[[str], Records[Any]],
        *,
        concurrency: int,
        tell: Callable[[Change], None],
    ) -> None:
        self._workers, self._records, self._concurrency, self._tell = workers, records, concurrency, tell
        self._at_work: dict[str, Worker] = {}
        self._watched: set[asyncio.Task[None]] = set()
        self._wanted: dict[str, Record] = {}
        self._look = asyncio.Event()
        self._round: asyncio.Task[None] | None = None
        self._closing = False

    def start(self, left: tuple[Record, ...]) -> None:
        """Begins to work on what is wanted, and follows the workers that a server before this one began.

        Args:
            left: all records, as that server left them.
        """
        self._workers.warm()
        for record in left:
            self._know(record)
            if (worker := found(record.id, self._records(record.id).lock(record.id))) is not None:
                self._watch(worker)
        self._round = asyncio.create_task(self._rounds())

    async def close(self, *, grace_s: float) -> None:
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

    def changed(self, record: Record, what: str, actor: str, **data: Any) -> None:
        """Takes note of a record that was changed, tells of it, and looks what is due now.

        Args:
            record: as it is.
            what: happened, the last word of the change's type.
            actor: who did it.
            data: what more there is to tell.
        """
        self._know(record)
        prefix, goal = _place(record)
        self._tell(
            Change(type=f"{prefix}_{what}", subject=record.id, repo=record.repo, goal=goal, actor=actor, data=data)
        )
        self._look.set()

    def worker(self, subject: str) -> Worker | None:
        """The worker at a goal or council; None: there is none."""
        return self._at_work.get(subject)

    def working(self) -> tuple[Working, ...]:
        """The workers at work, also those that a server before this one began."""
        told = []
        for subject, worker in list(self._at_work.items()):
            record = self._wanted.get(subject)
            verb = record.wanted.verb if record and record.wanted else ""
            told.append(Working(subject=subject, verb=verb, pid=worker.pid, since=worker.since))
        return tuple(told)

    def queued(self) -> tuple[str, ...]:
        """The ids of what waits for a worker, in order."""
        return tuple(each.id for each in queue.waiting(list(self._wanted.values())) if each.id not in self._at_work)

    # --- inside ---

    def _know(self, record: Record) -> None:
        if record.wanted is None:
            self._wanted.pop(record.id, None)
        else:
            self._wanted[record.id] = record

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
        record, lock = self._wanted.get(subject), self._records(subject).lock(subject)
        if record is None:  # it was stopped while another one began
            return
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
        self.changed(record, "started", _by(record), verb=verb, pid=worker.pid)

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
            self.changed(after, "ended", SWARMGATE, **ended)

    def _after(self, subject: str, before: Record | None) -> Record:
        """The record after its worker ended; where that said nothing, it died."""
        records, time = self._records(subject), datetime.now(UTC)
        if self._closing or before is None:
            return records.get(subject)  # type: ignore[no-any-return]  # of either kind
        log = str(records.folder(subject) / LOG)
        _, after = records.change(subject, lambda each: queue.after_end(each, before, time, log))
        return after  # type: ignore[no-any-return]  # of either kind


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

"""The driver of all council patterns: runs the steps that are due concurrently and records their events.

    while steps := pattern.next(state):
        state = record.append(await pattern.do(step, state))      # for each step, as it comes

A record that was killed is taken up by the same lines: `next` names what is not on record yet.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from swarmgate.council.context import CouncilContext
from swarmgate.council.pattern import Pattern, Unfinished
from swarmgate.council.records.lifecycle import Completed, Resumed, Stopped, TimeUp
from swarmgate.council.records.record import Record
from swarmgate.domain.base import Frozen
from swarmgate.domain.operations import Operation, operation
from swarmgate.domain.usage import Allowance
from swarmgate.errors import LedgerError, SwarmError, WaitingForUser
from swarmgate.llm.limits.worktime import WorkTime

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


async def run(
    pattern: Pattern[Q, S, O],
    record: Record[Q, S, O],
    context: CouncilContext,
    *,
    allowance: Allowance | None = None,
) -> O | None:
    """Runs a record from its present state to its end, or to the end of this session's time.

    Args:
        pattern: of the record.
        record: of what is held.
        context: what its steps work with.
        allowance: what all of it may use from now on; None: as before.

    Returns:
        What it comes to; None: nothing yet. At once where it is over.

    Raises:
        SwarmError: what ended the session; it is on record, and so is all that was finished.
    """
    if record.standing.over:
        return record.outcome
    record.repair()
    session = _Session(pattern, record, context)
    session.append([Resumed(allowance=allowance or record.standing.allowance)])
    try:
        with operation(Operation.WORKFLOW, pattern.name, record=record.id):
            await session.held()
    except SwarmError as error:
        with suppress(LedgerError):  # that of the damage that ended it is told, not that of writing it down
            status = pattern.status_after(error, record.standing)
            why = "" if isinstance(error, WaitingForUser) else error.message
            session.append([Stopped(status=status, code=error.code, why=why)])
        for result in pattern.progress_of_error(error, record.standing):
            context.on_event(result)
        raise
    finally:
        with suppress(LedgerError):
            record.publish()
    return record.outcome


@dataclass
class _Session(Generic[Q, S, O]):
    """One process at one record. `working` are the steps that go on."""

    pattern: Pattern[Q, S, O]
    record: Record[Q, S, O]
    context: CouncilContext
    worked: WorkTime = field(default_factory=WorkTime)
    working: dict[Hashable, asyncio.Task[Sequence[Frozen]]] = field(default_factory=dict)

    async def held(self) -> None:
        """Does what is due until nothing is, or the time is up."""
        try:
            async with self._in_time():
                await self._until_nothing_is_due()
        except TimeoutError:
            if not self.record.standing.late:
                raise
            await self._until_nothing_is_due()
        pattern, state = self.pattern, self.record.standing.own
        if not pattern.over(state):
            self.append([Stopped(status=pattern.paused(state), why=pattern.pause(state))])
            return
        if not pattern.flawless(state):
            self.record.exclude_from_cache("a voice failed")  # the next request deserves all participants
        self.append([Completed()])

    async def _until_nothing_is_due(self) -> None:
        try:
            while self._begun():
                done, _ = await asyncio.wait(self.working.values(), return_when=asyncio.FIRST_COMPLETED)
                await self._ended([step for step, task in self.working.items() if task in done])
        finally:
            await self._cut_off(list(self.working))

    def _begun(self) -> bool:
        """Begins what is due and not under way; whether anything is."""
        pattern, state = self.pattern, self.record.standing.own
        new = [step for step in pattern.next(state) if step not in self.working]
        for event in pattern.progress_of_steps(new, state) if new else ():
            self.context.on_event(event)
        for step in new:
            self.working[step] = asyncio.create_task(_done(pattern.do(step, state, self.context)))
        return bool(self.working)

    async def _ended(self, steps: Sequence[Hashable]) -> None:
        """Puts on record what steps came to, in the order in which they began, and cuts off what is not due any more.

        Raises:
            SwarmError: the first one of a step; not of one that is due no more after what the others came to.
        """
        tasks = {step: self.working.pop(step) for step in steps}
        for task in tasks.values():
            if not task.exception():
                self.append(task.result())
        due = self._due()
        errors = {step: error for step, task in tasks.items() if (error := self._failed(task))}
        counting = [error for step, error in errors.items() if step in due or not isinstance(error, SwarmError)]
        if counting:
            if self.pattern.patient:
                await self._patiently()
            raise counting[0]
        due = self._due()
        await self._cut_off([step for step in self.working if step not in due])

    def _due(self) -> set[Hashable]:
        return set(self.pattern.next(self.record.standing.own))

    def _failed(self, task: asyncio.Task[Sequence[Frozen]]) -> BaseException | None:
        """The error that ended a step, if any did; what the step came to before goes on record."""
        error = task.exception()
        if isinstance(error, Unfinished):
            self.append(error.events)
            return error.error
        return error

    async def _patiently(self) -> None:
        """What goes on is ended well, and goes on record."""
        while self.working:
            done, _ = await asyncio.wait(self.working.values(), return_when=asyncio.FIRST_COMPLETED)
            for step in [step for step, task in self.working.items() if task in done]:
                task = self.working.pop(step)
                error = self._failed(task)
                if error is None:
                    self.append(task.result())
                elif not isinstance(error, SwarmError):
                    raise error

    async def _cut_off(self, steps: Sequence[Hashable]) -> None:
        """Ends steps; what one of them says of itself then goes on record."""
        tasks = [self.working.pop(step) for step in steps]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(result, BaseException):
                with suppress(LedgerError):  # what ends it may be the disk
                    self.append(result)

    def append(self, events: Sequence[Frozen]) -> None:
        """Puts events on record, one by one for who listens, and tells of them."""
        pattern = self.pattern
        for event in events:
            before = self.record.standing
            after = self.record.append([event])
            for result in pattern.progress_of_event(self.record.newest, before, after):
                self.context.on_event(result)
            for name, text in pattern.grows(event, before, after).items():
                self.record.grow(name, text)
        if any(isinstance(event, pattern.milestones) for event in events):
            self.record.publish()

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """The time that a session has, and that all of it has; when one is over, that is on record.

        Raises:
            TimeoutError: it is over.
        """
        pattern, state = self.pattern, self.record.standing.own
        seconds, ends_at = pattern.session_s(state), pattern.ends_at(state)
        left = None if ends_at is None else ends_at - time.time()
        if left is not None and left <= 0:  # nobody is asked any more
            self.append([TimeUp()])
            raise TimeoutError
        outer = asyncio.timeout(left)
        try:
            async with outer:
                if seconds is None:
                    with self.worked.running():
                        yield
                else:
                    async with self.worked.limited(seconds):
                        yield
        except TimeoutError:
            if outer.expired() or self.worked.expired:
                self.append([TimeUp()])
            raise


async def _done(doing: Any) -> Sequence[Frozen]:
    """The events of a step.

    Raises:
        RuntimeError: there are none: `next` would name it for ever.
    """
    events: Sequence[Frozen] = await doing
    if not events:
        raise RuntimeError("a step of a council ended without an event")
    return events

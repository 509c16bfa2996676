"""The one driver of every council: what is due is done, at the same time, and what happened goes on record.

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
from swarmgate.council.lifecycle import Completed, Resumed, Stopped, TimeUp
from swarmgate.council.record import Record
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Allowance
from swarmgate.errors import LedgerError, SwarmError
from swarmgate.llm.limits.worktime import WorkTime

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


async def run(record: Record[Q, S, O], context: CouncilContext, *, allowance: Allowance | None = None) -> O | None:
    """Goes on with a record, from where it stands to its end, or to the end of this session's time.

    Args:
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
    session = _Session(record, context)
    session.append([Resumed(allowance=allowance or record.standing.allowance)])
    try:
        await session.held()
    except SwarmError as error:
        with suppress(LedgerError):  # that of the damage that ended it is told, not that of writing it down
            status = record.pattern.status_after(error, record.standing)
            session.append([Stopped(status=status, code=error.code, why=error.message)])
        for told in record.pattern.fails(error, record.standing):
            context.on_event(told)
        raise
    finally:
        with suppress(LedgerError):
            record.publish()
    return record.outcome


@dataclass
class _Session(Generic[Q, S, O]):
    """One process at one record. `working` are the steps that go on."""

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
        pattern, state = self.record.pattern, self.record.standing.own
        self.append([Completed() if pattern.over(state) else Stopped(status="paused", why=pattern.pause(state))])

    async def _until_nothing_is_due(self) -> None:
        try:
            while self._begun():
                done, _ = await asyncio.wait(self.working.values(), return_when=asyncio.FIRST_COMPLETED)
                await self._ended([step for step, task in self.working.items() if task in done])
        finally:
            await self._cut_off(list(self.working))

    def _begun(self) -> bool:
        """Begins what is due and not under way; whether anything is."""
        pattern, state = self.record.pattern, self.record.standing.own
        new = [step for step in pattern.next(state) if step not in self.working]
        for event in pattern.begins(new, state) if new else ():
            self.context.on_event(event)
        for step in new:
            self.working[step] = asyncio.create_task(_done(pattern.do(step, state, self.context)))
        return bool(self.working)

    async def _ended(self, steps: Sequence[Hashable]) -> None:
        """Puts on record what steps came to, in the order in which they began, and cuts off what is not due any more.

        Raises:
            SwarmError: the first one of a step.
        """
        errors = []
        for step in steps:
            task = self.working.pop(step)
            if error := task.exception():
                errors.append(error)
            else:
                self.append(task.result())
        if errors:
            if self.record.pattern.patient:
                await self._patiently()
            raise errors[0]
        due = set(self.record.pattern.next(self.record.standing.own))
        await self._cut_off([step for step in self.working if step not in due])

    async def _patiently(self) -> None:
        """What goes on is ended well, and goes on record."""
        for step in list(self.working):
            with suppress(SwarmError):
                self.append(await self.working[step])
            self.working.pop(step, None)

    async def _cut_off(self, steps: Sequence[Hashable]) -> None:
        """Ends steps; what one of them says of itself then goes on record."""
        tasks = [self.working.pop(step) for step in steps]
        for task in tasks:
            task.cancel()
        for told in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(told, BaseException):
                with suppress(LedgerError):  # what ends it may be the disk
                    self.append(told)

    def append(self, events: Sequence[Frozen]) -> None:
        """Puts events on record, one by one for who listens, and tells of them."""
        pattern = self.record.pattern
        for event in events:
            before = self.record.standing
            after = self.record.append([event])
            for told in pattern.tells(event, before, after):
                self.context.on_event(told)
        if any(isinstance(event, pattern.milestones) for event in events):
            self.record.publish()

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """The time that a session has, and that all of it has; when one is over, that is on record.

        Raises:
            TimeoutError: it is over.
        """
        pattern, state = self.record.pattern, self.record.standing.own
        seconds, ends_at = pattern.session_s(state), pattern.ends_at(state)
        ends = None if ends_at is None else asyncio.get_running_loop().time() + ends_at - time.time()
        outer = asyncio.timeout_at(ends)
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

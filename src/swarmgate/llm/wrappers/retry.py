"""Retries a failed call: after exponential back-off with jitter, or after the delay that the endpoint asks for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from swarmgate.domain.usage import Usage
from swarmgate.llm.events import OnEvent, Retrying, ignore
from swarmgate.llm.limit_resets import Limit
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest

LONGEST_S = 65.0
"""No wait within a call is longer: a minute, and what may be added to it. A later end is waited for by `llm.limits`."""

REPORT_S = 10.0
"""Seconds; the wait for an end that is named and no nearer is told with that end: by then somebody looks up."""

SOON_S = 1.0
"""An endpoint that asks for so little again and again, until all tries are used up, has no limit but a fault."""


def delay(attempt: int, asked: float | None, jitter: float) -> float:
    """Seconds to wait after failed attempt number `attempt` (from 1).

    Doubles from half a second; `jitter` in [0, 1) takes off up to half, so that clients do not come back together.
    What the endpoint asked for is obeyed instead.
    """
    if asked is not None:
        return min(max(asked, 0.0), LONGEST_S)
    return min(2.0 ** min(attempt - 2, 10), LONGEST_S) * (1 - jitter / 2)


class Retry:
    """A `Model` that calls another up to `retries` times more when a call fails in a way that may pass.

    What failed calls used is part of the usage of the reply, or of the final error.

    Args:
        inner: is called.
        retries: how often more.
        on_event: gets reports of tries that come soon.
        sleep: waits so many seconds.
        until: waits for the end of a limit, and tells of that; None: such a wait is told as any other.
        jitter: in [0, 1).
        clock: the present, in UTC.
    """

    def __init__(
        self,
        inner: Model,
        retries: int,
        *,
        on_event: OnEvent = ignore,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        until: Callable[[Limit, datetime], Awaitable[None]] | None = None,
        jitter: Callable[[], float] = random.random,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.name = inner.name
        self._inner = inner
        self._retries = retries
        self._on_event = on_event
        self._sleep = sleep
        self._until = until
        self._jitter = jitter
        self._clock = clock

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            CallFailed: the last failure.
            Stopped: the user ended a wait.
        """
        wasted = Usage()
        attempt = 1
        while True:
            try:
                reply = await self._inner.complete(request)
            except CallFailed as error:
                wasted += error.usage
                asked = self._asked(error)
                used_up = attempt > self._retries and error.asked
                if not error.retriable or used_up or (asked or 0.0) > LONGEST_S:
                    raise self._given_up(error, attempt, wasted) from error
                attempt += error.asked
                await self._wait(error, attempt, asked)
            else:
                return reply.model_copy(update={"usage": wasted + reply.usage})

    async def _wait(self, error: CallFailed, attempt: int, asked: float | None) -> None:
        """Waits before the try of this number; an end that the endpoint named is told where it is not near."""
        if self._until and error.limit and error.limit.ends and (asked or 0.0) >= REPORT_S:
            await self._until(error.limit, error.limit.ends)
            return
        seconds = delay(attempt - error.asked, asked, self._jitter())
        self._on_event(
            Retrying(
                model=self.name, reason=error.message, seconds=seconds, attempt=attempt, attempts=self._retries + 1
            )
        )
        await self._sleep(seconds)

    def _given_up(self, error: CallFailed, attempts: int, wasted: Usage) -> CallFailed:
        tries = f" (tried {attempts} times)" if attempts > 1 else ""
        asked = self._asked(error)
        limit = None if asked is not None and attempts > 1 and asked <= SOON_S else error.limit
        return CallFailed(
            f"{error.message}{tries}", hint=error.hint, retriable=error.retriable, limit=limit, usage=wasted
        )

    def _asked(self, error: CallFailed) -> float | None:
        """Seconds until the end that the endpoint named; None: it named none."""
        end = error.limit.ends if error.limit else None
        return None if end is None else (end - self._clock()).total_seconds()

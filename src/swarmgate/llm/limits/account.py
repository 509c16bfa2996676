"""Remembers which models are rate limited, makes calls wait for the reset, and lets one call probe first.

One object serves all models of a run, or of a council session. A model whose limit is known is not asked before its
end: everybody who wants it waits for the same moment, and then one call finds out whether the limit is over, before
the others are made.

    Retry        waits that are short: within a call, at one endpoint
    Fallback     the next model, where one is free
    `outlast`    waits that are long, at most as long as `[loop] wait_limit` says; past that, `LimitReached`
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from swarmgate.domain.usage import Usage
from swarmgate.errors import LimitReached, Stopped
from swarmgate.llm import time_parsing
from swarmgate.llm.events import LimitOver, OnEvent, WaitBrokenOff, WaitingForLimit, cut_off, ignore
from swarmgate.llm.limit_resets import Limit
from swarmgate.llm.limits.worktime import standing_still
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest

T = TypeVar("T")

_CHECK_S = 0.25
"""Seconds between two checks whether the user wants the wait to end."""
_MARGIN_S = 1.0
"""Seconds after the named end at which a call is made, at most twice that: endpoints count in whole seconds."""
_LONGEST_STEP_S = 60.0
"""A limit that is named over and is not is asked for after 1, 2, 4 ... seconds, and then at this distance."""
_JUMP_S = 5.0
"""Seconds by which the clock may lag behind what was slept."""
_WAYS_ON = (
    "nothing is lost: `swarm run --wait` waits that long and goes on, `swarm run` goes on after that; longer waits "
    "within a run: `wait_limit` in [loop] of .swarm/config.toml; or another model as `fallback`"
)


@dataclass
class _Known:
    """The limit of one model: when it may be asked again, and who is finding out whether it is over."""

    failed: CallFailed
    limit: Limit
    resume: datetime
    probe: asyncio.Event | None = None


class AccountLimits:
    """The known rate limits of models, and the calls that wait for them.

    Args:
        longest_s: how long one call may wait, in seconds; None: as long as it takes.
        on_event: gets reports that a wait begins and ends: once, however many wait.
        stop: whether the user wants the work to end; looked at while waiting.
        sleep: waits so many seconds.
        clock: the present, in UTC.
        jitter: in [0, 1).
    """

    def __init__(
        self,
        *,
        longest_s: float | None = None,
        on_event: OnEvent = ignore,
        stop: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._longest_s = longest_s
        self._on_event = on_event
        self._stop = stop
        self._sleep = sleep
        self.clock = clock
        self._jitter = jitter
        self._known: dict[str, _Known] = {}
        self._waiting: Counter[str] = Counter()

    def reached(self, model: str) -> bool:
        """Whether the limit of a model is known to be reached now."""
        return (known := self._known.get(model)) is not None and self.clock() < known.resume

    async def outlast(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes a call; where a limit with a known end is in its way, after that end.

        Raises:
            LimitReached: the end is too far away.
            Stopped: the user ended the wait.
            CallFailed: as `call`, for any other reason.
        """
        began, times = None, 0
        while True:
            try:
                return await call()
            except CallFailed as error:
                if error.limit is None or error.limit.ends is None:
                    raise
                now, times = self.clock(), times + 1
                began = began or now
                step = min(2.0 ** (times - 1), _LONGEST_STEP_S) if times > 1 else 0.0
                end = max(error.limit.ends, now + timedelta(seconds=step))
                self._require_near(error, end, began)
                await self.until(error.limit, end)

    async def pause(self, seconds: float) -> None:
        """Waits while all clocks of work stand still.

        Raises:
            Stopped: the user ended the wait.
        """
        end, slept = self.clock() + timedelta(seconds=seconds), 0.0
        with standing_still():
            while (left := (end - self.clock()).total_seconds()) > 0 and slept < seconds + _JUMP_S:
                if self._stop():
                    raise Stopped("Stopped while waiting for a model, as asked.", hint="Go on with: swarm run")
                step = min(left, _CHECK_S)
                await self._sleep(step)
                slept += step

    def _require_near(self, error: CallFailed, end: datetime, began: datetime) -> None:
        if self._longest_s is None or end <= began + timedelta(seconds=self._longest_s + 2 * _MARGIN_S):
            return
        kind = error.limit.kind if error.limit else "limit"
        message = f"the {kind} ends {time_parsing.rendered(end, self.clock())}: {error.message}"
        raise LimitReached(message, until=time_parsing.rounded(end), hint=_WAYS_ON)

    async def until(self, limit: Limit, end: datetime) -> None:
        """Waits for the end of a model's limit; reported once, however many wait.

        Raises:
            Stopped: the user ended the wait; it says when the limit ends.
        """
        name = limit.model
        ended: LimitOver | WaitBrokenOff | None = WaitBrokenOff(model=name, limit=limit.kind)
        self._waiting[name] += 1
        if self._waiting[name] == 1:
            self._on_event(WaitingForLimit(model=name, limit=limit.kind, until=end, now=self.clock()))
        try:
            await self.pause((end - self.clock()).total_seconds())
            ended = LimitOver(model=name, limit=limit.kind)
        except Stopped as error:
            ended = None  # the run ends here, and says so itself
            raise self._stopped(limit, end) from error
        finally:
            self._waiting[name] -= 1
            if ended is not None and not self._waiting[name]:
                self._on_event(ended)

    def _stopped(self, limit: Limit, end: datetime) -> Stopped:
        what = f"{limit.kind} of {cut_off(limit.model)}"
        ends = time_parsing.rendered(end, self.clock())
        hint = "`swarm run --wait` waits for that end and goes on, `swarm run` tries at once"
        return Stopped(f"Stopped, as asked: the {what} ends {ends}.", until=time_parsing.rounded(end), hint=hint)

    # --- one model ---

    async def admitted(self, model: str) -> bool:
        """Whether the call that is about to be made finds out if the model's limit is over; others wait for it.

        Raises:
            CallFailed: the limit is known, and not over yet.
        """
        while (known := self._known.get(model)) is not None:
            if self.clock() < known.resume:
                raise _again(known.failed, known.limit, asked=False)
            if known.probe is None:
                known.probe = asyncio.Event()
                return True
            with standing_still():
                await known.probe.wait()
        return False

    def over(self, model: str) -> None:
        """Notes that the limit of a model is over: it answered."""
        if (known := self._known.pop(model, None)) and known.probe:
            known.probe.set()

    def attempt_ended(self, model: str) -> None:
        """The call that was to find out has ended, one way or another."""
        if (known := self._known.get(model)) and known.probe:
            known.probe.set()
            known.probe = None

    def note(self, model: str, error: CallFailed) -> CallFailed:
        """Notes that a model has reached its limit; returns the failure with the time when it may be asked again."""
        now, limit = self.clock(), error.limit
        if limit is None or limit.ends is None:
            return error
        known = self._known.get(model)
        margin = min(_MARGIN_S, max((limit.ends - now).total_seconds(), 0.0) / 10) * (1 + self._jitter())
        resume = limit.ends + timedelta(seconds=margin)
        if known and known.resume > resume:
            resume = known.resume
        limit = limit.model_copy(update={"model": model, "ends": resume})
        self._known[model] = _Known(_again(error, limit), limit, resume, known.probe if known else None)
        return _again(error, limit, error.usage)


class RateLimited:
    """A `Model` whose calls wait while its limit is known to be reached."""

    def __init__(self, inner: Model, limits: AccountLimits) -> None:
        self.name = inner.name
        self._inner = inner
        self._limits = limits

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            CallFailed: as `inner`; or its limit is reached, and it was not asked.
        """
        first = await self._limits.admitted(self.name)
        try:
            reply = await self._inner.complete(request)
            if first:
                self._limits.over(self.name)
        except CallFailed as error:
            if (noted := self._limits.note(self.name, error)) is error:
                raise
            raise noted from error
        finally:
            if first:
                self._limits.attempt_ended(self.name)
        return reply


def _again(error: CallFailed, limit: Limit, usage: Usage | None = None, *, asked: bool = True) -> CallFailed:
    return CallFailed(error.message, hint=error.hint, retriable=error.retriable, limit=limit, usage=usage, asked=asked)

"""Wraps a worker as a subscriber of the bus, with circuit breaker, time limit and loop protection.

Writes these events: `trigger_fired`, `trigger_suppressed` (once a burst), `worker_failed`, `breaker_changed`, and what
the worker returned. The bus reads them there, as everything else: a worker may be started by its own events, and is
stopped by loop protection then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from swarmgate.automation.bus.breaker import FAILURES, RESET_S, WITHIN_S, Breaker, Repeats
from swarmgate.automation.bus.subscription import TryLater
from swarmgate.automation.bus.threaded_call import Call, error_text
from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.domain.events.automation import (
    AutomationEvent,
    BreakerChanged,
    BreakerState,
    Happening,
    TriggerFired,
    TriggerSuppressed,
    WorkerFailed,
)
from swarmgate.domain.status import WorkerStatus
from swarmgate.errors import SwarmError
from swarmgate.ledger.files.automation_log import AutomationLog

_SUBJECTS = 100
"""From so many subjects on, those that are quiet again are forgotten."""


class CallTimedOut(SwarmError):
    """A call of a worker took too long, and goes on unheeded in its thread."""

    code = "CALL_TIMED_OUT"


class GuardedWorker:
    """One worker as a subscriber of the bus.

    Args:
        worker: the capability.
        journal: where its events are written.
        call_s: longest time of one call, in seconds, where the worker names none.
        clock: seconds that never go back.
    """

    def __init__(
        self, worker: Worker, journal: AutomationLog, *, call_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = worker.name
        self._worker = worker
        self._journal = journal
        self._limit = call_s if worker.limit_s is None else worker.limit_s
        self._clock = clock
        self._breaker = Breaker()
        self._state = BreakerState.CLOSED
        self._repeats: dict[str, Repeats] = {}
        self._suppressed: frozenset[str] = frozenset()
        self._counted: Happening | None = None
        self._fired: Happening | None = None
        self._abandoned: Call[AutomationEvent | None] | None = None
        self._last = ("", "")

    def handle(self, bus_event: BusEvent) -> None:
        """Works on the event if it concerns the worker.

        Raises:
            TryLater: the breaker is open, or a call that took too long is still running; no call was made.
            BaseException: as the worker raised, or `CallTimedOut`; the breaker counted it.
        """
        try:
            subject = self._worker.subject(bus_event)
        except Exception as error:
            self._failed("", error)
            raise
        if not subject or self._is_suppressed(subject, bus_event.happening):
            return
        self._check()
        self._tell_trigger(subject, bus_event.happening)
        call = Call(partial(self._worker.work, subject, bus_event), f"swarm-{self.name}-work")
        if not call.ended(self._limit):
            self._abandoned = call
            slow = CallTimedOut(f"{self.name} took longer than {self._limit:g} s on {subject}")
            self._failed(subject, slow)
            raise slow
        if call.error is not None:
            self._failed(subject, call.error)
            raise call.error
        self._breaker = self._breaker.succeeded(self._clock())
        if call.result is not None:
            self._journal.append(call.result, actor=self.name)
        self._tell_breaker("it works again")

    def wants(self, bus_event: BusEvent) -> bool:
        """Whether the event concerns the worker; one that cannot say so is asked again, and fails, in `handle`."""
        try:
            return bool(self._worker.subject(bus_event))
        except Exception:  # noqa: BLE001 - `handle` reports it
            return True

    def snapshot(self, pending: int = 0) -> WorkerStatus:
        """How it stands now, for status.json. Any thread may ask.

        Args:
            pending: events that wait for it on the bus.
        """
        now = self._clock()
        breaker = self._breaker.at(now)
        last, at = self._last
        held = tuple(sorted(each for each in self._suppressed if not self._quiet(each, now)))
        return WorkerStatus(
            name=self.name,
            state=breaker.state,
            failures=breaker.failures,
            pending=pending,
            last=last,
            last_time=at,
            suppressed=held,
            problem=str(getattr(self._worker, "problem", "")),  # few workers have one
        )

    # --- loop protection ---

    def _is_suppressed(self, subject: str, happening: Happening) -> bool:
        """Whether the trigger is not followed. A retry of the same event is no further trigger."""
        if happening is self._counted:
            return False
        self._counted = happening
        now = self._clock()
        if len(self._repeats) >= _SUBJECTS:
            self._repeats = {each: times for each, times in self._repeats.items() if not self._quiet(each, now)}
            self._suppressed &= self._repeats.keys()
        repeats = self._repeats[subject] = self._repeats.get(subject, Repeats()).again(now)
        if not repeats.too_many:
            self._suppressed -= {subject}
            return False
        if subject not in self._suppressed:
            self._suppressed |= {subject}
            count = len(repeats.times)
            suppressed = TriggerSuppressed(capability=self.name, subject=subject, count=count, within_s=WITHIN_S)
            self._journal.append(suppressed, actor=self.name)
        return True

    def _tell_trigger(self, subject: str, happening: Happening) -> None:
        """Once an event, however often it is tried."""
        if happening is not self._fired:
            self._fired = happening
            fired = TriggerFired(capability=self.name, subject=subject, seq=happening.seq)
            self._last = (happening.type, self._journal.append(fired, actor=self.name).time)

    def _quiet(self, subject: str, now: float) -> bool:
        repeats = self._repeats.get(subject)
        return repeats is None or now - repeats.times[-1] >= WITHIN_S

    # --- circuit breaker ---

    def _check(self) -> None:
        """Lets a call through, or not.

        Raises:
            TryLater: not now.
        """
        if self._abandoned is not None:
            if not self._abandoned.ended():
                raise TryLater(f"{self.name} is still at work on what took longer than {self._limit:g} s")
            self._abandoned = None
        now = self._clock()
        if not self._breaker.allows(now):
            left = self._breaker.opened + RESET_S - now
            raise TryLater(f"{self.name} failed too often, and rests for {left:.0f} s", after_s=left)
        self._breaker = self._breaker.at(now)
        self._tell_breaker(f"after {RESET_S:g} s it is tried again")

    def _failed(self, subject: str, error: BaseException) -> None:
        self._breaker = self._breaker.failed(self._clock())
        timed_out = isinstance(error, CallTimedOut)
        failed = WorkerFailed(worker=self.name, subject=subject, error=error_text(error), timed_out=timed_out)
        self._journal.append(failed, actor=self.name)
        self._tell_breaker(f"{FAILURES} failures in a row" if self._state is BreakerState.CLOSED else "it failed again")

    def _tell_breaker(self, reason: str) -> None:
        if self._breaker.state is not self._state:
            self._state = self._breaker.state
            self._journal.append(BreakerChanged(worker=self.name, state=self._state, reason=reason), actor=self.name)

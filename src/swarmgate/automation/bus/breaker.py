"""The circuit breaker of a worker and its protection against trigger loops, as pure state transitions.

Times are seconds of a clock that never goes back (`time.monotonic`), given by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from swarmgate.domain.events.automation import BreakerState

FAILURES = 5
"""Failures in a row that open a breaker (issue 7)."""
RESET_S = 30.0
"""Seconds that it stays open before a call is tried again."""
SUCCESSES = 3
"""Successes in a row that close a half-open one."""
SAME_TRIGGERS = 10
"""As many of the same trigger within `WITHIN_S` are followed; the next ones are not."""
WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """The circuit breaker of one worker.

    Attributes:
        state: as it was when it last changed; ask `at` for what holds now.
        failures: in a row, while closed.
        successes: in a row, while half open.
        opened: when it opened.
    """

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    successes: int = 0
    opened: float = 0.0

    def at(self, now: float) -> Breaker:
        """The breaker as it stands now: an open one is half open after its time."""
        if self.state is BreakerState.OPEN and now - self.opened >= RESET_S:
            return replace(self, state=BreakerState.HALF_OPEN, successes=0)
        return self

    def allows(self, now: float) -> bool:
        """Whether a call may be made."""
        return self.at(now).state is not BreakerState.OPEN

    def succeeded(self, now: float) -> Breaker:
        """After a call that went well."""
        here = self.at(now)
        if here.state is BreakerState.CLOSED:
            return replace(here, failures=0)
        if here.state is BreakerState.OPEN:
            return here  # a call that began before it opened
        successes = here.successes + 1
        return Breaker() if successes >= SUCCESSES else replace(here, successes=successes)

    def failed(self, now: float) -> Breaker:
        """After a call that failed or took too long."""
        here = self.at(now)
        if here.state is BreakerState.OPEN:
            return here
        failures = here.failures + 1
        if here.state is BreakerState.HALF_OPEN or failures >= FAILURES:
            return Breaker(BreakerState.OPEN, failures=failures, opened=now)
        return replace(here, failures=failures)


@dataclass(frozen=True, slots=True)
class Repeats:
    """When the same trigger came last; loop protection.

    Attributes:
        times: of those within `WITHIN_S`, oldest first, suppressed ones too: it has to be quiet to be heard again.
    """

    times: tuple[float, ...] = ()

    def again(self, now: float) -> Repeats:
        """After one more. Bounded: as many are remembered as decide."""
        recent = tuple(each for each in self.times if now - each < WITHIN_S)
        return Repeats((*recent, now)[-(SAME_TRIGGERS + 1) :])

    @property
    def too_many(self) -> bool:
        """Whether the newest one is not followed."""
        return len(self.times) > SAME_TRIGGERS

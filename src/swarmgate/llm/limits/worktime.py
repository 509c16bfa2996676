"""Measures working time: clocks and time limits that pause while a call waits for a rate limit.

A clock that runs in a task sees the waits of everything that was begun inside of it, also of tasks that go on at the
same time: it stands still as long as one of them waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


def _nobody() -> None:
    """Does nothing."""


class WorkTime:
    """A clock of the time worked, in seconds.

    Attributes:
        expired: whether it was its time limit that ended what `limited` held.

    Args:
        now: the time in seconds, from any beginning; never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._waits = 0
        self._since = 0.0
        self._away = 0.0
        self._limit: asyncio.Timeout | None = None
        self._left = 0.0
        self._on_change: Callable[[], None] = _nobody
        self.expired = False

    def __call__(self) -> float:
        """The time less all waits, from any beginning; never goes back."""
        return (self._since if self._waits else self._now()) - self._away

    @property
    def stands(self) -> bool:
        """Whether the clock stands still now."""
        return self._waits > 0

    def hold(self) -> None:
        """A wait begins."""
        self._waits += 1
        if self._waits > 1:
            return
        self._since = self._now()
        if self._limit is not None and not self._limit.expired() and (when := self._limit.when()) is not None:
            self._left = when - asyncio.get_running_loop().time()
            self._limit.reschedule(None)
        self._on_change()

    def go_on(self) -> None:
        """A wait is over."""
        self._waits -= 1
        if self._waits:
            return
        self._away += self._now() - self._since
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + self._left)
        self._on_change()

    @contextmanager
    def running(self) -> Iterator[None]:
        """The clock sees the waits of what is begun within."""
        token = _RUNNING.set((*_RUNNING.get(), self))
        try:
            yield
        finally:
            _RUNNING.reset(token)

    @asynccontextmanager
    async def limited(self, seconds: float, *, on_change: Callable[[], None] | None = None) -> AsyncIterator[None]:
        """A limit on the time worked from here on; `expired` says whether that was what ended it.

        Args:
            seconds: the limit.
            on_change: is called each time the clock stops and goes on, as long as the limit holds.

        Raises:
            TimeoutError: it is over.
        """
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self._limit, self._on_change = limit, on_change or _nobody
                with self.running():
                    yield
        finally:
            self._limit, self._on_change, self.expired = None, _nobody, limit.expired()


_RUNNING: ContextVar[tuple[WorkTime, ...]] = ContextVar("_RUNNING", default=())
"""The clocks that see the waits of this task."""


@contextmanager
def standing_still() -> Iterator[None]:
    """A wait: the clocks around it stand still."""
    clocks = _RUNNING.get()
    for clock in clocks:
        clock.hold()
    try:
        yield
    finally:
        for clock in clocks:
            clock.go_on()

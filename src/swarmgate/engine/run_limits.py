"""The limits of a run as the ledger records them, and the time that it has worked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from swarmgate.config import BudgetLimits
from swarmgate.domain.usage import Allowance

_LEVELS: tuple[Literal["run", "phase", "task"], ...] = ("run", "phase", "task")


class WorkClock:
    """The time worked that the ledger does not hold yet, in seconds.

    Args:
        now: the time in seconds, from any beginning; never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._mark = now()

    @property
    def seconds(self) -> float:
        """The time since the mark."""
        return self._now() - self._mark

    def lap(self, elapsed: float, *, least: float) -> float:
        """The time since the mark that is not `elapsed` elsewhere; the mark is set to now.

        A rest under `least` is not worth a line in the ledger: it is kept, 0 is returned, and it counts next time.
        """
        rest = max(0.0, self.seconds - elapsed)
        due = rest if rest >= least else 0.0
        self._mark = self._now() - (rest - due)
        return due


def allowances(limits: BudgetLimits) -> dict[Literal["run", "phase", "task"], Allowance]:
    """The limits of `[budget.run]`, `[budget.phase]` and `[budget.task]`, of those that have one."""
    found = {level: Allowance(**getattr(limits, level).model_dump()) for level in _LEVELS}
    return {level: allowance for level, allowance in found.items() if allowance.limited}

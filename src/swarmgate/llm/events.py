"""What a model reports while it works, for a progress display."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from swarmgate.domain.base import Frozen
from swarmgate.llm.moments import shown

_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"), (1, "s"))
"""Seconds of the units in which a wait is told, of at least two."""


_NAME = 60
"""Characters of a model's name."""


class Retrying(Frozen):
    """The call failed and is made again in `seconds`, for the time `attempt` of at most `attempts`; the first was 1."""

    model: str
    reason: str
    seconds: float
    attempt: int
    attempts: int


class FellBack(Frozen):
    """`model` failed for good; `to` is asked instead."""

    model: str
    to: str
    reason: str


class CostUnknown(Frozen):
    """`[budget] usd` is set but the price of `model` is unknown: from here on only known costs count against it."""

    model: str


class WaitingForLimit(Frozen):
    """No model of a role is free: from `now` on the work waits until the limit of `model` ends."""

    model: str
    kind: str
    until: datetime
    now: datetime

    @property
    def text(self) -> str:
        """For people: until when, and how long that is."""
        seconds = (self.until - self.now).total_seconds()
        span = next(f"{seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= 2 * unit or unit == 1)
        name = cut_off(self.model)
        return f"{self.kind} of {name}: waiting until {shown(self.until, self.now)[3:]}, {span}, Ctrl-C pauses"


class LimitOver(Frozen):
    """The wait for the limit of `model` has ended."""

    model: str
    kind: str

    @property
    def text(self) -> str:
        """For people."""
        return f"the wait for the {self.kind} of {cut_off(self.model)} is over"


ModelEvent = Retrying | FellBack | CostUnknown | WaitingForLimit | LimitOver
"""Everything that a model may report."""


def cut_off(model: str) -> str:
    """The name of a model as it is told: the command line of a program may be long."""
    return model if len(model) <= _NAME else f"{model[:_NAME]}..."


OnEvent = Callable[[ModelEvent], None]
"""Who is told."""


def ignore(_event: ModelEvent) -> None:
    """Tell nobody."""

"""What a model reports while it works, for a progress display."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.domain.base import Frozen


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


ModelEvent = Retrying | FellBack | CostUnknown
"""Everything that a model may report."""

OnEvent = Callable[[ModelEvent], None]
"""Who is told."""


def ignore(_event: ModelEvent) -> None:
    """Tell nobody."""

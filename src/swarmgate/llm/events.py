"""What a model reports while it works, for a progress display."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage


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


class Working(Frozen):
    """An agent program uses a tool of its own; `usage` is what it says that this call used so far."""

    model: str
    role: str
    tool: str
    summary: str
    usage: Usage

    @property
    def text(self) -> str:
        """One line, as the tool uses of our own roles are shown."""
        tokens = f"({self.usage.tokens:,} tokens)" if self.usage.tokens else ""
        cost = f"(${self.usage.least_usd:.4f})" if self.usage.least_usd else ""
        return " ".join(filter(None, (f"{self.role}: {self.tool}", self.summary, tokens, cost)))


ModelEvent = Retrying | FellBack | CostUnknown | Working
"""Everything that a model may report."""

OnEvent = Callable[[ModelEvent], None]
"""Who is told."""


def ignore(_event: ModelEvent) -> None:
    """Tell nobody."""

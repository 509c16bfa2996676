"""The `Worker` protocol: a capability that events start in the background.

A worker decides purely whether an event concerns it (`subject`), and works in a thread of its own (`work`), where it
may take its time and may fail: its circuit breaker, the loop protection and the bus stand between it and all else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from swarmgate.domain.events.automation import AutomationEvent, Happening
from swarmgate.domain.state.state import State


@dataclass(frozen=True, slots=True)
class BusEvent:
    """An event as the bus carries it, with the fold of the ledger on both sides of it.

    Attributes:
        happening: the event, from the ledger or from automation.
        before: the state that it met.
        after: the state that it left; the same as `before` for an event of automation, which moves nothing.
    """

    happening: Happening
    before: State
    after: State


class Worker(Protocol):
    """One capability at work.

    Attributes:
        name: as in `swarm automation status`: the capability's, or `hooks`.
        limit_s: longest time of one `work`, in seconds; None: as `[automation] call_s` says.
    """

    name: str
    limit_s: float | None

    def subject(self, bus_event: BusEvent) -> str:
        """What to work on because of this event, such as `phase 2`; empty: nothing. Pure and fast."""
        ...

    def work(self, subject: str, bus_event: BusEvent) -> AutomationEvent | None:
        """Works, and returns what to put on the bus; None: nothing worth telling.

        Raises:
            Exception: it failed; the breaker counts it and the event is tried again.
        """
        ...

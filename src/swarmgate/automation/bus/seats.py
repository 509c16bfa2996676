"""The places of capabilities on the bus: who sits there changes with the settings, their queues and threads stay."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.guarded import Guarded
from swarmgate.automation.bus.worker import Seen, Worker
from swarmgate.domain.status import WorkerStatus
from swarmgate.ledger.automation_log import AutomationLog


class Seats:
    """The seats on one bus.

    Args:
        bus: where they are.
        journal: where the workers tell.
    """

    def __init__(self, bus: EventBus, journal: AutomationLog) -> None:
        self._bus, self._journal = bus, journal
        self._seats: dict[str, _Seat] = {}

    def give(self, workers: Sequence[Worker], *, call_s: float) -> None:
        """These workers are on from now on, each with a fresh breaker, and all others are off.

        Args:
            workers: at most one of a name.
            call_s: longest time of one call, in seconds, where a worker names none.
        """
        guarded = {each.name: Guarded(each, self._journal, call_s=call_s) for each in workers}
        for name in guarded:
            if name not in self._seats:
                self._seats[name] = _Seat(name)
                self._bus.subscribe(self._seats[name])
        for name, seat in self._seats.items():
            seat.guarded = guarded.get(name)

    @property
    def on(self) -> tuple[str, ...]:
        """The names of the workers that are on."""
        return tuple(seat.name for seat in self._seats.values() if seat.guarded)

    def snapshots(self) -> tuple[WorkerStatus, ...]:
        """How each stands."""
        pending = self._bus.pending()
        return tuple(seat.snapshot(pending.get(seat.name, 0)) for seat in self._seats.values())


class _Seat:
    """A subscriber that hands on to the worker that is on now."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.guarded: Guarded | None = None

    def handle(self, seen: Seen) -> None:
        guarded = self.guarded
        if guarded is not None:
            guarded.handle(seen)

    def wants(self, seen: Seen) -> bool:
        guarded = self.guarded
        return guarded is not None and guarded.wants(seen)

    def snapshot(self, pending: int) -> WorkerStatus:
        guarded = self.guarded
        return guarded.snapshot(pending) if guarded is not None else WorkerStatus(name=self.name, on=False)

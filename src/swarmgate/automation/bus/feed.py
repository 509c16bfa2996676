"""Carries what happens from the files of `.swarm/` to the bus."""

from __future__ import annotations

import threading

from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.worker import Seen
from swarmgate.domain.automation import WorkerFailed
from swarmgate.domain.state import State
from swarmgate.ledger.automation_log import AutomationLog
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.tail import Tail

NAME = "events"
"""Who tells that the ledger cannot be read."""


class Feed:
    """Publishes the events of ledger and automation in the order of their arrival.

    Args:
        folder: the project's.
        bus: where to.
        from_start: begin with the oldest event; else with what is added from now on.
    """

    def __init__(self, folder: SwarmFolder, bus: EventBus, *, from_start: bool = False) -> None:
        self._tail = Tail(folder, from_start=from_start)
        self._bus = bus
        self._journal = AutomationLog(folder)
        self._one = threading.Lock()

    @property
    def state(self) -> State:
        """The fold of the ledger, as far as it was read."""
        return self._tail.state

    def pump(self) -> int:
        """Publishes what is new; returns how many events. Called when a file changed or now and then, by any thread.

        A ledger that cannot be read is told once on the journal, as `worker_failed` of `events`.
        """
        with self._one:  # two threads at once would mix the order up
            polled = self._tail.poll()
            for each in polled.seen:
                self._bus.publish(Seen(each.happening, each.before, each.after))
        if polled.trouble:
            self._journal.append(WorkerFailed(worker=NAME, error=polled.trouble), actor=NAME)
        return len(polled.seen)

"""The event bus: reads new events from the files of `.swarm/` and queues them for every subscriber.

Events of workers are written to the same files, and so reach all subscribers as well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from swarmgate.automation.bus.guarded_worker import GuardedWorker
from swarmgate.automation.bus.subscription import Subscriber, Subscription, Wait
from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.domain.events.automation import WorkerFailed
from swarmgate.domain.state.state import State
from swarmgate.domain.status import WorkerStatus
from swarmgate.ledger.files.automation_log import AutomationLog, DeadLetters
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.tail import Tail

_NAME = "events"
"""The actor of the event that says that the ledger cannot be read."""


class EventBus:
    """The bus of one project.

    Args:
        folder: the project's; it keeps what a subscriber could not take, and what workers tell.
        from_start: begin with the oldest event; else with what is added from now on.
        wait: how a back-off is waited for.
    """

    def __init__(self, folder: SwarmFolder, *, from_start: bool = False, wait: Wait = threading.Event.wait) -> None:
        self._journal, self._letters = AutomationLog(folder), DeadLetters(folder)
        self._tail = Tail(folder, from_start=from_start)
        self._one = threading.Lock()
        self._wait = wait
        self._subscriptions: tuple[Subscription, ...] = ()
        self._workers: dict[str, Subscription] = {}

    @property
    def state(self) -> State:
        """The fold of the ledger, as far as it was read."""
        return self._tail.state

    def pump(self) -> int:
        """Publishes what is new in the files; returns how many events. Any thread may call it.

        A ledger that cannot be read is told once on the journal, as `worker_failed` of `events`.
        """
        with self._one:  # two threads at once would mix the order up
            polled = self._tail.poll()
            for each in polled.seen:
                self.publish(BusEvent(each.happening, each.before, each.after))
        if polled.trouble:
            self._journal.append(WorkerFailed(worker=_NAME, error=polled.trouble), actor=_NAME)
        return len(polled.seen)

    def publish(self, bus_event: BusEvent) -> None:
        """Queues an event for every subscriber, and never waits for one. After `close` it does nothing."""
        for each in self._subscriptions:
            each.offer(bus_event)

    # --- subscribers ---

    def subscribe(self, subscriber: Subscriber) -> Subscription:
        """Everything that is published from now on goes to it too."""
        made = Subscription(subscriber, self._letters, self._wait)
        self._subscriptions = (*self._subscriptions, made)
        return made

    def assign(self, workers: Sequence[Worker], *, call_s: float) -> None:
        """These workers are on from now on, each with a fresh breaker, and all others are off; queues stay.

        Args:
            workers: at most one of a name.
            call_s: longest time of one call, in seconds, where a worker names none.
        """
        guarded = {each.name: GuardedWorker(each, self._journal, call_s=call_s) for each in workers}
        for name, subscription in self._workers.items():
            subscription.subscriber = guarded.get(name)
        for name, worker in guarded.items():
            if name not in self._workers:
                self._workers[name] = self.subscribe(worker)

    @property
    def on(self) -> tuple[str, ...]:
        """The names of the workers that are on."""
        return tuple(name for name, each in self._workers.items() if each.subscriber is not None)

    def snapshots(self) -> tuple[WorkerStatus, ...]:
        """How each worker stands."""
        return tuple(_status(name, each) for name, each in self._workers.items())

    def pending(self) -> dict[str, int]:
        """How many events wait for each subscriber, the one at work included."""
        return {each.name: each.pending for each in self._subscriptions}

    def waiting(self, name: str) -> int:
        """How many of the events that concern a subscriber wait for it, the one at work included."""
        return sum(each.waiting() for each in self._subscriptions if each.name == name)

    # --- the end ---

    def close(self, within_s: float) -> bool:
        """Ends. What is queued is still handed out, without further retries, for half of the time; the rest is kept.

        Args:
            within_s: the longest time that it may take. A subscriber that is still at work then is left behind in its
                thread, which does not hold up the end of the process; its event is kept too.

        Returns:
            Whether every thread has ended.
        """
        began = time.monotonic()
        for each in self._subscriptions:
            each.finish()
        for each in self._subscriptions:
            each.join(began + within_s / 2)
        for each in self._subscriptions:
            each.stop()
        for each in self._subscriptions:
            each.join(began + within_s)
        ended = [each.ended() for each in self._subscriptions]
        return all(ended)


def _status(name: str, subscription: Subscription) -> WorkerStatus:
    match subscription.subscriber:
        case GuardedWorker() as guarded:
            return guarded.snapshot(subscription.pending)
        case _:
            return WorkerStatus(name=name, on=False)

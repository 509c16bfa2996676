"""The queue and the thread of one subscriber of the bus, with retries and dead letters.

A subscriber that raises gets the event again after 1, 2 and 4 seconds, in its order: later events wait. After that the
event is a dead letter, and so is one that finds `QUEUE` others waiting.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from swarmgate.automation.bus.threaded_call import error_text
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.errors import SwarmError
from swarmgate.ledger.files.automation_log import STOPPED, DeadLetters

QUEUE = 1_000
"""Events that wait for one subscriber at most (issue 7)."""
PAUSES_S = (1.0, 2.0, 4.0)
"""Seconds before each further try of an event that a subscriber failed at."""
LONGEST_WAIT_S = 60.0

Wait = Callable[[threading.Event, float], bool]
"""Waits until the event is set, at most so many seconds; whether it is."""


class TryLater(SwarmError):
    """A subscriber cannot take this event yet: the next try is not before `after_s` seconds (60 at most)."""

    code = "TRY_LATER"

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Subscriber(Protocol):
    """Receives events, one at a time, in its own thread."""

    name: str

    def handle(self, bus_event: BusEvent) -> None:
        """Takes an event.

        Raises:
            BaseException: it failed and wants the event again; `TryLater` says when.
        """
        ...

    def wants(self, bus_event: BusEvent) -> bool:
        """Whether the event concerns it: where it cannot be handed over before the end, it is kept. Pure and fast."""
        ...


class Subscription:
    """The queue and the thread of one subscriber.

    Args:
        subscriber: who gets the events.
        letters: keeps what it could not take.
        wait: how a back-off is waited for.

    Attributes:
        subscriber: may be replaced, or be None while it is off: events are passed over then.
    """

    def __init__(self, subscriber: Subscriber, letters: DeadLetters, wait: Wait) -> None:
        self.name = subscriber.name
        self.subscriber: Subscriber | None = subscriber
        self._letters = letters
        self._wait = wait
        self._queue: deque[BusEvent] = deque()
        self._changed = threading.Condition()
        self._finishing = threading.Event()
        self._in_hand: BusEvent | None = None
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name=f"swarm-{self.name}", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        """How many events wait, the one at work included."""
        with self._changed:
            return len(self._queue) + (self._in_hand is not None)

    def waiting(self) -> int:
        """How many of them concern the subscriber."""
        with self._changed:
            held = [*self._queue, *([self._in_hand] if self._in_hand else [])]
        return len(self._wanted(held))

    def _wanted(self, events: list[BusEvent]) -> list[BusEvent]:
        subscriber = self.subscriber
        return [bus_event for bus_event in events if subscriber is not None and subscriber.wants(bus_event)]

    # --- the publisher's side ---

    def offer(self, bus_event: BusEvent) -> None:
        """Queues an event, or keeps it where there is no room: reports the first of a burst, and then their number."""
        with self._changed:
            if self._finishing.is_set():
                return
            if len(self._queue) < QUEUE:
                self._queue.append(bus_event)
                self._changed.notify()
                return
            self._dropped += 1
            first = self._dropped == 1
        why = f"its queue was full: {QUEUE:,} events waited for it"
        self._letters.keep(self.name, [bus_event.happening], why, tell=first)

    def finish(self) -> None:
        """No more events, no more retries: the thread ends when the queue is empty."""
        with self._changed:
            self._finishing.set()
            self._changed.notify()

    def stop(self) -> None:
        """Keeps what is queued and concerns the subscriber: the thread ends after the event at work."""
        with self._changed:
            rest = list(self._queue)
            self._queue.clear()
        self._letters.keep(self.name, [bus_event.happening for bus_event in self._wanted(rest)], STOPPED)

    def join(self, until: float) -> None:
        """Waits for the thread until that time of `time.monotonic`."""
        if self._thread is not threading.current_thread():
            self._thread.join(max(0.0, until - time.monotonic()))

    def ended(self) -> bool:
        """Whether the thread has; where not, its event is kept, and what comes of it does not matter any more."""
        if not self._thread.is_alive():
            return True
        with self._changed:
            left, self._in_hand = self._in_hand, None
        if left is not None:
            self._letters.keep(self.name, [left.happening], f"{STOPPED} while the subscriber was at work on it")
        return False

    # --- the thread's side ---

    def _run(self) -> None:
        while (bus_event := self._next()) is not None:
            self._deliver(bus_event)
            with self._changed:
                self._in_hand = None
            del bus_event  # not held until the next one comes: it may hold a plan of thousands of tasks, twice

    def _next(self) -> BusEvent | None:
        with self._changed:
            while not self._queue and not self._finishing.is_set():
                self._changed.wait()
            taken = self._in_hand = self._queue.popleft() if self._queue else None
            dropped = self._dropped if taken is None or len(self._queue) <= QUEUE // 2 else 0
            if dropped:
                self._dropped = 0
        if dropped > 1:
            self._letters.tell(self.name, None, f"its queue had been full: {dropped:,} events found no room")
        return taken

    def _deliver(self, bus_event: BusEvent) -> None:
        """Hands the event over, again and again where that fails, and keeps it in the end."""
        for pause in (*PAUSES_S, None):
            subscriber = self.subscriber
            try:
                if subscriber is not None:
                    subscriber.handle(bus_event)
            except BaseException as error:  # noqa: BLE001 - a subscriber that exits must not end its thread unheard
                failed, after = error_text(error), error.after_s if isinstance(error, TryLater) else 0.0
            else:
                return
            if pause is None:
                break
            if self._wait(self._finishing, min(max(pause, after), LONGEST_WAIT_S)):
                failed = f"{STOPPED} before another try; {failed}"
                break
        with self._changed:
            mine = self._in_hand is not None
        if mine:
            self._letters.keep(self.name, [bus_event.happening], failed)

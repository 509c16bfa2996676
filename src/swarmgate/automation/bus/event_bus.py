"""The event bus: every subscriber has a queue and a thread of its own, so that none can hold up anybody else.

    bus = EventBus(DeadLetters(folder))
    bus.subscribe(subscriber)
    bus.publish(seen)

A subscriber that raises gets the event again after 1, 2 and 4 seconds, in its order: later events wait. After that the
event is a dead letter, and so is one that finds `QUEUE` others waiting.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from swarmgate.automation.bus.worker import Seen
from swarmgate.errors import SwarmError
from swarmgate.ledger.automation_log import STOPPED, DeadLetters

QUEUE = 1_000
"""Events that wait for one subscriber at most (issue 7)."""
RETRIES = 3
"""How often an event is given again to a subscriber that failed."""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
"""Seconds before the first retry, doubled for each further one; and the most."""

Wait = Callable[[threading.Event, float], bool]
"""Waits until the event is set, at most so many seconds; whether it is."""


class TryLater(SwarmError):
    """A subscriber cannot take this event yet: the next try is not before `after_s` seconds (60 at most)."""

    code = "TRY_LATER"

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Subscriber(Protocol):
    """Who hears of events, one at a time, in its own thread."""

    name: str

    def handle(self, seen: Seen) -> None:
        """Takes an event.

        Raises:
            BaseException: it failed and wants the event again; `TryLater` says when.
        """
        ...

    def wants(self, seen: Seen) -> bool:
        """Whether the event concerns it: where it cannot be handed over before the end, it is kept. Pure and fast."""
        ...


class EventBus:
    """Carries events to subscribers.

    Args:
        letters: keeps what a subscriber could not take.
        wait: how a back-off is waited for.
    """

    def __init__(self, letters: DeadLetters, *, wait: Wait = threading.Event.wait) -> None:
        self._letters = letters
        self._wait = wait
        self._lanes: tuple[_Lane, ...] = ()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Everything that is published from now on goes to it too."""
        self._lanes = (*self._lanes, _Lane(subscriber, self._letters, self._wait))

    def publish(self, seen: Seen) -> None:
        """Queues an event for every subscriber, and never waits for one. After `close` it does nothing."""
        for lane in self._lanes:
            lane.offer(seen)

    def pending(self) -> dict[str, int]:
        """How many events wait for each subscriber, the one at work included."""
        return {lane.name: lane.pending for lane in self._lanes}

    def waiting(self, name: str) -> int:
        """How many of the events that concern a subscriber wait for it, the one at work included."""
        return sum(lane.waiting() for lane in self._lanes if lane.name == name)

    def close(self, within_s: float) -> bool:
        """Ends. What is queued is still handed out, without further retries, for half of the time; the rest is kept.

        Args:
            within_s: the longest time that it may take. A subscriber that is still at work then is left behind in its
                thread, which does not hold up the end of the process; its event is kept too.

        Returns:
            Whether every thread has ended.
        """
        began = time.monotonic()
        for lane in self._lanes:
            lane.finish()
        for lane in self._lanes:
            lane.join(began + within_s / 2)
        for lane in self._lanes:
            lane.stop()
        for lane in self._lanes:
            lane.join(began + within_s)
        ended = [lane.ended() for lane in self._lanes]
        return all(ended)


class _Lane:
    """The queue and the thread of one subscriber."""

    def __init__(self, subscriber: Subscriber, letters: DeadLetters, wait: Wait) -> None:
        self.name = subscriber.name
        self._subscriber = subscriber
        self._letters = letters
        self._wait = wait
        self._queue: deque[Seen] = deque()
        self._changed = threading.Condition()
        self._finishing = threading.Event()
        self._in_hand: Seen | None = None
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name=f"swarm-{self.name}", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        with self._changed:
            return len(self._queue) + (self._in_hand is not None)

    def waiting(self) -> int:
        with self._changed:
            held = [*self._queue, *([self._in_hand] if self._in_hand else [])]
        return sum(self._subscriber.wants(seen) for seen in held)

    # --- the publisher's side ---

    def offer(self, seen: Seen) -> None:
        """Queues an event, or keeps it where there is no room: told are the first of a burst, and then their number."""
        with self._changed:
            if self._finishing.is_set():
                return
            if len(self._queue) < QUEUE:
                self._queue.append(seen)
                self._changed.notify()
                return
            self._dropped += 1
            first = self._dropped == 1
        why = f"its queue was full: {QUEUE:,} events waited for it"
        self._letters.keep(self.name, [seen.happening], why, tell=first)

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
        self._letters.keep(self.name, [seen.happening for seen in rest if self._subscriber.wants(seen)], STOPPED)

    def join(self, until: float) -> None:
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
        while (seen := self._next()) is not None:
            self._deliver(seen)
            with self._changed:
                self._in_hand = None
            del seen  # not held until the next one comes: it may hold a plan of thousands of tasks, twice

    def _next(self) -> Seen | None:
        with self._changed:
            while not self._queue and not self._finishing.is_set():
                self._changed.wait()
            self._in_hand = self._queue.popleft() if self._queue else None
            dropped = self._dropped
            caught_up = self._in_hand is None or len(self._queue) <= QUEUE // 2
            if caught_up:
                self._dropped = 0
            taken = self._in_hand
        if caught_up and dropped > 1:
            self._letters.tell(self.name, None, f"its queue had been full: {dropped:,} events found no room")
        return taken

    def _deliver(self, seen: Seen) -> None:
        """Hands the event over, again and again where that fails, and keeps it in the end."""
        for pause in (*_PAUSES, None):
            try:
                self._subscriber.handle(seen)
            except BaseException as error:  # noqa: BLE001 - a subscriber that exits must not end its thread unheard
                failed, after = _words(error), error.after_s if isinstance(error, TryLater) else 0.0
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
            self._letters.keep(self.name, [seen.happening], failed)


_PAUSES = tuple(min(FIRST_WAIT_S * 2**number, LONGEST_WAIT_S) for number in range(RETRIES))


def _words(error: BaseException) -> str:
    if isinstance(error, SwarmError):
        return error.message
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an error that cannot even be told
        return type(error).__name__

"""Tests the event bus: subscribers do not block each other, no event is lost, and it ends when asked."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import pytest
from tests.project import until

from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.subscription import QUEUE, TryLater
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.domain.events.automation import Happening
from swarmgate.domain.state.state import State
from swarmgate.ledger.files.automation_log import STOPPED, AutomationLog, DeadLetters
from swarmgate.ledger.files.folder import SwarmFolder


@pytest.fixture
def letters(folder: SwarmFolder) -> DeadLetters:
    return DeadLetters(folder)


def seen(seq: int, kind: str = "task_completed") -> BusEvent:
    at = Happening(source="ledger", seq=seq, time="2026-11-22T00:00:00.000Z", actor="x", data={"type": kind})
    return BusEvent(at, State(), State())


class Listener:
    """Notes what it gets, and then does `then`."""

    def __init__(self, name: str = "a", then: Callable[[int], object] = lambda _: None) -> None:
        self.name = name
        self.got: list[int] = []
        self._then = then

    def handle(self, seen: BusEvent) -> None:
        self.got.append(seen.happening.seq)
        self._then(seen.happening.seq)

    def wants(self, seen: BusEvent) -> bool:
        return seen.happening.type != "turn_ended"


class Waits:
    """Waits that are over at once, and how long they would have been."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def __call__(self, ended: threading.Event, seconds: float) -> bool:
        self.asked.append(seconds)
        return ended.is_set()


def fails(error: BaseException) -> Callable[[int], object]:
    def then(_: int) -> object:
        raise error

    return then


def test_everybody_gets_everything_in_order(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    both = [Listener("a"), Listener("b")]
    for each in both:
        bus.subscribe(each)
    for number in range(200):
        bus.publish(seen(number))
    assert bus.close(5)
    assert [each.got for each in both] == [list(range(200))] * 2
    assert bus.pending() == {"a": 0, "b": 0}
    assert letters.read() == ()
    bus.publish(seen(200))
    assert bus.pending() == {"a": 0, "b": 0}


def test_a_slow_one_holds_nobody_up(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    go = threading.Event()
    slow, fast = Listener("slow", lambda _: go.wait(20)), Listener("fast")
    bus.subscribe(slow)
    bus.subscribe(fast)
    for number in range(500):
        bus.publish(seen(number))
    until(lambda: len(fast.got) == 500)
    assert bus.pending() == {"slow": 500, "fast": 0}
    go.set()
    assert bus.close(5)
    assert slow.got == fast.got


def test_a_failure_is_tried_again_and_the_rest_waits(folder: SwarmFolder, letters: DeadLetters) -> None:
    waits = Waits()
    bus = EventBus(folder, wait=waits)
    left = [2]

    def then(seq: int) -> None:
        if seq == 1 and left[0]:
            left[0] -= 1
            raise ValueError("not yet")

    listener = Listener(then=then)
    bus.subscribe(listener)
    bus.publish(seen(1))
    bus.publish(seen(2))
    until(lambda: listener.got == [1, 1, 1, 2])
    assert waits.asked == [1, 2]
    assert bus.close(5)
    assert letters.read() == ()


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt("no"), GeneratorExit("no")])
def test_what_fails_for_good_is_a_dead_letter_and_the_next_one_is_taken(
    folder: SwarmFolder, letters: DeadLetters, error: BaseException
) -> None:
    waits = Waits()
    bus = EventBus(folder, wait=waits)
    listener = Listener(then=fails(error))
    bus.subscribe(listener)
    bus.publish(seen(1))
    bus.publish(seen(2))
    until(lambda: len(letters.read()) == 2)
    assert listener.got == [1, 1, 1, 1, 2, 2, 2, 2]
    assert waits.asked == [1, 2, 4] * 2
    first = letters.read()[0]
    assert (first.subscriber, first.event) == ("a", seen(1).happening)
    assert first.error == f"{type(error).__name__}: {error}"
    until(lambda: [each.type for each in AutomationLog(folder).read()] == ["dead_letter"] * 2)
    assert bus.close(5)


def test_an_error_that_cannot_be_told_is_one_too(folder: SwarmFolder, letters: DeadLetters) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    bus = EventBus(folder, wait=Waits())
    bus.subscribe(Listener(then=fails(Mute())))
    bus.publish(seen(1))
    until(lambda: [each.error for each in letters.read()] == ["Mute"])
    assert bus.close(5)


def test_a_subscriber_may_say_when_it_wants_it_again(folder: SwarmFolder, letters: DeadLetters) -> None:
    waits = Waits()
    bus = EventBus(folder, wait=waits)
    bus.subscribe(Listener(then=fails(TryLater("resting", after_s=30))))
    bus.subscribe(Listener("b", then=fails(TryLater("resting", after_s=500))))
    bus.publish(seen(1))
    until(lambda: len(letters.read()) == 2)
    assert sorted(waits.asked) == [30, 30, 30, 60, 60, 60]
    assert {each.error for each in letters.read()} == {"resting"}
    assert bus.close(5)


def test_a_full_queue_keeps_every_event_and_tells_a_burst_once(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    go = threading.Event()
    listener = Listener(then=lambda _: go.wait(20))
    bus.subscribe(listener)
    bus.publish(seen(0))
    until(lambda: listener.got == [0])
    for number in range(1, QUEUE + 301):
        bus.publish(seen(number))
    assert bus.pending() == {"a": QUEUE + 1}
    assert [each.event.seq for each in letters.read()] == list(range(QUEUE + 1, QUEUE + 301))
    go.set()
    assert bus.close(20)
    assert listener.got == list(range(QUEUE + 1))
    told = [each.data["error"] for each in AutomationLog(folder).read()]
    assert told == [
        "its queue was full: 1,000 events waited for it",
        "its queue had been full: 300 events found no room",
    ]


def test_a_dead_letter_about_a_dead_letter_ends_there(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder, wait=Waits())
    bus.subscribe(Listener(then=fails(ValueError("no"))))
    bus.publish(seen(1, "dead_letter"))
    until(lambda: len(letters.read()) == 1)
    assert bus.close(5)
    assert AutomationLog(folder).read() == ()


# --- the end ---


def test_a_back_off_is_cut_short(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    listener = Listener(then=fails(TryLater("resting", after_s=60)))
    bus.subscribe(listener)
    for number in range(3):
        bus.publish(seen(number))
    until(lambda: listener.got == [0])
    began = time.monotonic()
    assert bus.close(30)
    assert time.monotonic() - began < 20
    assert listener.got == [0, 1, 2]
    assert [each.error for each in letters.read()] == [f"{STOPPED} before another try; resting"] * 3


def test_what_is_queued_when_time_is_up_is_kept(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    go = threading.Event()
    listener = Listener(then=lambda _: go.wait(20))
    other = Listener("b")
    bus.subscribe(listener)
    bus.subscribe(other)
    for number in range(5):
        bus.publish(seen(number))
    until(lambda: listener.got == [0])
    began = time.monotonic()
    assert bus.close(0.2) is False
    assert 0.15 < time.monotonic() - began < 10
    kept = {each.event.seq: each.error for each in letters.read()}
    assert kept == {0: "stopped while the subscriber was at work on it", 1: STOPPED, 2: STOPPED, 3: STOPPED, 4: STOPPED}
    assert other.got == list(range(5))
    go.set()
    assert bus.close(5)
    assert len(letters.read()) == 5
    assert listener.got == [0]


def test_what_does_not_concern_a_slow_subscriber_is_no_dead_letter(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    go = threading.Event()
    listener = Listener(then=lambda _: go.wait(20))
    bus.subscribe(listener)
    for number, kind in enumerate(("task_completed", "turn_ended", "task_completed", "turn_ended")):
        bus.publish(seen(number, kind))
    until(lambda: listener.got == [0])
    assert bus.close(0.1) is False
    assert [each.event.seq for each in letters.read()] == [2, 0]
    go.set()


def test_a_subscriber_may_close_the_bus(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    ended: list[bool] = []
    bus.subscribe(Listener(then=lambda _: ended.append(bus.close(0.1))))
    bus.publish(seen(1))
    until(lambda: ended == [False])
    assert bus.close(5)


@pytest.mark.slow
def test_thousands_of_events_leave_no_thread_and_no_memory(folder: SwarmFolder, letters: DeadLetters) -> None:
    def alive() -> int:
        gc.collect()
        return sum(isinstance(each, BusEvent) for each in gc.get_objects())

    before, events = threading.active_count(), alive()
    bus = EventBus(folder)
    fine, broken = Listener("fine"), Listener("broken", then=fails(ValueError("no")))
    bus.subscribe(fine)
    bus.subscribe(broken)
    while len(fine.got) < 3 * QUEUE:  # of each that finds no room, a dead letter is written
        for _ in range(100):
            bus.publish(seen(len(fine.got)))
        until(lambda: bus.pending()["fine"] == 0)
    assert threading.active_count() == before + 2
    assert alive() - events <= QUEUE + 2
    bus.close(0.5)
    until(lambda: threading.active_count() == before)


def test_publishing_never_waits(folder: SwarmFolder, letters: DeadLetters) -> None:
    bus = EventBus(folder)
    go = threading.Event()
    bus.subscribe(Listener(then=lambda _: go.wait(20)))
    longest = 0.0
    for number in range(2_000):
        began = time.monotonic()
        bus.publish(seen(number))
        longest = max(longest, time.monotonic() - began)
    assert longest < 10, "a listener that is busy for 20 s was waited for"
    go.set()
    assert bus.close(20)

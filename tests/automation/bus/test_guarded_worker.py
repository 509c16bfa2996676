"""Tests a worker behind its circuit breaker, its time limit and its loop protection."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.project import until

from swarmgate.automation.bus.breaker import (
    FAILURES,
    RESET_S,
    SAME_TRIGGERS,
    SUCCESSES,
    WITHIN_S,
)
from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.guarded_worker import CallTimedOut, GuardedWorker
from swarmgate.automation.bus.subscription import TryLater
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.domain.events.automation import AutomationEvent, BreakerState, DoctorRan, Happening
from swarmgate.domain.state.state import State
from swarmgate.domain.status import WorkerStatus
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder


class Clock:
    """Seconds that pass when a test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Counting:
    """A worker that works on everything of type `kind`; `then` says how it goes."""

    limit_s: float | None = None

    def __init__(
        self, then: Callable[[], AutomationEvent | None] = lambda: None, *, kind: str = "task_completed"
    ) -> None:
        self.name = "counting"
        self.calls: list[str] = []
        self.then = then
        self._kind = kind

    def subject(self, seen: BusEvent) -> str:
        return str(seen.happening.data.get("on", "it")) if seen.happening.type == self._kind else ""

    def work(self, subject: str, seen: BusEvent) -> AutomationEvent | None:  # noqa: ARG002 - the protocol's
        self.calls.append(subject)
        return self.then()


@pytest.fixture
def journal(folder: SwarmFolder) -> AutomationLog:
    return AutomationLog(folder)


def seen(seq: int = 1, on: str = "it", kind: str = "task_completed") -> BusEvent:
    data = {"type": kind, "on": on}
    at = Happening(source="ledger", seq=seq, time="2026-11-22T00:00:00.000Z", actor="x", data=data)
    return BusEvent(at, State(), State())


def types(journal: AutomationLog) -> list[str]:
    return [each.type for each in journal.read()]


def breaks() -> AutomationEvent | None:
    raise ValueError("no")


def fail(guarded: GuardedWorker, times: int, first: int = 1) -> None:
    for number in range(times):
        with pytest.raises(ValueError, match="no"):
            guarded.handle(seen(first + number, on=f"{first + number}"))


def test_what_concerns_the_worker_is_worked_on_and_told(journal: AutomationLog) -> None:
    worker = Counting(lambda: DoctorRan(passed=True))
    guarded = GuardedWorker(worker, journal, call_s=10)
    guarded.handle(seen(4))
    guarded.handle(seen(5, kind="goal_set"))
    assert worker.calls == ["it"]
    fired, told = journal.read()
    assert fired.data == {"type": "trigger_fired", "capability": "counting", "subject": "it", "seq": 4}
    assert (told.type, told.actor) == ("doctor_ran", "counting")
    status = WorkerStatus(name="counting", pending=3, last="task_completed", last_time=fired.time)
    assert guarded.snapshot(pending=3) == status


# --- the circuit breaker ---


def test_failures_in_a_row_open_the_breaker_and_no_call_is_made(journal: AutomationLog) -> None:
    clock, worker = Clock(), Counting(breaks)
    guarded = GuardedWorker(worker, journal, call_s=10, clock=clock)
    fail(guarded, FAILURES)
    assert guarded.snapshot().state is BreakerState.OPEN
    clock.now += 10
    with pytest.raises(TryLater, match="rests for 20 s") as later:
        guarded.handle(seen(99, on="99"))
    assert later.value.after_s == RESET_S - 10
    assert len(worker.calls) == FAILURES
    told = journal.read()
    assert [each.type for each in told] == ["trigger_fired", "worker_failed"] * FAILURES + ["breaker_changed"]
    failed = {"type": "worker_failed", "worker": "counting", "subject": "1", "error": "ValueError: no"}
    assert told[1].data == {**failed, "timed_out": False}
    assert told[-1].data["reason"] == "5 failures in a row"


def test_a_half_open_one_needs_three_successes(journal: AutomationLog) -> None:
    clock, worker = Clock(), Counting(breaks)
    guarded = GuardedWorker(worker, journal, call_s=10, clock=clock)
    fail(guarded, FAILURES)
    clock.now += RESET_S
    assert guarded.snapshot().state is BreakerState.HALF_OPEN
    worker.then = lambda: None
    for number in range(SUCCESSES):
        assert guarded.snapshot().state is BreakerState.HALF_OPEN
        guarded.handle(seen(50 + number))
    assert guarded.snapshot().state is BreakerState.CLOSED
    changes = [each.data["state"] for each in journal.read() if each.type == "breaker_changed"]
    assert changes == ["open", "half_open", "closed"]


def test_a_half_open_one_opens_at_the_first_failure(journal: AutomationLog) -> None:
    clock, worker = Clock(), Counting(breaks)
    guarded = GuardedWorker(worker, journal, call_s=10, clock=clock)
    fail(guarded, FAILURES)
    clock.now += RESET_S
    fail(guarded, 1, first=50)
    assert guarded.snapshot().state is BreakerState.OPEN
    with pytest.raises(TryLater):
        guarded.handle(seen(60))
    changes = [(each.data["state"], each.data["reason"]) for each in journal.read() if each.type == "breaker_changed"]
    assert changes[1:] == [("half_open", "after 30 s it is tried again"), ("open", "it failed again")]


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
def test_a_worker_that_exits_has_failed(journal: AutomationLog, error: BaseException) -> None:
    def exits() -> AutomationEvent | None:
        raise error

    guarded = GuardedWorker(Counting(exits), journal, call_s=10)
    with pytest.raises(type(error)):
        guarded.handle(seen())
    assert types(journal) == ["trigger_fired", "worker_failed"]


def test_a_worker_that_cannot_even_decide_has_failed(journal: AutomationLog) -> None:
    class Undecided(Counting):
        def subject(self, seen: BusEvent) -> str:  # noqa: ARG002 - the protocol's
            raise KeyError("what")

    guarded = GuardedWorker(Undecided(), journal, call_s=10)
    for _ in range(FAILURES):
        with pytest.raises(KeyError):
            guarded.handle(seen())
    assert guarded.snapshot().state is BreakerState.OPEN


# --- the time limit ---


def test_a_call_that_takes_too_long_is_abandoned_and_the_next_one_waits_for_it(journal: AutomationLog) -> None:
    go = threading.Event()
    worker = Counting(lambda: DoctorRan(passed=go.wait(20)))
    worker.limit_s = 0.05
    guarded = GuardedWorker(worker, journal, call_s=10)
    with pytest.raises(CallTimedOut, match=r"counting took longer than 0.05 s on it"):
        guarded.handle(seen(1))
    for number in range(3):
        with pytest.raises(TryLater, match="still at work"):
            guarded.handle(seen(2 + number, on="other"))
    assert worker.calls == ["it"]
    assert journal.read()[-1].data["timed_out"] is True
    go.set()
    until(lambda: not any(each.name == "swarm-counting-work" for each in threading.enumerate()))
    guarded.handle(seen(9))
    assert worker.calls == ["it", "it"]
    assert types(journal) == ["trigger_fired", "worker_failed", "trigger_fired", "doctor_ran"]


# --- loop protection ---


def test_the_same_trigger_too_often_is_not_followed_and_that_is_told_once(journal: AutomationLog) -> None:
    clock, worker = Clock(), Counting()
    guarded = GuardedWorker(worker, journal, call_s=10, clock=clock)
    for number in range(1_000):
        guarded.handle(seen(number))
    assert len(worker.calls) == SAME_TRIGGERS
    guarded.handle(seen(1_000, on="other"))
    assert worker.calls[-1] == "other"
    [told] = [each for each in journal.read() if each.type == "trigger_suppressed"]
    assert (told.data["subject"], told.data["count"], told.data["within_s"]) == ("it", SAME_TRIGGERS + 1, WITHIN_S)
    assert guarded.snapshot().suppressed == ("it",)
    clock.now += WITHIN_S
    assert guarded.snapshot().suppressed == ()
    guarded.handle(seen(2_000))
    assert worker.calls[-1] == "it"


def test_a_retry_is_no_further_trigger(journal: AutomationLog) -> None:
    worker = Counting(breaks)
    guarded = GuardedWorker(worker, journal, call_s=10)
    once = seen(1)
    for _ in range(FAILURES - 1):
        with pytest.raises(ValueError, match="no"):
            guarded.handle(once)
    assert types(journal).count("trigger_fired") == 1


@pytest.mark.slow
def test_subjects_that_are_quiet_are_forgotten(journal: AutomationLog) -> None:
    clock = Clock()
    guarded = GuardedWorker(Counting(), journal, call_s=10, clock=clock)
    for number in range(1_000):
        clock.now += 1
        guarded.handle(seen(number, on=f"{number}"))
    assert len(guarded._repeats) <= 110


def test_a_worker_that_starts_itself_is_stopped(folder: SwarmFolder, journal: AutomationLog) -> None:
    worker = Counting(lambda: DoctorRan(passed=True), kind="doctor_ran")
    bus = EventBus(folder)
    guarded = GuardedWorker(worker, journal, call_s=10)
    bus.subscribe(guarded)
    journal.append(DoctorRan(passed=True), actor="start")

    def quiet() -> bool:
        return bus.pump() == 0 and bus.pending() == {"counting": 0} and guarded.snapshot().suppressed == ("it",)

    until(quiet)
    assert len(worker.calls) == SAME_TRIGGERS
    assert types(journal).count("trigger_suppressed") == 1
    assert bus.close(5)


def test_it_wants_what_concerns_the_worker(journal: AutomationLog) -> None:
    class Broken(Counting):
        def subject(self, seen: BusEvent) -> str:
            del seen
            raise ValueError("no")

    guarded = GuardedWorker(Counting(), journal, call_s=10)
    assert [guarded.wants(seen(kind=kind)) for kind in ("task_completed", "goal_set")] == [True, False]
    assert GuardedWorker(Broken(), journal, call_s=10).wants(seen())
    assert types(journal) == []


@pytest.mark.slow
def test_a_thousand_calls_leave_no_thread(journal: AutomationLog) -> None:
    before = threading.active_count()
    counting = Counting()
    guarded = GuardedWorker(counting, journal, call_s=10)
    for number in range(1_000):
        guarded.handle(seen(number, on=f"{number}"))
    assert len(counting.calls) == 1_000
    until(lambda: threading.active_count() == before)

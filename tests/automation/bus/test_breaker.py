"""Tests the circuit breaker and loop protection over every order of calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.automation.bus.breaker import (
    FAILURES,
    RESET_S,
    SAME_TRIGGERS,
    SUCCESSES,
    WITHIN_S,
    Breaker,
    Repeats,
)
from swarmgate.domain.events.automation import BreakerState

CALLS = st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=200)
"""Seconds since the call before, and whether it goes well."""


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker = breaker.failed(now)
    return breaker


@given(CALLS)
def test_no_more_than_so_many_failures_in_a_row_before_it_rests(calls: list[tuple[float, bool]]) -> None:
    breaker, now, row, last_failure = Breaker(), 0.0, 0, 0.0
    for pause, good in calls:
        now += pause
        if not breaker.allows(now):
            assert row >= 1
            assert now - last_failure < RESET_S
            continue
        if row >= FAILURES:  # only after its rest, and then one failure is enough
            assert now - last_failure >= RESET_S
        breaker = breaker.succeeded(now) if good else breaker.failed(now)
        row = 0 if good else row + 1
        last_failure = last_failure if good else now
        if row >= FAILURES:
            assert not breaker.allows(now)


@given(CALLS)
def test_a_half_open_one_closes_by_successes_alone_and_opens_by_one_failure(calls: list[tuple[float, bool]]) -> None:
    breaker, now, good_ones = opened(), RESET_S, 0
    for _, good in calls:
        assert breaker.at(now).state is BreakerState.HALF_OPEN
        breaker = breaker.succeeded(now) if good else breaker.failed(now)
        good_ones += good
        if not good:
            assert breaker == Breaker(BreakerState.OPEN, failures=breaker.failures, opened=now)
            return
        if good_ones == SUCCESSES:
            assert breaker == Breaker()
            return


@given(st.floats(0, RESET_S, exclude_max=True), st.booleans())
def test_what_ends_while_it_is_open_changes_nothing(after: float, good: bool) -> None:  # noqa: FBT001 - given
    breaker = opened(100.0)
    late = 100.0 + after
    if late - 100.0 < RESET_S:  # as the numbers have it
        assert (breaker.succeeded(late) if good else breaker.failed(late)) == breaker


def test_a_success_forgets_failures() -> None:
    breaker = Breaker()
    for _ in range(20):
        for _ in range(FAILURES - 1):
            breaker = breaker.failed(0.0)
        breaker = breaker.succeeded(0.0)
    assert breaker == Breaker()


@given(st.lists(st.floats(0, 30), max_size=100))
def test_loop_protection_follows_so_many_in_any_window(pauses: list[float]) -> None:
    repeats, now, followed = Repeats(), 0.0, list[float]()
    for pause in pauses:
        now += pause
        repeats = repeats.again(now)
        assert len(repeats.times) <= SAME_TRIGGERS + 1
        if not repeats.too_many:
            followed.append(now)
    for at in followed:
        assert sum(at - WITHIN_S < each <= at for each in followed) <= SAME_TRIGGERS


def test_it_has_to_be_quiet_to_be_heard_again() -> None:
    repeats = Repeats()
    for second in range(300):
        repeats = repeats.again(float(second))
        assert repeats.too_many == (second >= SAME_TRIGGERS)
    assert repeats.again(298.0 + WITHIN_S).too_many is False

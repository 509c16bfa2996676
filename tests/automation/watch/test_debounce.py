"""Tests the debouncing of file changes."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.automation.watch.debounce import MOST, Debounce

A, B = Path("a"), Path("b")


def test_a_file_is_due_after_its_quiet_time_and_handed_out_once() -> None:
    debounce = Debounce(0.3)
    assert debounce.due is None
    assert debounce.take(100.0) == frozenset()
    debounce.touch(A, 1.0)
    debounce.touch(B, 1.2)
    assert debounce.due == 1.5
    assert debounce.take(1.4) == frozenset()
    assert debounce.waits(A)
    assert debounce.take(1.5) == {A, B}
    assert not debounce.waits(A)
    assert debounce.due is None


@given(st.lists(st.floats(0.001, 0.29), min_size=30, max_size=60))
def test_under_steady_changes_it_is_due_all_the_same(pauses: list[float]) -> None:
    debounce, now = Debounce(0.3), 0.0
    for pause in pauses:
        debounce.touch(A, now)
        now += pause
    due = debounce.due
    assert due is not None
    assert due <= MOST * 0.3
    assert due <= now + 0.3

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.server.runs.model import Goal, Wanted
from swarmgate.server.runs.queue import MOST_CRASHES, after_end, after_restart, due, later, waiting

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def goal(number: int, *, asked: int = 0, **wanted: Any) -> Goal:
    wish = Wanted(verb="run", by="user:ada", asked=later(NOW, asked), **wanted)
    return Goal(id=f"g-{number:012x}", repo="r", kind="clone", path="/x", created=later(NOW, 0), wanted=wish)


def of_fleet(number: int, *, asked: int) -> Goal:
    return goal(number, asked=asked).model_copy(update={"fleet": "calc"})


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"g-{number:012x}" for number in numbers)


def test_what_was_asked_for_first_begins_first_and_so_many_at_once() -> None:
    records = [goal(1, asked=3), goal(2, asked=1), goal(3, asked=2)]
    assert due(records, working=(), concurrency=2, now=NOW) == ids(2, 3)
    assert due(records, working=ids(2), concurrency=2, now=NOW) == ids(3)
    assert due(records, working=ids(8, 9), concurrency=2, now=NOW) == ()


def test_what_a_fleet_works_on_takes_nobodys_place() -> None:
    records = [goal(1, asked=1), goal(2, asked=2), *(of_fleet(each, asked=each) for each in (3, 4, 5))]
    assert due(records, working=(), concurrency=1, now=NOW) == ids(1, 3, 4, 5)
    assert due(records, working=ids(3, 4), concurrency=1, now=NOW) == ids(1, 5)
    assert due(records, working=ids(1, 3), concurrency=1, now=NOW) == ids(4, 5)


def test_what_is_paused_or_waits_for_a_time_leaves_its_place_to_the_next() -> None:
    records = [goal(1, paused=True), goal(2, asked=1, not_before=later(NOW, 60)), goal(3, asked=2)]
    assert due(records, working=(), concurrency=2, now=NOW) == ids(3)
    assert due(records, working=(), concurrency=2, now=NOW + timedelta(seconds=60)) == ids(2, 3)
    assert [each.id for each in waiting(records)] == [*ids(2, 3)]


def test_nothing_is_due_of_what_nobody_wants() -> None:
    assert due([goal(1).model_copy(update={"wanted": None})], working=(), concurrency=9, now=NOW) == ()


def test_a_worker_that_dies_is_begun_again_ever_later_and_in_the_end_no_more() -> None:
    record, pauses = goal(1), []
    for _ in range(MOST_CRASHES):
        record = after_end(record, record, NOW, "worker.log")
        assert record.wanted is not None
        pauses.append((datetime.fromisoformat(record.wanted.not_before) - NOW).total_seconds())
    assert pauses == [1, 2, 4, 8, 16]
    record = after_end(record, record, NOW, "worker.log")
    assert record.wanted is None
    assert record.ended is not None
    assert (record.ended.exit_code, record.ended.code) == (70, "WORKER_DIED")
    assert "worker.log" in record.ended.hint


def test_a_worker_that_said_something_did_not_die() -> None:
    before = goal(1)
    for after in (
        before.model_copy(update={"wanted": None}),
        goal(1, not_before=later(NOW, 5)),
        goal(1, paused=True),
    ):
        assert after_end(after, before, NOW, "") == after


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(-5, 5))), st.integers(0, 4), st.integers(1, 4))
def test_never_more_than_so_many_nor_anything_twice(
    wishes: list[tuple[int, bool, int]], at_work: int, concurrency: int
) -> None:
    records = [
        goal(number, asked=asked, paused=paused, not_before=later(NOW, after))
        for number, (asked, paused, after) in enumerate(wishes)
    ]
    working = ids(*range(at_work))
    found = due(records, working=working, concurrency=concurrency, now=NOW)
    assert len(found) <= max(0, concurrency - len(working))
    assert len({*found, *working}) == len(found) + len(working)


def test_what_is_not_decided_yet_begins_after_a_restart_where_the_decision_was_made_and_else_is_forgotten() -> None:
    left = goal(1, seq=7, decided=False)
    assert due([left], working=(), concurrency=1, now=NOW) == ()
    made = after_restart(left, 8)
    assert due([made], working=(), concurrency=1, now=NOW) == ids(1)
    assert after_restart(left, 7).wanted is None
    assert after_restart(goal(1, seq=7), 7) == goal(1, seq=7)

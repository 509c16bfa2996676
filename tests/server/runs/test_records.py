from __future__ import annotations

import threading
from pathlib import Path

import pytest

from swarmgate.errors import IllegalMove, LedgerError, NotFound
from swarmgate.server.runs.model import Goal
from swarmgate.server.runs.records import Records


def goal(number: int, created: str = "2026-11-28T12:00:00+00:00") -> Goal:
    return Goal(id=f"g-{number:012x}", repo="r", kind="clone", path="/x", created=created, text="0")


@pytest.fixture
def records(tmp_path: Path) -> Records[Goal]:
    return Records(tmp_path / "goals", "goal.json", Goal)


def test_what_was_put_is_there_for_every_process_the_newest_first(records: Records[Goal], tmp_path: Path) -> None:
    assert records.all() == ()
    old, new = records.put(goal(1)), records.put(goal(2, "2026-11-29T12:00:00+00:00"))
    assert Records(tmp_path / "goals", "goal.json", Goal).all() == (new, old)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "g-1", "g-00000000000g", "g-000000000001/..", "g-000000000009"]
)
def test_what_is_no_id_of_a_record_is_not_found(records: Records[Goal], name: str) -> None:
    records.put(goal(1))
    with pytest.raises(NotFound):
        records.get(name)
    with pytest.raises(NotFound):
        records.change(name, lambda each: each)


def test_threads_that_change_a_record_take_turns(records: Records[Goal]) -> None:
    records.put(goal(1))

    def more() -> None:
        for _ in range(20):
            records.change(goal(1).id, lambda each: each.model_copy(update={"text": str(int(each.text) + 1)}))

    threads = [threading.Thread(target=more) for _ in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert records.get(goal(1).id).text == "100"


def test_a_change_that_is_refused_leaves_the_record_as_it_was(records: Records[Goal]) -> None:
    before = records.put(goal(1))

    def refuse(_: Goal) -> Goal:
        raise IllegalMove("no")

    with pytest.raises(IllegalMove):
        records.change(before.id, refuse)
    assert records.get(before.id) == before


def test_a_record_that_somebody_damaged_is_told_by_its_path(records: Records[Goal], tmp_path: Path) -> None:
    records.put(goal(1))
    (tmp_path / "goals" / goal(1).id / "goal.json").write_text("{")
    with pytest.raises(LedgerError, match=r"goal\.json"):
        records.get(goal(1).id)

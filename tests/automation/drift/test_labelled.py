"""Tests how often the drift detector is right on its labelled pairs."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.automation.drift.labelled import Pair, contradicted, pairs


def _scores(rows: list[Pair]) -> tuple[float, float]:
    alarms = [each for each in rows if contradicted(each)]
    hits = sum(each.contradicts for each in alarms)
    return hits / len(alarms), hits / sum(each.contradicts for each in rows)


def test_the_set_is_as_big_and_as_hard_as_it_says() -> None:
    every = pairs()
    assert len({each.id for each in every}) == len(every) >= 60
    assert {each.label for each in every} == {"contradiction", "none"}
    assert {each.split for each in every} == {"tune", "held-out", "fresh", "fresh-2", "fresh-3", "attacker", "reported"}
    sizes = Counter(each.split for each in every)
    assert sizes["held-out"] >= 20
    assert (sizes["fresh"], sizes["fresh-2"], sizes["fresh-3"]) == (60, 30, 30)
    assert 0.4 <= sum(each.contradicts for each in every) / len(every) <= 0.6
    assert min(Counter(each.kind for each in every).values()) >= 5
    assert all(each.note for each in every)


@pytest.mark.parametrize(
    ("split", "recall"),
    [
        ("all", 0.75),
        ("tune", 0.85),
        ("held-out", 0.6),
        ("fresh", 0.5),
        ("fresh-2", 0.5),
        ("fresh-3", 0.7),
        ("attacker", 0.7),
        ("reported", 0.9),
    ],
)
def test_nine_of_ten_alarms_are_right_and_most_contradictions_are_found(split: str, recall: float) -> None:
    found = _scores([each for each in pairs() if split in ("all", each.split)])
    assert found[0] >= 0.9
    assert found[1] >= recall

"""Tests the scores of yes-or-no judgements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.evaluation.score import Score, interval

_COUNTS = st.integers(min_value=0, max_value=1000)
_SCORES = st.builds(Score, tp=_COUNTS, fp=_COUNTS, fn=_COUNTS, tn=_COUNTS)


def test_the_rates_of_a_known_table() -> None:
    score = Score(tp=30, fp=10, fn=20, tn=40)
    assert score.recall == pytest.approx(0.6)
    assert score.false_rate == pytest.approx(0.2)
    assert score.precision == pytest.approx(0.75)
    assert score.f1 == pytest.approx(2 / 3)
    assert score.youden == pytest.approx(0.4)


def test_a_rate_without_cases_is_unknown_and_not_zero() -> None:
    score = Score(tn=3)
    assert (score.recall, score.precision, score.f1, score.youden) == (None, None, None, None)
    assert interval(0, 0) is None


@given(_SCORES, _SCORES)
def test_scores_add_up(one: Score, other: Score) -> None:
    assert (one + other).cases == one.cases + other.cases
    assert one + Score() == one


@given(_SCORES)
def test_youden_is_between_always_wrong_and_always_right(score: Score) -> None:
    assert score.youden is None or -1 <= score.youden <= 1


@given(st.integers(min_value=1, max_value=10_000), st.data())
def test_an_interval_holds_its_rate_and_narrows_with_the_cases(cases: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(min_value=0, max_value=cases))
    few, many = interval(hits, cases), interval(hits * 10, cases * 10)
    assert few is not None
    assert many is not None
    assert 0 <= few[0] <= hits / cases + 1e-9
    assert hits / cases - 1e-9 <= few[1] <= 1
    assert many[1] - many[0] < few[1] - few[0]


def test_every_judgement_counts_once() -> None:
    for expected in (True, False):
        for found in (True, False):
            assert Score.of(expected=expected, found=found).cases == 1
    assert Score.of(expected=True, found=True).tp == 1
    assert Score.of(expected=False, found=True).fp == 1

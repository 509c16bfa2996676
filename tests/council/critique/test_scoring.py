"""Tests the scoring of critiques: weighted mean, best version, clamping, and learnt weights."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.council.critique.model import Criterion, Critique, CritiqueRecord, Iteration, Score
from swarmgate.council.critique.scoring import (
    best,
    clamped,
    evaluated,
    improvement,
    learnt_weights,
    missed,
    unchanged,
    version_of,
    weighted_mean,
)

SHARE = st.floats(0, 1, allow_subnormal=False)
NAMES = [f"c{n}" for n in range(10)]


def criteria_of(weights: list[float], threshold: float = 0.7) -> tuple[Criterion, ...]:
    pairs = zip(NAMES, weights, strict=False)
    return tuple(Criterion(name=name, weight=weight, threshold=threshold) for name, weight in pairs)


def judged(number: int, *scores: float, stop: float = 0.8, same_as: int = 0) -> Iteration:
    criteria = criteria_of([1.0] * len(scores))
    given = [Score(criterion=each.name, score=score) for each, score in zip(criteria, scores, strict=True)]
    return Iteration(
        number=number, version=f"v{number}", evaluation=evaluated(criteria, given, stop=stop), same_as=same_as
    )


WEIGHTS = st.lists(SHARE, min_size=1, max_size=10).filter(lambda each: math.fsum(each) > 1e-6)


@settings(max_examples=60)
@given(WEIGHTS, st.randoms(use_true_random=False))
def test_the_mean_is_between_the_scores_and_ignores_their_order(weights: list[float], chance: random.Random) -> None:
    criteria = criteria_of(weights)
    scores = {each.name: chance.random() for each in criteria}
    mean = weighted_mean(criteria, scores)
    assert min(scores.values()) <= mean <= max(scores.values())
    shuffled = list(criteria)
    chance.shuffle(shuffled)
    assert weighted_mean(shuffled, scores) == mean
    assert weighted_mean(criteria_of([1.0] * len(scores)), scores) == pytest.approx(sum(scores.values()) / len(scores))


def test_it_passes_by_every_threshold_and_by_the_mean() -> None:
    criteria = criteria_of([1.0, 0.0], threshold=0.5)
    scores = [Score(criterion="c1", score=0.4), Score(criterion="c0", score=0.9)]
    short = evaluated(criteria, scores, stop=0.8)
    assert (short.mean, short.passed, missed(criteria, short)) == (0.9, False, ("c1",))  # a weight of 0 still has one
    assert [each.criterion for each in short.scores] == ["c0", "c1"]
    tenth = criteria_of([0.1, 0.2, 0.3], threshold=0.8)
    assert evaluated(tenth, [Score(criterion=each.name, score=0.8) for each in tenth], stop=0.8).passed
    assert not evaluated(tenth, [Score(criterion=each.name, score=0.8) for each in tenth], stop=0.81).passed


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=60)
def test_what_lies_outside_is_clamped_and_noted(value: float) -> None:
    score = clamped("c0", value)
    assert 0 <= score.score <= 1
    assert (score.clamped is None) == (0 <= value <= 1)
    assert (score.score if score.clamped is None else score.clamped) == value


ROUNDS = st.lists(st.none() | st.tuples(SHARE, SHARE), min_size=1, max_size=10)


@settings(max_examples=60)
@given(ROUNDS)
def test_the_best_is_the_highest_and_the_earliest_of_equals(rounds: list[tuple[float, float] | None]) -> None:
    done = [judged(n, *scores) if scores else Iteration(number=n, failed="x") for n, scores in enumerate(rounds, 1)]
    found = [each for each in done if each.evaluation]
    top = best(done)
    if top is None or top.evaluation is None:
        assert not found
        assert improvement(done) == 0
        return
    ranks = [(each.evaluation.passed, each.evaluation.mean) for each in found if each.evaluation]
    assert (top.evaluation.passed, top.evaluation.mean) == max(ranks)
    assert top.number == found[ranks.index(max(ranks))].number
    assert improvement(done) == pytest.approx(top.evaluation.mean - ranks[0][1])


def test_a_version_that_passes_is_better_than_a_higher_mean() -> None:
    high, passing = judged(1, 1.0, 0.6, stop=0.7), judged(2, 0.72, 0.74, stop=0.7)
    assert best([high, passing]) == passing
    assert best([judged(1, 0.5), judged(2, 0.5), judged(3, 0.4)]) == judged(1, 0.5)


def test_versions_that_were_judged_again_or_came_again() -> None:
    failed = Iteration(number=2, failed="x", failed_at="evaluate", version="v2")
    again = judged(3, 0.5).model_copy(update={"version": ""})
    assert version_of([judged(1, 0.4), failed, again], 3) == "v2"
    same = judged(2, 0.5, same_as=1)
    assert not unchanged([judged(1, 0.5), same])
    assert unchanged([judged(1, 0.5), same, judged(3, 0.5, same_as=1)])
    assert not unchanged([same, judged(3, 0.6), judged(4, 0.5, same_as=1)])


def past(*scores: tuple[float, ...], name: str = "notes") -> CritiqueRecord:
    criteria = criteria_of([1.0] * len(scores[0]))
    critique = Critique(id="x", name=name, task="t", criteria=criteria)
    done = tuple(judged(number, *each) for number, each in enumerate(scores, start=1))
    return CritiqueRecord(critique=critique, status="complete", iterations=done)


@settings(max_examples=60)
@given(WEIGHTS, st.lists(st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=4), max_size=5))
def test_learnt_weights_keep_their_sum_and_ignore_the_order_of_runs(
    weights: list[float], runs: list[list[tuple[float, float]]]
) -> None:
    criteria, records = criteria_of(weights), [past(*each) for each in runs]
    learnt = learnt_weights(criteria, records)
    assert math.fsum(learnt.after.values()) == pytest.approx(math.fsum(weights))
    assert learnt == learnt_weights(criteria, records[::-1])
    assert list(learnt.before.values()) == weights
    assert learnt.runs == len(runs)
    assert all(0 <= each <= 10 for each in learnt.after.values())


def test_what_was_missed_weighs_more() -> None:
    criteria = criteria_of([1.0, 1.0])
    records = [past((0.9, 0.1), (0.9, 0.9)), past((0.8, 0.2), (0.8, 0.3))]
    learnt = learnt_weights(criteria, records)  # c1 was missed in 3 of 4: 1 and 1.75, scaled to a sum of 2
    assert learnt.after == pytest.approx({"c0": 2 / 2.75, "c1": 3.5 / 2.75})
    assert learnt.runs == 2
    copies = past((0.9, 0.1))
    copies = copies.model_copy(update={"iterations": (*copies.iterations, judged(2, 0.9, 0.1, same_as=1))})
    assert learnt_weights(criteria, [copies, past((0.9, 0.9))]).after["c1"] == pytest.approx(2 * 1.5 / 2.5)
    assert learnt_weights(criteria, []).after == {"c0": 1.0, "c1": 1.0}

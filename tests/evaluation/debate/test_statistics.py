"""Tests the statistics of the debate experiment: known tables, coverage, and error rates."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.review.votes import Tally
from swarmgate.evaluation.debate.decision import Decision, decide
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.evaluation.debate.statistics import Comparison, Judgement, bootstrapped, compare, mcnemar, rates


def judged(arm: Arm, rights: Iterable[Iterable[int]], **more: object) -> list[Judgement]:
    """By item, whether each repeat was right; every second item is good."""
    found = []
    for item, repeats in enumerate(rights):
        good = bool(item % 2)
        for repeat, right in enumerate(repeats, start=1):
            found.append(
                Judgement.model_validate(
                    {
                        "item": f"i{item}",
                        "label": "good" if good else "bad",
                        "category": "c",
                        "repeat": repeat,
                        "arm": arm,
                        "approved": bool(right) is good,
                        **more,
                    }
                )
            )
    return found


def simulated(chance: random.Random, number: int, repeats: int, first: float, second: float) -> Comparison:
    arms = [
        judged(arm, [[chance.random() < p for _ in range(repeats)] for _ in range(number)])
        for arm, p in ((Arm.DEBATE, first), (Arm.PARALLEL, second))
    ]
    return compare(*arms, resamples=200)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (10, 0, 2 / 2**10),
        (0, 5, 2 / 2**5),
        (9, 1, 2 * (1 + 10) / 2**10),
        (8, 2, 2 * (1 + 10 + 45) / 2**10),
        (1, 0, 1.0),
    ],
)
def test_mcnemar_against_values_computed_by_hand(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)


def test_mcnemar_counts_items_by_the_majority_of_their_repeats() -> None:
    debate = judged(Arm.DEBATE, [(True, True, False), (True, False, False), (True, True), (True, False)])
    parallel = judged(Arm.PARALLEL, [(False, True, False), (True, True, True), (True, True), (False, False)])
    found = compare(debate, parallel, resamples=100)
    # The half of the last item is no majority: it is not right in either arm.
    assert (found.only_first, found.only_second, found.items) == (1, 1, 4)
    assert found.lift == pytest.approx((1 / 3 - 2 / 3 + 0 + 1 / 2) / 4)


def test_the_rates_of_a_known_table() -> None:
    # Items 0 and 2 are bad, 1 and 3 good; item 1 was rejected and item 2 approved once.
    found = rates(Arm.DEBATE, judged(Arm.DEBATE, [(1, 1), (0, 0), (1, 0), (1, 1)], turns=6, calls=7))
    assert found.accuracy == pytest.approx(5 / 8)
    assert found.good_approved == pytest.approx(2 / 4)
    assert found.bad_rejected == pytest.approx(3 / 4)
    assert found.precision == pytest.approx(3 / 5)
    assert (found.items, found.judgements, found.turns, found.calls) == (4, 8, 48, 56)


def test_ballots_without_a_verdict_are_counted_apart_from_abstentions() -> None:
    found = rates(
        Arm.PARALLEL,
        [
            *judged(Arm.PARALLEL, [(True,)], tally=Tally(failed=2, reject=1), silent=1),
            *judged(Arm.PARALLEL, [(True,)], tally=Tally(abstain=3), refused=2),
        ],
    )
    assert (found.unread, found.abstained, found.undecided, found.silent, found.refused) == (2, 3, 1, 1, 2)


def test_arms_that_judged_other_items_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same items"):
        compare(judged(Arm.DEBATE, [(True,), (True,)]), judged(Arm.PARALLEL, [(True,)]))


def test_equal_calls_are_equal_item_by_item() -> None:
    debate = judged(Arm.DEBATE, [(True,), (True,)], turns=4)
    assert compare(debate, judged(Arm.PARALLEL, [(True,), (True,)], turns=4)).equal_calls
    uneven = [
        each.model_copy(update={"turns": 3 if each.item == "i0" else 5})
        for each in judged(Arm.PARALLEL, [(True,), (True,)])
    ]
    assert not compare(debate, uneven).equal_calls, "though the sums are"


def test_the_bootstrap_is_the_same_for_a_seed_and_needs_two_items() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert bootstrapped(values, seed=3) == bootstrapped(values, seed=3)
    assert bootstrapped([1.0]) is None
    assert bootstrapped([0.5, 0.5]) == (0.5, 0.5)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=30))
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    low, high = bootstrapped(values, resamples=50) or (2.0, -2.0)
    assert min(values) <= low <= high <= max(values)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    chance, held, runs = random.Random(7), 0, 150  # noqa: S311 - a repeatable simulation
    for _ in range(runs):
        found = simulated(chance, 50, 1, 0.85, 0.65)
        low, high = found.interval or (0.0, 0.0)
        held += low <= 0.2 <= high
    assert 0.91 <= held / runs <= 0.985


def test_repeats_of_an_item_do_not_pass_for_items() -> None:
    """Repeats that always agree add nothing: the interval is as wide as with one of each."""
    chance = random.Random(3)  # noqa: S311 - a repeatable simulation
    once = [[chance.random() < 0.7] for _ in range(50)]
    one = rates(Arm.DEBATE, judged(Arm.DEBATE, once))
    ten = rates(Arm.DEBATE, judged(Arm.DEBATE, [repeats * 10 for repeats in once]))
    assert ten.interval == one.interval


def decisions(number: int, repeats: int, lift: float, runs: int) -> list[Decision]:
    chance = random.Random(f"{number} {repeats} {lift}")  # noqa: S311 - a repeatable simulation
    found = [decide(simulated(chance, number, repeats, 0.65 + lift, 0.65)) for _ in range(runs)]
    return [each for each in found if each is not None]


def test_a_debate_that_lifts_by_nothing_is_deferred_in_nearly_all_runs() -> None:
    found = decisions(40, 3, 0.0, 120)
    false_use = sum(each.decision == "use" for each in found) / len(found)
    sure_and_false = sum(each.decision == "use" and each.sure for each in found) / len(found)
    assert false_use <= 0.08
    assert sure_and_false <= 0.01


@pytest.mark.slow
def test_a_debate_that_lifts_by_twenty_points_is_found() -> None:
    found = decisions(40, 3, 0.20, 100)
    assert sum(each.decision == "use" for each in found) / len(found) >= 0.93
    many = decisions(200, 3, 0.20, 20)
    assert all(each.decision == "use" for each in many)
    assert sum(each.sure for each in many) / len(many) >= 0.9

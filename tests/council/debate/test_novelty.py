"""Tests the novelty measure of claims on labelled pairs, and each of its guards."""

from __future__ import annotations

import random
import time

import pytest
from rapidfuzz import fuzz
from tests.council.debate.pairs import ATTACKED, DIFFERENT, HELD_OUT_DIFFERENT, HELD_OUT_SAME, IN_DOUBT, SAME

from swarmgate.council.debate.model import Claim, Stance
from swarmgate.council.debate.novelty import judged

THRESHOLD = 90


def is_old(one: str, other: str, *, threshold: float = THRESHOLD, stance: Stance = Stance.NEUTRAL) -> bool:
    earlier, later = Claim(id="a", text=one), Claim(id="b", text=other, stance=stance)
    return not judged([later], [earlier], threshold=threshold)[0].new


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_old(one: str, other: str) -> None:
    assert is_old(one, other)
    assert is_old(other, one)


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT, *ATTACKED, *HELD_OUT_DIFFERENT, *IN_DOUBT])
def test_a_different_claim_is_new_and_so_is_one_in_doubt(one: str, other: str) -> None:
    assert not is_old(one, other)
    assert not is_old(other, one)


def test_of_the_held_out_repetitions_more_than_half_are_seen() -> None:
    """What it misses costs a round: a synonym, another construction, a noun for a verb."""
    missed = [pair for pair in HELD_OUT_SAME if not (is_old(*pair) and is_old(*reversed(pair)))]
    assert len(missed) == 5


def test_the_measures_of_the_library_alone_take_different_claims_for_old() -> None:
    different = (*DIFFERENT, *ATTACKED, *HELD_OUT_DIFFERENT)
    for measure in (fuzz.ratio, fuzz.token_sort_ratio, fuzz.token_set_ratio, fuzz.WRatio):
        wrong = [pair for pair in different if measure(*map(str.lower, pair)) >= THRESHOLD]
        assert len(wrong) > len(different) / 4, measure


@pytest.mark.parametrize(
    ("one", "other", "old"),
    [
        ("If the disk is full, the upload fails.", "The upload fails if the disk is full.", True),
        ("If the disk is full, the upload fails.", "If the upload fails, the disk is full.", False),
        ("The lock is taken before the write.", "Before the write the lock is taken.", True),
        ("The lock is taken before the write.", "Before the lock the write is taken.", False),
        ("Empty lists break it.", "It breaks empty lists.", False),  # only a phrase with its opener moves
        ("Clients wait for servers.", "Servers clients wait for.", False),
        ("The key can't be read.", "The key cannot be read.", True),
        ("The key can't be read.", "The key can be read.", False),
        ("See (r2-msg-001): the key leaks.", "The key leaks.", True),
        ("The word is \u0915\u093f.", "The word is \u0915\u0940.", False),  # they differ in a vowel sign
        ("The name is caf\u00e9.", "The name is cafe\u0301.", True),
        ("The margin is 5 %.", "The margin is 5 \u20ac.", False),
        ("a - b", "a + b", False),
        ("The pools leak.", "The pool leaks.", True),
        ("Node A fails.", "Node fails.", False),
        ("A node fails.", "The node fails.", True),
        ("The class is final.", "The clas is final.", False),
    ],
)
def test_order_and_small_words_count(one: str, other: str, old: bool) -> None:  # noqa: FBT001 - of the table
    assert is_old(one, other) is old
    assert is_old(other, one) is old


def test_the_guards_hold_where_the_words_are_nearly_the_same() -> None:
    base = "The very long claim about the worker pool of the scheduler holds for {} in production and in staging"
    for one, other in (("8", "9"), ("eight", "nine"), ("run_all", "run_any"), ("HTTP", "HTTPS"), ("reads", "writes")):
        assert not is_old(base.format(one), base.format(other)), (one, other)
    assert not is_old(base.format("all"), base.format("all").replace("holds", "never holds"))
    assert not is_old(base.format("all"), base.format("all"), stance=Stance.AGAINST)
    assert is_old(base.format("eight"), base.format("8"))


def test_the_nearest_and_the_likeness_are_on_record() -> None:
    earlier = [Claim(id="a", text="The queue grows without bound."), Claim(id="b", text="Logs leak the token.")]
    new = [
        Claim(id="c", text="The log leaks the token."),
        Claim(id="d", text="The queue is fair."),
        Claim(id="e", text="The queue is fair!"),
    ]
    old, fresh, again = judged(new, earlier, threshold=THRESHOLD)
    assert (old.new, old.nearest, old.similarity) == (False, "b", 93.3)
    assert (fresh.new, fresh.nearest) == (True, "a")
    assert 0 < fresh.similarity < THRESHOLD
    assert (again.new, again.nearest) == (False, "d")


def test_the_threshold_decides_and_claims_without_content_are_compared_whole() -> None:
    one, other = "The worker pool of the scheduler is small", "The worker pools of the schedulers are small"
    assert is_old(one, other, threshold=60)
    assert not is_old(one, other, threshold=100)
    assert not is_old("It is.", "They would.")
    assert is_old("It is.", "it is")
    assert judged([Claim(id="a", text="x")], [], threshold=THRESHOLD)[0].nearest == ""


def test_a_side_is_part_of_a_claim() -> None:
    text = "The lock is held during the call."
    said = [Claim(id="a", text=text, stance=Stance.FOR), Claim(id="b", text=text, stance=Stance.AGAINST)]
    again = Claim(id="c", text=text, stance=Stance.AGAINST)
    assert [each.new for each in judged(said, [], threshold=THRESHOLD)] == [True, True]
    assert judged([again], said, threshold=THRESHOLD)[0].nearest == "b"


@pytest.mark.slow
def test_a_full_round_costs_little() -> None:
    """8 seats with 30 claims of 500 characters each, after four such rounds: some words, all orders of some others."""
    pick = random.Random(5)  # noqa: S311 - the same words every time
    vocabulary = ["".join(pick.choices("abcdefghijklmnop", k=pick.randint(3, 9))) for _ in range(600)]
    fixed = [*vocabulary[:60], *("before", "if") * 5]

    def claim(number: int) -> Claim:
        words = pick.choices(vocabulary, k=90) if number % 2 else pick.sample(fixed, k=len(fixed))
        return Claim(id=f"c{number}", text=" ".join(words)[:500])

    said = [claim(number) for number in range(1200)]
    began = time.process_time()
    assert len(judged(said[960:], said[:960], threshold=THRESHOLD)) == 240
    spent = time.process_time() - began
    began = time.process_time()
    for one in said[960:1020]:
        for other in said[:960]:
            fuzz.ratio(one.text, other.text)
    pairwise = 4 * (time.process_time() - began)  # what comparing every two texts would cost
    assert spent < pairwise

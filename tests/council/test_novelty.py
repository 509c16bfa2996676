"""The measure of likeness on labelled pairs, and each guard."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz
from tests.council.pairs import DIFFERENT, SAME

from swarmgate.council.novelty import judged
from swarmgate.domain.debate import Claim, Stance

THRESHOLD = 90


def is_old(one: str, other: str, *, threshold: float = THRESHOLD, stance: Stance = Stance.NEUTRAL) -> bool:
    earlier, later = Claim(id="a", text=one), Claim(id="b", text=other, stance=stance)
    return not judged([later], [earlier], threshold=threshold)[0].new


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_old(one: str, other: str) -> None:
    assert is_old(one, other)
    assert is_old(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_a_different_claim_is_new(one: str, other: str) -> None:
    assert not is_old(one, other)
    assert not is_old(other, one)


def test_the_measure_is_better_than_those_of_the_library_on_plain_text() -> None:
    def errors(old: object) -> int:
        assert callable(old)
        return sum(not old(*pair) for pair in SAME) + sum(bool(old(*pair)) for pair in DIFFERENT)

    plain = [
        errors(lambda one, other, measure=measure: measure(one.lower(), other.lower()) >= THRESHOLD)
        for measure in (fuzz.ratio, fuzz.token_sort_ratio, fuzz.token_set_ratio, fuzz.WRatio)
    ]
    assert len(SAME) + len(DIFFERENT) >= 40
    assert errors(is_old) == 0 < min(plain)


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
    assert (old.new, old.nearest, old.similarity) == (False, "b", 96.6)
    assert (fresh.new, fresh.nearest) == (True, "a")
    assert 0 < fresh.similarity < THRESHOLD
    assert (again.new, again.nearest) == (False, "d")


def test_the_threshold_decides_and_claims_without_content_are_compared_whole() -> None:
    one, other = "The worker pool of the scheduler is small", "The worker pools of the scheduler look small"
    assert is_old(one, other, threshold=60)
    assert not is_old(one, other, threshold=100)
    assert not is_old("It is.", "They would.")
    assert is_old("It is.", "it is")
    assert judged([Claim(id="a", text="x")], [], threshold=THRESHOLD)[0].nearest == ""

"""`examples/eval/designs.jsonl`: balanced, complete, and told apart by thinking alone, not by how the texts look."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from swarmgate.evaluation.debate.fixtures import Item, load

FILE = Path(__file__).parents[2] / "examples/eval/designs.jsonl"
MOST_HITS = 31
"""Of 48 items, or fewer in proportion: a coin gives 32 or more in 1.5% of all cases. What gets more sees the label."""
MOST_PAIRS = 17
"""Of 24 pairs: a coin gives 18 or more in 1.1%."""

Features = Callable[[str], set[str]]
Pair = tuple[Item, Item]


def items() -> tuple[Item, ...]:
    return load(FILE).items


def pairs() -> list[Pair]:
    """Twins share their id but for its last letter; each pair here as (good, bad)."""
    found = sorted(items(), key=lambda item: item.id)
    return [(a, b) if a.label == "good" else (b, a) for a, b in zip(found[::2], found[1::2], strict=True)]


# --- what is there ---


def test_the_file_is_read_without_a_warning_and_balanced() -> None:
    found = load(FILE)
    assert found.warnings == ()
    assert len(found.items) >= 48
    assert Counter(item.label for item in found.items) == {"good": len(found.items) // 2, "bad": len(found.items) // 2}
    assert {item.kind for item in found.items} == {"design"}
    assert {item.context for item in found.items} == {""}


def test_each_of_eight_categories_has_three_flaws_and_as_many_sound_twins() -> None:
    bad = Counter(item.category for item in items() if item.label == "bad")
    assert bad == Counter(item.category for item in items() if item.label == "good")
    assert len(bad) >= 8
    assert min(bad.values()) >= 3
    assert {"auth", "concurrency", "data-loss", "api", "migration", "caching", "cost"} <= set(bad)


def test_twins_differ_in_the_flaw_alone_and_their_ids_tell_nothing() -> None:
    for good, bad in pairs():
        assert good.id[:-1] == bad.id[:-1]
        assert good.category == bad.category
        assert good.text != bad.text
        shared = set(words(good.text)) & set(words(bad.text))
        assert len(shared) > 0.6 * len(set(words(bad.text))), good.id
    first = Counter(item.label for item in items() if item.id.endswith("a"))
    assert abs(first["good"] - first["bad"]) <= 4


def test_texts_have_80_to_200_words_and_no_word_of_judgement() -> None:
    for item in items():
        assert 80 <= len(item.text.split()) <= 200, item.id
        given_away = re.search(
            r"\b(flaw|bug|unsafe|insecure|correctly|mistake|race condition|todo)\b", item.text, re.IGNORECASE
        )
        assert not given_away, item.id


def test_reasons_name_what_decides() -> None:
    """A reason shares its terms with what makes its item different from its twin, or with the item itself."""
    for item in items():
        assert len(item.reason.split()) >= 15, item.id
        assert len(set(words(item.reason)) & set(words(item.text))) >= 5, item.id
    reasons = [item.reason for item in items()]
    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("migration-3", ("release 14 writes `profiles` alone, and once all pods run it `user_blobs` is dropped",)),
        ("auth-3", ("switches the password off for a member once they have logged in through it",)),
        (
            "idempotency-3",
            ("By contract a restart may lose five minutes", "what comes after an invoice is on the next"),
        ),
        ("auth-2", ("`billing` takes the account from the first value of the header",)),
    ],
)
def test_what_could_be_held_against_a_sound_twin_besides_the_flaw_is_answered_in_both(
    pair: str, said: tuple[str, ...]
) -> None:
    """An attacker had found a second flaw in these good ones, or a flaw that its own wording gave away."""
    twins = [item for item in items() if item.id[:-1] == pair]
    assert len(twins) == 2
    for item in twins:
        assert all(each in item.text for each in said), item.id


def test_a_run_that_goes_on_finds_the_row_that_is_there() -> None:
    (sound,) = (item for item in items() if item.id == "concurrency-2b")
    assert sound.label == "good"
    assert "unless it is there" in sound.text


# --- what must not tell the label ---


@pytest.mark.parametrize("name", ["designs.jsonl", "quixbugs.jsonl"])
def test_the_place_in_the_file_does_not_tell_the_label(name: str) -> None:
    """Neither every second, third or fourth place, nor the label before, nor the half of the file."""
    good = [item.label == "good" for item in load(FILE.with_name(name)).items]
    changes = sum(a != b for a, b in pairwise(good))
    assert abs(changes - len(good) / 2) <= len(good) / 6, "they alternate, or stand together"
    for step in (2, 3, 4):
        for start in range(step):
            places = good[start::step]
            assert abs(sum(places) - len(places) / 2) <= math.sqrt(len(places)), (step, start)
    assert abs(sum(good[: len(good) // 2]) - len(good) / 4) <= len(good) / 10


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_`]+", text.lower())


def single(text: str) -> set[str]:
    return set(words(text))


def runs_of_two(text: str) -> set[str]:
    return {f"{a} {b}" for a, b in pairwise(words(text))} | single(text)


def signs(text: str) -> set[str]:
    """Style: hedges, negations, numbers, punctuation and length, in coarse steps."""
    lower = text.lower()
    counted = {
        "not": len(re.findall(r"\b(?:not?|never|nothing|none|without|unless)\b", lower)),
        "all": len(re.findall(r"\b(?:all|each|every|only|always|must|any)\b", lower)),
        "order": len(re.findall(r"\b(?:then|before|after|first|once|until|while|when)\b", lower)),
        "hedge": len(re.findall(r"\b(?:about|some|may|usually|expected|should|can)\b", lower)),
        "same": len(re.findall(r"\b(?:same|unique|own|version|transaction|commit\w*)\b", lower)),
        "digits": len(re.findall(r"\d+", text)) // 3,
        "code": text.count("`") // 4,
        "stops": len(re.findall(r"[.;:]", text)) // 2,
        "commas": text.count(",") // 3,
        "words": len(text.split()) // 10,
        "letters": len(text) // len(text.split()) if text else 0,
    }
    return {f"{name}>={step}" for name, count in counted.items() for step in range(1, count + 1)}


def hits(found: list[Pair], features: Features, most: int = 100_000) -> tuple[int, float]:
    """How many items, and how many pairs, a classifier gets right that learnt from all the other pairs.

    Bernoulli naive Bayes with add-one smoothing, over the `most` features that differ most between the labels it learns
    from: few of them find one telling word, all of them a tone. Both labels are there equally often whichever pair is
    left out; a tie within a pair is half a hit.
    """
    sides = [(features(good.text), features(bad.text)) for good, bad in found]
    in_good, in_bad = (Counter(each for pair in sides for each in pair[side]) for side in (0, 1))
    right, ordered = 0, 0.0
    for good, bad in sides:
        learnt = {
            each: (in_good[each] - (each in good), in_bad[each] - (each in bad))
            for each in in_good.keys() | in_bad.keys()
        }
        telling = sorted(learnt.items(), key=lambda each: (-abs(each[1][0] - each[1][1]), each[0]))[:most]
        odds_of_good, odds_of_bad = (_odds(present, telling, len(found) - 1) for present in (good, bad))
        right += (odds_of_good < 0) + (odds_of_bad > 0)
        ordered += (odds_of_bad > odds_of_good) + (odds_of_bad == odds_of_good) / 2
    return right, ordered


def _odds(present: set[str], telling: Iterable[tuple[str, tuple[int, int]]], seen: int) -> float:
    """Above 0 speaks for bad; each feature with how many good and bad ones of `seen` each have it."""
    total = 0.0
    for feature, (in_good, in_bad) in telling:
        good, bad = (in_good + 1) / (seen + 2), (in_bad + 1) / (seen + 2)
        total += math.log(bad / good) if feature in present else math.log((1 - bad) / (1 - good))
    return total


@pytest.mark.slow
@pytest.mark.parametrize("most", [20, 100_000])
@pytest.mark.parametrize("features", [single, runs_of_two, signs])
def test_words_and_style_do_not_tell_the_label(features: Features, most: int) -> None:
    right, ordered = hits(pairs(), features, most)
    assert right <= MOST_HITS * len(items()) / 48, f"{right} of {len(items())} items"
    assert ordered <= MOST_PAIRS * len(pairs()) / 24, f"{ordered} of {len(pairs())} pairs"


def test_the_classifier_finds_a_leak_where_there_is_one() -> None:
    """A word that only bad ones have, and not all of them; and a tone: one word more of many, in each bad one."""
    worded = [
        (good, bad.model_copy(update={"text": bad.text + (" Hopefully." if place % 3 else "")}))
        for place, (good, bad) in enumerate(pairs())
    ]
    assert hits(worded, single, 20)[0] > MOST_HITS + 4
    hedged = [
        (good, bad.model_copy(update={"text": f"{bad.text} It should be some may can about."})) for good, bad in pairs()
    ]
    assert hits(hedged, signs)[1] > MOST_PAIRS + 2


def test_length_does_not_tell_the_label() -> None:
    longer = sum(len(good.text) > len(bad.text) for good, bad in pairs())
    assert len(pairs()) - MOST_PAIRS <= longer <= MOST_PAIRS
    found = sorted(items(), key=lambda item: len(item.text))
    best = max(
        max(right, len(found) - right)
        for cut in range(len(found) + 1)
        for right in [sum((place < cut) == (item.label == "good") for place, item in enumerate(found))]
    )
    # The best of all thresholds, chosen with the labels in sight, is above a coin by nature; a leak is far above it.
    assert best <= MOST_HITS + 1


def test_no_single_word_tells_the_label() -> None:
    """In a pair a word may stand on one side; over all pairs no word keeps to one side in six more pairs than not."""
    sides = Counter[str]()
    for good, bad in pairs():
        sides.update(single(bad.text) - single(good.text))
        sides.subtract(single(good.text) - single(bad.text))
    assert {word: count for word, count in sides.items() if abs(count) >= 6} == {}

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError
from tests.evaluation.debate.simulated import items

from swarmgate.config.council import Council
from swarmgate.evaluation.debate.arms import Job, Setup, ballots_of, chosen_items, debate_of, jobs, material, question

ITEMS = items(20)


def order(setup: Setup) -> list[tuple[int, str]]:
    return [(job.repeat, job.item.id) for job in jobs(ITEMS, setup)]


def test_the_order_is_shuffled_by_the_seed_and_every_repeat_has_every_item() -> None:
    setup = Setup(models=("l/a",), repeats=2, seed=1)
    assert order(setup) == order(setup)
    assert order(setup) != order(setup.model_copy(update={"seed": 2}))
    first, second = ([item for repeat, item in order(setup) if repeat == number] for number in (1, 2))
    assert sorted(first) == sorted(second) == sorted(item.id for item in ITEMS)
    assert first != second
    assert first != [item.id for item in ITEMS]


def test_a_limit_takes_as_many_good_items_as_bad_ones_and_the_same_for_a_seed() -> None:
    setup = Setup(models=("l/a",), limit=6, seed=5)
    chosen = chosen_items(ITEMS, setup)
    assert Counter(item.label for item in chosen) == {"good": 3, "bad": 3}
    assert chosen == chosen_items(ITEMS, setup)
    assert chosen != chosen_items(ITEMS, setup.model_copy(update={"seed": 6}))
    assert chosen_items(ITEMS, Setup(models=("l/a",), limit=99)) == list(ITEMS)


def test_models_are_dealt_evenly_and_the_same_in_both_arms() -> None:
    setup = Setup(models=("l/a", "l/b"), participants=3, rounds=2, repeats=2)
    seats: Counter[tuple[str, str]] = Counter()
    ballots: Counter[str] = Counter()
    for job in jobs(ITEMS, setup):
        debate = debate_of(job, setup, Council())
        votes = ballots_of(job, setup, setup.turns)
        assert votes[0].model == debate.seats[0].model
        seats.update((seat.id, seat.model) for seat in debate.seats)
        ballots.update(seat.model for seat in votes)
    assert set(seats.values()) == {20}, "none is the advocate more often than the other"
    assert ballots == {"l/a": 120, "l/b": 120}


def test_a_debate_of_many_has_sides_in_turn_and_no_parent() -> None:
    setup = Setup(models=("l/a",), participants=5, rounds=3)
    debate = debate_of(Job(ITEMS[0], 1, 0), setup, Council(tokens=700, timeout_s=9, similarity=80))
    names = [seat.id for seat in debate.seats]
    assert names == ["advocate-1", "challenger-1", "assessor-1", "advocate-2", "challenger-2"]
    assert (debate.rounds, debate.parent, debate.moderator) == (3, False, None)
    assert (debate.tokens, debate.timeout_s, debate.similarity) == (700, 9, 80)


def test_nothing_that_a_voice_is_told_says_what_the_item_is() -> None:
    sound, flawed = (next(item for item in ITEMS if item.label == label) for label in ("good", "bad"))
    setup = Setup(models=("l/a",))
    for item in (sound, flawed):
        debate = debate_of(Job(item, 1, 0), setup, Council())
        told = f"{debate.question} {debate.material} {debate.seats}"
        assert item.text in told
        assert item.reason not in told
        assert item.category not in told
        assert item.id not in material(item)
    assert question(sound) == question(flawed)


@pytest.mark.parametrize("bounds", [{"rounds": 0}, {"rounds": 6}, {"participants": 1}, {"participants": 9},
                                    {"repeats": 0}, {"limit": 0}, {"models": ()}])  # fmt: skip
def test_bounds_of_a_setup(bounds: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Setup.model_validate({"models": ("l/a",), **bounds})


def test_the_calls_of_an_item() -> None:
    assert Setup(models=("l/a",), participants=4, rounds=3).most_calls == 12 + 12 + 1

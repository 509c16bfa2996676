"""Tests the arms of the debate experiment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.evaluation.debate.simulated import items

from swarmgate.config.council import Council
from swarmgate.errors import UsageError
from swarmgate.evaluation.debate.experiment_arms import (
    Job,
    Part,
    Setup,
    ballots_of,
    chosen_items,
    debate_of,
    even_repeats,
    jobs,
    material,
    question,
)
from swarmgate.evaluation.debate.fixtures import Item, load

ITEMS = items(20)
EXAMPLES = Path(__file__).parents[3] / "examples/eval"


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


def test_each_model_has_each_seat_of_each_item_equally_often_and_the_same_ballots() -> None:
    setup = Setup(models=("l/a", "l/b", "l/c"), participants=4, rounds=2, repeats=3)
    seats: Counter[tuple[str, str, str]] = Counter()
    for job in jobs(ITEMS, setup):
        debate = debate_of(job, setup, Council())
        seats.update((job.item.id, seat.id, seat.model) for seat in debate.seats)
        for rounds in (1, 2):
            turns = Counter(seat.model for seat in debate.seats for _ in range(rounds))
            assert Counter(seat.model for seat in ballots_of(job, setup, 4 * rounds)) == turns
    assert len(seats) == len(ITEMS) * 4 * 3
    assert set(seats.values()) == {1}


@pytest.mark.parametrize("in_turn", [ITEMS, (*ITEMS[::2], *ITEMS[1::2])], ids=["labels alternate", "bad ones first"])
def test_who_is_dealt_first_is_drawn_and_even_within_each_label(in_turn: tuple[Item, ...]) -> None:
    setup = Setup(models=("l/a", "l/b"), repeats=1)
    first = {job.item.id: job.first for job in jobs(in_turn, setup)}
    for label in ("good", "bad"):
        dealt = [first[item.id] for item in in_turn if item.label == label]
        assert Counter(dealt) == {0: 5, 1: 5}
        assert dealt not in ([0, 1] * 5, [1, 0] * 5), "not by place"
    other = {job.item.id: job.first for job in jobs(in_turn, setup.model_copy(update={"seed": 1}))}
    assert other != first


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quixbugs.jsonl", "designs.jsonl"])
@pytest.mark.parametrize("models", [("l/no", "l/yes"), ("l/yes", "l/no"), ("l/no", "l/yes", "l/no2", "l/yes2")])
@pytest.mark.parametrize(("participants", "repeats"), [(2, 1), (3, 1), (3, 4), (4, 4), (5, 4)])
def test_models_that_know_nothing_are_right_in_half_in_every_arm(
    name: str, models: tuple[str, ...], participants: int, repeats: int
) -> None:
    """One kind always rejects, one always approves: who votes is then all that an arm's verdict can depend on."""
    setup = Setup(models=models, participants=participants, repeats=repeats)
    right: Counter[str] = Counter()
    todo = list(jobs(load(EXAMPLES / name).items, setup))
    for job in todo:
        voters = {"debate": debate_of(job, setup, Council()).seats, "parallel": ballots_of(job, setup, setup.turns),
                  "single": ballots_of(job, setup, 1)}  # fmt: skip
        for arm, seats in voters.items():
            approving = sum(seat.model.startswith("l/yes") for seat in seats)
            right[arm] += (approving > len(seats) - approving) == (job.item.label == "good")
    assert right == {arm: len(todo) / 2 for arm in ("debate", "parallel", "single")}


def test_repeats_that_are_no_multiple_of_the_models_are_told() -> None:
    assert Setup(models=("l/a", "l/b"), repeats=4).warnings == ()
    (told,) = Setup(models=("l/a", "l/b"), repeats=3).warnings
    assert "3 repeats are no multiple of the 2 models" in told
    assert "--repeats 4 is one" in told
    assert [even_repeats(models) for models in (1, 2, 3, 4, 5, 101)] == [3, 4, 3, 4, 5, 100]


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


def test_parts_together_are_the_whole() -> None:
    setup = Setup(models=("l/a", "l/b"), repeats=2, limit=5)
    whole = list(jobs(items(7), setup))
    parts = [list(jobs(items(7), setup, Part(number, 3))) for number in (1, 2, 3)]
    assert sorted(map(len, parts)) == [2, 4, 4]
    assert {(job.item.id, job.repeat, job.first) for part in parts for job in part} == {
        (job.item.id, job.repeat, job.first) for job in whole
    }


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "-1/2", "1/2/3"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    assert Part.named("2/3") == Part(2, 3)
    with pytest.raises(UsageError, match="no part of the items"):
        Part.named(text)

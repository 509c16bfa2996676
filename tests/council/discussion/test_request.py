"""Tests the validation of discussion requests, and the defaults of each mode."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.discussion.model import Cast, Expert, Mode, Tension
from swarmgate.council.discussion.request import check_cast, discussion_of, in_mode
from swarmgate.errors import CouncilRefused


def asked(**settings: Any) -> Any:
    return discussion_of(**{"id": "d1", "topic": "Should we?", **settings})


def persona(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "expertise": "all", **more}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"topic": " \n"}, "`topic` is empty: the limit is 1 to 10000 characters"),
        ({"topic": "x" * 1_000_000}, "`topic` has 1,000,000 characters: the limit is 10,000"),
        ({"material": "x" * 400_001}, "`material` has 400,001 characters: the limit is 400,000"),
        ({"rounds": 0}, "`rounds` is 0: the limit is 1 to 10"),
        ({"rounds": 11}, "`rounds` is 11: the limit is 1 to 10"),
        ({"rounds": True}, "`rounds` is True: the limit is 1 to 10"),
        ({"timeout_s": 901}, "`timeout_s` is 901: the limit is 1 to 900 s"),
        ({"whole_s": 0.5}, "`whole_s` is 0.5: the limit is 1 to 1800 s"),
        ({"whole_s": float("nan")}, "`whole_s` is nan: the limit is 1 to 1800 s"),
        ({"mode": "huge"}, "`mode` is 'huge': there is no such mode; it is one of deep, standard, lightweight"),
        ({"models": {"judge": "a/b"}}, "`models` names 'judge': models are those of the roles moderator, historian"),
        ({"tokens": 0}, "`tokens`"),
        ({"personas": [persona("a")]}, "`personas` has 1: the limit of a standard discussion is 2 to 3"),
        ({"personas": [persona(each) for each in "abcd"]}, "`personas` has 4: the limit of a standard"),
        ({"personas": [persona("a"), persona("A")]}, "`personas` names a twice"),
        ({"personas": [persona("a"), persona("Moderator")]}, r"`personas\[1\].id` is Moderator, and no expert may be"),
        ({"personas": [persona("user"), persona("b")]}, r"`personas\[0\].id` is user"),
        ({"personas": [persona("a b"), persona("b")]}, r"`personas\[0\].id`: letters, digits"),
        ({"personas": [persona("a", mood="x"), persona("b")]}, r"`personas\[0\].mood`"),
        ({"personas": [persona("a", bias="x" * 8_001), persona("b")]}, r"`personas\[0\].bias` has 8,001 characters"),
        (
            {"personas": [persona("a"), persona("b")], "tensions": [{"between": ["a", "c"], "axis": "x"}]},
            r"`tensions\[0\].between` names c",
        ),
    ],
)
def test_a_refusal_names_parameter_and_limit(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CouncilRefused, match=message):
        asked(**settings)


@pytest.mark.parametrize(
    ("mode", "rounds", "bounds"),
    [
        ("deep", None, (3, 5)),
        ("standard", None, (2, 3)),
        ("lightweight", None, (1, 2)),
        ("deep", 2, (2, 2)),
        ("standard", 9, (2, 9)),
    ],
)
def test_rounds_are_those_of_the_mode_unless_asked_for(mode: str, rounds: int | None, bounds: tuple[int, int]) -> None:
    made = asked(mode=mode, rounds=rounds)
    assert (made.least, made.rounds) == bounds


def test_another_mode_keeps_rounds_that_were_asked_for() -> None:
    assert in_mode(asked(), Mode.DEEP).rounds == 5
    assert (in_mode(asked(rounds=2), Mode.DEEP).rounds, in_mode(asked(rounds=2), Mode.DEEP).least) == (2, 2)
    with pytest.raises(CouncilRefused, match="the limit of a deep discussion is 3 to 4"):
        in_mode(asked(personas=[persona("a"), persona("b")]), Mode.DEEP)


def test_a_changed_cast_is_held_to_the_same() -> None:
    experts = tuple(Expert.model_validate(persona(each)) for each in "ab")
    check_cast(Cast(experts=experts), asked())
    with pytest.raises(CouncilRefused, match="names c"):
        check_cast(Cast(experts=experts, tensions=(Tension(between=("a", "c"), axis="x"),)), asked())
    with pytest.raises(CouncilRefused, match="`models` names 'x'"):
        check_cast(Cast(experts=experts, models={"x": "a/b"}), asked())

"""Tests when poor quality of a round is said, with which cause and next step."""

from __future__ import annotations

from typing import Any

import pytest
from tests.council.discussion.records import held, message

from swarmgate.council.discussion.argument.quality import warnings
from swarmgate.council.discussion.model import DiscussionRound

SCORES = ("genuine_disagreement", "evidence_quality", "steel_manning", "novel_insights", "position_evolution")
MILD, COLD, HOT = (
    {"r{}-msg-001": "counters", "r{}-msg-002": "supports"},
    {"r{}-msg-001": "supports"},
    {"r{}-msg-001": "counters"},
)


def a_round(number: int, links: dict[str, str], overall: int = 3, **more: Any) -> DiscussionRound:
    named = {each.format(number): kind for each, kind in links.items()}
    given = {**dict.fromkeys(SCORES, 3), "overall": overall, **more}
    return held(
        number,
        [
            message(number, 1, "position", "economist", "Keep."),
            message(number, 2, "position", "ecologist", "Take."),
            message(number, 3, "attack", "contrarian", "No.", links=named),
            message(number, 4, "assess", "moderator", "So.", assessment=given),
        ],
    )


def test_a_fair_round_is_not_warned_of() -> None:
    assert warnings(a_round(1, MILD), []) == ()


def test_after_the_last_round_the_next_step_is_another_discussion() -> None:
    (told,) = warnings(a_round(1, MILD, 2, novel_insights=1), [], last=True)
    assert told.endswith("Next: discuss it anew with more rounds (--rounds): different-angle")


def test_an_overall_below_three_is_said_with_the_cause_of_the_moderator() -> None:
    (told,) = warnings(a_round(1, MILD, 2, cause="Everybody was polite."), [])
    assert told.startswith("the quality of round 1 is 2 of 5, below 3. Cause: Everybody was polite. Next: ")


@pytest.mark.parametrize(
    ("lowest", "cause"),
    [
        ("genuine_disagreement", "hardly anybody counters anybody"),
        ("evidence_quality", "claims stand without scenarios, numbers or code"),
        ("steel_manning", "views are countered without being put at their strongest"),
        ("novel_insights", "nothing came up that the first positions did not have"),
        ("position_evolution", "nobody moved"),
    ],
)
def test_without_one_the_lowest_score_is_the_cause(lowest: str, cause: str) -> None:
    (told,) = warnings(a_round(1, MILD, 2, **{lowest: 1}), [])
    assert f"Cause: {cause}. Next: " in told
    assert not told.endswith("Next: ")


def test_what_was_measured_comes_before_a_score_and_a_failure_before_both() -> None:
    (cold,) = warnings(a_round(1, COLD, 2, evidence_quality=1), [])
    assert "Cause: hardly anybody counters anybody" in cold
    (hot,) = warnings(a_round(1, HOT, 1, evidence_quality=1), [])
    assert "Cause: they share no premises" in hot
    broken = a_round(1, MILD, 2)
    failed = message(1, 2, "position", "ecologist", failed="no answer")
    (told,) = warnings(broken.model_copy(update={"messages": (broken.messages[0], failed, *broken.messages[2:])}), [])
    assert "Cause: ecologist gave no answer" in told


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (COLD, COLD, "0 and 0 of 10. Cause: hardly anybody counters anybody"),
        (HOT, HOT, "10 and 10 of 10. Cause: they share no premises"),
        (COLD, HOT, "0 and 10 of 10. Cause: they share no premises"),
        (MILD, COLD, ""),
        (COLD, MILD, ""),
    ],
)
def test_disagreement_outside_of_its_budget_is_said_after_two_rounds(
    first: dict[str, str], second: dict[str, str], told: str
) -> None:
    found = warnings(a_round(2, second), [a_round(1, first)])
    assert len(found) == bool(told)
    assert told in "".join(found)
    assert warnings(a_round(1, first), []) == ()

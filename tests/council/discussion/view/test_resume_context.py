"""Tests context/summary.md: the seven items, and its length for discussions of every size."""

from __future__ import annotations

import pytest
from tests.council.discussion.records import held, message, standard

from swarmgate.council.discussion.model import DiscussionRecord, DiscussionRound
from swarmgate.council.discussion.view.resume_context import summary

SCORES = ("genuine_disagreement", "evidence_quality", "steel_manning", "novel_insights", "position_evolution")


def sized(rounds: int, words: int) -> DiscussionRecord:
    """A paused discussion of so many rounds, with so many words in every text."""
    said = ("word " if words % 2 == 0 else "*[w]*_`") * words
    made: list[DiscussionRound] = []
    for number in range(1, rounds + 1):
        given = {
            **dict.fromkeys(SCORES, 3),
            "overall": 2 + number % 3,
            "summary": said,
            "agreements": [{"point": said, "supporters": ["economist"]}],
            "active_disagreements": [{"point": said, "positions": [{"position": said, "advocates": ["ecologist"]}]}],
            "open_questions": [f"{number} {each} {said}" for each in range(5)],
            "recommendation_reason": said,
        }
        made.append(
            held(
                number,
                [
                    message(number, 1, "position", "economist", position={"position": said, "confidence": 0.7}),
                    message(number, 2, "position", "ecologist", position={"position": said, "confidence": 0.6}),
                    message(number, 3, "assess", "moderator", said, assessment=given),
                ],
                made,
                constraints=(said,) * number,
            )
        )
    update = {"rounds": tuple(made), "conclusion": None, "status": "paused", "choices": ()}
    asked = standard().discussion.model_copy(update={"topic": f"Should it go? {said}"})
    return standard().model_copy(update={**update, "discussion": asked})


@pytest.mark.parametrize("rounds", [1, 3, 10])
@pytest.mark.parametrize("words", [4, 40, 800, 801])
def test_it_has_at_most_three_thousand_characters_and_as_many_as_there_are_to_tell(rounds: int, words: int) -> None:
    text = summary(sized(rounds, words))
    assert len(text) <= 3_000
    assert len(text) >= 1_500 or (rounds, words) == (1, 4)
    if words >= 800:
        assert "..." in text
    if (rounds, words) == (10, 800):
        assert "more lines: artifacts/synthesis.md" in text


def test_it_has_the_seven_items_of_a_discussion_that_goes_on() -> None:
    text = summary(sized(3, 4))
    parts = {part.split("\n", 1)[0]: part for part in text.split("\n## ")}
    for title, expected in {
        "Topic": "Should it go?",
        "Progress, the newest round first": "- Round 3: word word word word",
        "Where it stands": "- Round 3 is over",
        "Positions now": "- ecologist, confidence 60%: word word",
        "Open disagreements": "(ecologist)",
        "To address next": "- The moderator recommends continue, because word",
        "Quality over the rounds": "- It is declining: 3 -> 4 -> 2 of 5",
    }.items():
        assert expected in parts[title], title


@pytest.mark.parametrize(("scores", "way"), [((2, 4), "improving"), ((4, 2), "declining"), ((3, 3), "steady")])
def test_it_says_how_the_quality_went(scores: tuple[int, int], way: str) -> None:
    record = sized(2, 4)
    rounds = tuple(
        each.model_copy(
            update={
                "messages": tuple(
                    one.model_copy(update={"assessment": one.assessment.model_copy(update={"overall": score})})
                    if one.assessment
                    else one
                    for one in each.messages
                )
            }
        )
        for each, score in zip(record.rounds, scores, strict=True)
    )
    assert f"It is {way}: {scores[0]} -> {scores[1]} of 5" in summary(record.model_copy(update={"rounds": rounds}))

"""Tests how the moderator's quality gate is read: where scores may stand, lengths, who and how new."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from tests.council.discussion.conftest import SCORES, SUMMARY

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion.answers.assessment import assessment_of
from swarmgate.council.discussion.answers.experts import Part
from swarmgate.council.discussion.findings import Assessment, Level, Strength

NAMES = {"db": "db", "Database Expert": "db", "api": "api"}
POOR = {**SCORES, "overall": 2}
GIVEN = {"qualityScore": POOR, "summary": SUMMARY, "recommendation": "deep-dive"}


def read(fields: Any) -> Part:
    return assessment_of({"r1-msg-005"}, NAMES).read(json.dumps(fields))


def refused(fields: Any) -> tuple[str, Part]:
    with pytest.raises(Unread) as unread:
        read(fields)
    return unread.value.problem, cast("Part", unread.value.otherwise)


@pytest.mark.parametrize(
    "fields",
    [
        GIVEN,
        {"synthesis": GIVEN},
        {"roundId": 2, "messages": [], "synthesis": GIVEN, "metadata": {}},
        {
            **GIVEN,
            "qualityScore": {name: {"score": each, "why": "so"} for name, each in {**SCORES, "overall": 2}.items()},
        },
        {**POOR, "summary": SUMMARY, "recommendation": "Deep Dive"},
        {**GIVEN, "qualityScore": None, "scores": POOR},
    ],
)
def test_scores_stand_in_an_object_of_their_own_at_the_top_or_below_synthesis(fields: dict[str, Any]) -> None:
    """In a text, and as the arguments of a call."""
    form = assessment_of((), NAMES)
    for part in (read(fields), form.take(form.schema.model_validate(fields))):
        made = part["assessment"]
        assert (made.genuine_disagreement, made.overall, str(made.recommendation)) == (3, 2, "deep-dive")


@pytest.mark.parametrize(
    ("size", "asked"), [(0, True), (99, True), (100, False), (200, False), (300, False), (600, False), (601, True)]
)
def test_a_summary_far_from_its_length_is_asked_for_once_more_and_kept_whole(size: int, asked: bool) -> None:  # noqa: FBT001 - a case
    fields = {**GIVEN, "summary": "s" * size}
    if not asked:
        assert read(fields)["noted"] == ()
        return
    problem, part = refused(fields)
    assert f"`summary` has {size} characters; write 200 to 300." in problem
    assert part["assessment"].summary == "s" * size
    assert problem in part["noted"]


FOUND: dict[str, Any] = {
    "keyTakeaway": "Numbers are missing.",
    "agreements": [{"point": "No locks.", "supporters": ["Database Expert", "api", "ghost"], "strength": "Strong"}],
    "activeDisagreements": [
        {"point": "Who leads", "positions": [{"stance": "a conductor", "advocates": ["db"]}, {"stance": "nobody"}]}
    ],
    "insights": [{"insight": "Undo fails too.", "novelty": "high", "source": "r1-msg-005"}],
    "openQuestions": ["How many?", {"question": "Who pays?", "whyOpen": "no numbers", "suggestedApproach": "count"}],
    "recommendationReason": "It is open who leads.",
    "whatWentWrong": "Too polite.",
}


def test_agreements_disagreements_insights_and_questions_keep_their_fields() -> None:
    part = read({**GIVEN, **FOUND})
    made: Assessment = part["assessment"]
    (agreed,), (divided,), (insight,) = made.agreements, made.active_disagreements, made.insights
    assert (agreed.point, agreed.supporters, agreed.strength) == ("No locks.", ("db", "api"), Strength.STRONG)
    assert [(each.position, each.advocates) for each in divided.positions] == [("a conductor", ("db",)), ("nobody", ())]
    assert (insight.text, insight.novelty, insight.source) == ("Undo fails too.", Level.HIGH, ("r1-msg-005",))
    assert [(each.question, each.why_open, each.suggested_approach) for each in made.open_questions] == [
        ("How many?", "", ""),
        ("Who pays?", "no numbers", "count"),
    ]
    assert (made.key_takeaway, made.recommendation_reason) == ("Numbers are missing.", "It is open who leads.")
    assert made.cause == "Too polite."
    assert part["noted"] == ("ghost is no voice",)


@pytest.mark.parametrize(
    ("said", "kind", "focus"),
    [
        ("deep-dive", "deep-dive", ""),
        ("deep-dive on who leads", "deep-dive", "who leads"),
        ("Deep dive: who leads", "deep-dive", "who leads"),
        ("different-angle, from the town", "different-angle", "the town"),
        ("synthesize", "synthesize", ""),
    ],
)
def test_what_stands_behind_a_recommendation_is_its_focus(said: str, kind: str, focus: str) -> None:
    made = read({**GIVEN, "recommendation": said})["assessment"]
    assert (str(made.recommendation), made.focus) == (kind, focus)
    assert read({**GIVEN, "recommendation": said, "focus": "cost"})["assessment"].focus == "cost"


@pytest.mark.parametrize("said", ["stop", "", None, "continued", "I would deep-dive"])
def test_what_is_no_recommendation_is_asked_for_once_more(said: str | None) -> None:
    with pytest.raises(Unread, match=r"recommendation"):
        read({**GIVEN, "recommendation": said})


def test_what_is_given_as_text_or_in_another_shape_is_words_and_never_json() -> None:
    insight = {"finding": "a", "by": ["r1-msg-005"]}
    made: Assessment = read({**GIVEN, "agreements": ["It costs."], "insights": [insight], "flag": True})["assessment"]
    assert (made.agreements[0].point, made.cause) == ("It costs.", "")
    assert made.insights[0].text == "finding: a; by: r1-msg-005"


def test_sides_may_stand_under_the_names_of_voices_in_any_spelling() -> None:
    sides = {"Database expert": "one writer", "API": ["many"]}
    (made,) = read({**GIVEN, "activeDisagreements": {"point": "who writes", "positions": sides}})[
        "assessment"
    ].active_disagreements
    assert [(each.position, each.advocates) for each in made.positions] == [("one writer", ("db",)), ("many", ("api",))]


def test_an_assessment_of_an_older_record_is_read() -> None:
    old = {**SCORES, "agreements": ["It costs."], "activeDisagreements": ["Who pays."], "openQuestions": ["Why?"]}
    made = Assessment.model_validate({**old, "insights": [{"text": "new", "source": ["r1-msg-005"]}], "focus": "cost"})
    assert (made.agreements[0].point, made.active_disagreements[0].point) == ("It costs.", "Who pays.")
    assert (made.open_questions[0].question, made.insights[0].novelty, made.summary) == ("Why?", None, "")

"""Tests how a conclusion is read and checked: every form of its parts, lengths, evidence beside what is claimed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.council.discussion.conftest import EXECUTIVE
from tests.council.discussion.records import CAST, standard

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion.answers.synthesis import Checks, conclusion_of
from swarmgate.council.discussion.argument.agreement import agreed_by
from swarmgate.council.discussion.argument.evidence import Evidence
from swarmgate.council.discussion.findings import Conclusion, Level

ROUNDS = standard().rounds
CHECKS = Checks(
    ids=frozenset(each.id for held in ROUNDS for each in held.messages if not each.failed),
    names={"economist": "economist", "Ada Marsh": "economist", "ecologist": "ecologist"},
    agreed_by=lambda cites: agreed_by(ROUNDS, CAST, cites),
    evidence=Evidence(ROUNDS),
    conditions=lambda _: (),
)


def read(**fields: Any) -> Conclusion:
    return conclusion_of(CHECKS).read(json.dumps({"executiveSummary": EXECUTIVE, **fields}))


def refused(**fields: Any) -> tuple[str, Conclusion]:
    with pytest.raises(Unread) as unread:
        read(**fields)
    return unread.value.problem, cast("Conclusion", unread.value.otherwise)


def test_an_insight_keeps_its_confidence_beside_that_of_its_evidence() -> None:
    evidence = [{"messageId": "r2-msg-003", "summary": "fills by 2040"}]
    against = [
        {"messageId": "r2-msg-006", "summary": "the flood", "refuted": True},
        {"messageId": "r1-msg-007", "summary": "fish", "refuted": "No, nobody answered it."},
    ]
    (made,) = read(
        insights=[
            {
                "title": "Silt decides",
                "description": "before repair does",
                "confidence": "HIGH",
                "confidenceReason": "it was measured",
                "supportingEvidence": evidence,
                "dissentingViews": against,
            }
        ]
    ).insights
    assert (made.text, made.description, made.cites) == ("Silt decides", "before repair does", ("r2-msg-003",))
    assert (made.confidence, made.confidence_reason) == (Level.HIGH, "it was measured")
    assert [(each.cites, each.refuted, each.answered) for each in made.dissenting_views] == [
        (("r2-msg-006",), True, False),
        (("r1-msg-007",), False, False),
    ]
    assert made.weight
    assert (made.weight.cited, made.weight.countered, made.weight.unanswered) == (1, 2, 2)
    assert made.weight.confidence is Level.LOW


def test_an_insight_that_cites_nothing_is_asked_for_once_more() -> None:
    problem, kept = refused(insights=[{"title": "new"}, {"title": "old", "cites": ["r1-msg-004"]}])
    assert "Insight 1 cites no message" in problem
    assert (kept.insights[0].text, kept.noted) == ("new", ("insight 1 cites no message",))
    assert kept.insights[0].weight
    assert kept.insights[0].weight.confidence is Level.LOW
    assert read(insights=["As r1-msg-004 shows, repair is cheap."]).insights[0].cites == ("r1-msg-004",)


@pytest.mark.parametrize("field", ["supportingEvidence", "dissentingViews"])
def test_ids_in_evidence_that_do_not_exist_are_sent_back(field: str) -> None:
    insight = {"title": "new", "cites": ["r1-msg-004"], field: [{"messageId": "r9-msg-001", "summary": "x"}]}
    problem, kept = refused(insights=[insight])
    assert "There is no message r9-msg-001" in problem
    assert "it cites messages that do not exist: r9-msg-001" in kept.noted


@pytest.mark.parametrize(
    ("said", "level"),
    [("high", "high"), ("Medium (two traces)", "medium"), ("LOW: a guess", "low"), ("highest", None), (0.8, None)],
)
def test_a_confidence_is_one_of_three_words_whatever_stands_behind_it(said: Any, level: str | None) -> None:
    (made,) = read(insights=[{"title": "new", "cites": ["r1-msg-004"], "confidence": said}]).insights
    assert made.confidence == level


def test_evidence_may_be_ids_alone() -> None:
    insight = {"title": "new", "supportingEvidence": ["r1-msg-004"], "dissentingViews": ["r2-msg-003"]}
    (made,) = read(insights=[insight]).insights
    assert (made.cites, made.supporting_evidence[0].summary) == (("r1-msg-004",), "")
    assert made.dissenting_views[0].cites == ("r2-msg-003",)


def test_the_minority_keeps_whose_it_is_and_whether_it_holds() -> None:
    view = {"position": "Floods first.", "advocate": "Ada Marsh", "reason": "rare", "stillValid": True, "note": "1953"}
    (made,) = read(minorityReport=[view]).minority_report
    assert (made.text, made.advocate, made.reason, made.still_valid, made.note) == (
        *("Floods first.", "economist", "rare"),
        *(True, "1953"),
    )
    assert read(minorityReport=["Floods first."]).minority_report[0].still_valid is None


def test_debates_questions_recommendations_and_journeys_keep_their_fields() -> None:
    sides = [
        {"stance": "a price", "advocates": ["economist"], "arguments": ["it sells", "r1-msg-001"]},
        {"stance": "a right", "advocates": ["ecologist"], "arguments": ["it lives"]},
    ]
    made = read(
        unresolvedDebates=[{"topic": "What a river is", "positions": sides, "whyUnresolved": "no common measure"}],
        openQuestions=[{"question": "Who pays?", "whyOpen": "no numbers", "suggestedApproach": "ask the town"}],
        recommendations=[
            {"action": "Measure", "confidence": "medium", "risk": "a dry year", "prerequisite": "a boat"},
            {"text": "Wait", "cites": ["r1-msg-004", "r1-msg-008"]},
        ],
        positionEvolution=[
            {"expert": "economist", "journey": ["keep", "ten years", "down"], "keyTurningPoints": ["r2-msg-003"]}
        ],
        metaObservations={"quality": "fair", "blindSpots": ["the town", "the fish"]},
    )
    (debate,) = made.unresolved_debates
    assert (debate.why, [each.position for each in debate.positions]) == ("no common measure", ["a price", "a right"])
    assert debate.positions[0].arguments == ("it sells", "r1-msg-001")
    assert made.open_questions[0].suggested_approach == "ask the town"
    first, second = made.recommendations
    assert (first.text, first.confidence, first.risk, first.prerequisite, first.weight) == (
        *("Measure", Level.MEDIUM, "a dry year", "a boat"),
        None,
    )
    assert second.weight
    (journey,) = made.journeys
    assert (journey.expert, journey.journey[-1], journey.cites) == ("economist", "down", ("r2-msg-003",))
    assert made.position_evolution == ""
    assert made.meta_observations == "quality: fair; blindspots: the town\nthe fish"


def test_an_agreement_without_a_way_is_told_by_its_messages_alone() -> None:
    listed = [
        {"point": "It goes.", "supporters": ["economist", "ecologist"], "strength": "strong", "cites": ["r2-msg-003"]},
        {"point": "It is old.", "supporters": ["nobody"], "strength": "weak"},
    ]
    made = read(agreements=listed)
    assert [(each.resolved_by, each.supporters, str(each.strength)) for each in made.agreements] == [
        ("argument", ("economist", "ecologist"), "strong"),
        ("unproven", (), "weak"),
    ]
    shown = "agreement 2: it cites no message, which shows neither an argument nor a majority"
    assert made.noted == (shown, "nobody is no voice")


@pytest.mark.parametrize(("size", "asked"), [(249, True), (250, False), (800, False), (1_600, False), (1_601, True)])
def test_a_summary_far_from_its_length_is_asked_for_once_more_and_kept_whole(size: int, asked: bool) -> None:  # noqa: FBT001 - a case
    if not asked:
        assert read(executiveSummary="s" * size).noted == ()
        return
    problem, kept = refused(executiveSummary="s" * size)
    assert f"`executiveSummary` has {size:,} characters; write 500 to 800." in problem
    assert (kept.executive_summary, kept.noted) == ("s" * size, (problem,))


def test_a_conclusion_under_a_key_of_its_own_is_read() -> None:
    given = {"synthesis": {"executiveSummary": EXECUTIVE, "openQuestions": ["Why?"]}}
    form = conclusion_of(CHECKS)
    for made in (form.read(json.dumps(given)), form.take(form.schema.model_validate(given))):
        assert made.open_questions[0].question == "Why?"


def test_what_is_said_by_expert_may_stand_under_its_name() -> None:
    claims: dict[str, Any] = {}

    def conditions(given: Any) -> tuple[()]:
        claims.update(given)
        return ()

    checks = replace(CHECKS, conditions=conditions)
    said = {
        "positionEvolution": {"Ada Marsh": ["repair", "remove"], "ecologist": {"journey": ["remove"]}},
        "wouldChangeIf": {"ada_marsh": {"cameUp": True, "cites": ["r2-msg-003"]}, "ecologist": "no, it did not"},
    }
    made = conclusion_of(checks).read(json.dumps({"executiveSummary": EXECUTIVE, **said}))
    assert {each.expert: each.journey for each in made.journeys} == {
        "economist": ("repair", "remove"),
        "ecologist": ("remove",),
    }
    assert claims == {"economist": (True, ("r2-msg-003",)), "ecologist": (False, ())}
    assert made.noted == ()


def test_an_empty_summary_is_asked_for_by_its_name() -> None:
    with pytest.raises(Unread, match="`executiveSummary`: must not be empty"):
        read(executiveSummary="")


def test_the_id_of_a_message_stands_once_before_what_it_says() -> None:
    (made,) = read(insights=[{"title": "t", "supportingEvidence": "r2-msg-003: fills by 2040"}]).insights
    assert [(each.cites, each.summary) for each in made.supporting_evidence] == [(("r2-msg-003",), "fills by 2040")]


def test_a_conclusion_of_an_older_record_is_read() -> None:
    old = {
        "executiveSummary": "It depends.",
        "insights": [{"text": "new", "cites": ["r1-msg-001"], "dissent": "no", "unresolved": []}],
        "minorityReport": [{"text": "less", "cites": [], "dissent": "", "unresolved": []}],
        "unresolvedDebates": [{"topic": "who", "why": "", "cites": []}],
        "openQuestions": ["Why?"],
        "recommendations": [{"text": "wait", "cites": [], "dissent": "", "unresolved": []}],
    }
    made = Conclusion.model_validate(old)
    assert (made.insights[0].weight, made.open_questions[0].question) == (None, "Why?")

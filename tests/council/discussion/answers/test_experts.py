"""Tests the parsing of answers in a discussion into typed fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion.answers.assessment import assessment_of
from swarmgate.council.discussion.answers.experts import Part, Reader
from swarmgate.council.discussion.answers.moderation import framing_of, question_of
from swarmgate.council.discussion.model import Relation, ShiftKind

READER = Reader("ann", {"r1-msg-001": "ann", "r1-msg-002": "bob", "r1-msg-003": "moderator"})


def said(**fields: Any) -> str:
    return f"I say so.\n```json\n{json.dumps(fields)}\n```"


def kept(read: Callable[[str], Part], text: str) -> Part:
    """What an answer comes to that stays as it is when asked once more."""
    try:
        return read(text)
    except Unread as unread:
        return cast("Part", unread.otherwise)


@pytest.mark.parametrize("confidence", ["0.8", "high", None, 1.5, -0.1, True, [0.5]])
def test_a_confidence_is_a_number_of_0_to_1_and_nothing_else(confidence: Any) -> None:
    with pytest.raises(Unread, match="confidence"):
        READER.position.read(said(position="yes", confidence=confidence))


@pytest.mark.parametrize("text", ["My position: yes. Confidence: 0.8", "confidence 85%", ""])
def test_no_position_is_taken_from_prose(text: str) -> None:
    with pytest.raises(Unread):
        READER.position.read(text)


def test_both_spellings_are_read_and_unknown_keys_ignored() -> None:
    part = READER.position.read(
        said(position="yes", confidence=1, would_change_if="rain", keyRisk="sun", conditions="if", x=1)
    )
    assert part["text"] == "I say so."
    assert part["position"].model_dump(by_alias=False) == {
        "position": "yes",
        "confidence": 1.0,
        "conditions": ("if",),
        "would_change_if": "rain",
        "key_risk": "sun",
    }


def test_links_are_read_in_other_words_and_each_once() -> None:
    relations = [
        {"target": "r1-msg-002", "type": "Responds-To"},
        {"id": "r1-msg-002", "relation": "responds_to"},
        {"to": "[r1-msg-003]", "kind": "COUNTERS", "steel_man": "at best"},
    ]
    links = READER.argument.read(said(relations=relations))["links"]
    assert [(each.to, each.kind, each.steel_man) for each in links] == [
        ("r1-msg-002", Relation.RESPONDS_TO, ""),
        ("r1-msg-003", Relation.COUNTERS, "at best"),
    ]


@pytest.mark.parametrize(
    ("links", "problem", "left"),
    [
        ([], "links to no message", 0),
        ([{"to": "r1-msg-002", "kind": "likes"}], "`kind` of supports, counters", 0),
        ([{"to": "r1-msg-002", "kind": "counters"}], "without a `steelMan`", 1),
        ([{"to": "r1-msg-001", "kind": "supports"}], "own message", 0),
        ([{"to": "r1-msg-009", "kind": "supports"}], "shown no message r1-msg-009", 0),
    ],
)
def test_what_is_wrong_with_links_is_asked_for_and_else_noted(links: list[Any], problem: str, left: int) -> None:
    with pytest.raises(Unread, match=problem) as unread:
        READER.argument.read(said(links=links))
    otherwise = unread.value.otherwise
    assert isinstance(otherwise, dict)
    assert len(otherwise["links"]) == left
    assert problem.rsplit(maxsplit=1)[-1] in " ".join(otherwise["noted"])


def test_prose_alone_counters_nothing_and_nothing_at_all_is_none() -> None:
    part = READER.argument.read("It counters r1-msg-002.")
    assert part["text"] == "It counters r1-msg-002."
    assert [each.kind for each in part["links"]] == [Relation.RESPONDS_TO]
    with pytest.raises(Unread, match="no prose") as empty:
        READER.argument.read(json.dumps({"links": [{"to": "r1-msg-002", "kind": "extends"}]}))
    assert empty.value.otherwise is None


@pytest.mark.parametrize("id_", ["R1-MSG-002", "r1-msg-2", "#r1-msg-002", "Message r1-msg-0002 of bob"])
def test_an_id_is_known_in_capitals_without_zeros_and_among_words(id_: str) -> None:
    (link,) = READER.argument.read(said(references=[{"targetId": id_, "relation": "support"}]))["links"]
    assert (link.to, link.kind) == ("r1-msg-002", Relation.SUPPORTS)
    moved = {"kind": "minor shift", "from": "no", "to": "yes", "reason": "so it is", "trigger": f"Regarding {id_}"}
    part = READER.response.read(said(positionShift=moved, references=[id_]))
    assert (part["shift"].kind, part["shift"].cites) == (ShiftKind.MINOR, ("r1-msg-002",))
    assert (part["shift"].previous_position, part["position"].position) == ("no", "yes")


def test_words_around_an_id_that_was_not_shown_are_no_ids() -> None:
    shift = {"kind": "major", "reason": "r", "trigger": "Message #msg-007 from operations-engineer"}
    part = kept(READER.response.read, said(shift=shift))
    assert part["unresolved"] == ("#msg-007",)
    assert part["shift"].refused


def test_each_of_several_counters_has_the_steel_man_that_is_restated_for_it() -> None:
    seen = {"r1-msg-002": "bob", "r1-msg-003": "moderator", "r1-msg-006": "contrarian"}
    links = [{"targetId": each, "relation": "counters"} for each in ("r1-msg-002", "r1-msg-006", "r1-msg-003")]
    told = [
        "Regarding r1-msg-006: I understand the position: [Queues show delays.] My concern with this is r1-msg-002.",
        "As for r1-msg-002, to confirm that I understand it: events keep teams free. My concern with this is order.",
    ]
    part = kept(Reader("ann", seen).argument.read, json.dumps({"counterpoints": told, "references": links}))
    assert {each.to: each.steel_man for each in part["links"]} == {
        "r1-msg-002": "events keep teams free.",
        "r1-msg-006": "Queues show delays.",
        "r1-msg-003": "",
    }
    assert part["noted"] == ("You counter r1-msg-003 without a `steelMan`, the strongest form of what it says.",)


def test_an_id_without_a_round_is_that_of_the_newest_message_with_its_number() -> None:
    reader = Reader("ann", {"r1-msg-007": "bob", "r2-msg-007": "operations-engineer", "r2-msg-001": "ann"})
    moved = {"type": "major", "from": "no", "to": "yes", "trigger": "Message #msg-007 from operations-engineer"}
    read = reader.response.read(said(shift={**moved, "reasoning": "r"}, references=[{"targetId": "msg-7"}]))
    assert (read["shift"].cites, read["position"].position) == (("r2-msg-007",), "yes")
    assert [each.to for each in read["links"]] == ["r2-msg-007"]
    countered = said(links=[{"to": "#msg-007", "kind": "counters"}], steelMan="It is at its strongest here.")
    assert reader.argument.read(countered)["links"][0].steel_man
    assert kept(reader.argument.read, said(links=[{"to": "msg-008", "kind": "supports"}]))["unresolved"] == ("msg-008",)


@pytest.mark.parametrize(("position", "refused"), [("no", False), ("", False), ("yes", True)])
def test_a_new_position_without_the_kind_of_its_shift_is_refused(position: str, *, refused: bool) -> None:
    reader = Reader("ann", {"r1-msg-002": "bob"}, stands="no")
    given = said(shift={"kind": "sideways"}, position=position, references=["r1-msg-002"])
    part = kept(reader.response.read, given)
    assert bool(part["shift"].refused) == refused
    assert "position" not in part or part["position"].position == "no"


@pytest.mark.parametrize("content", [["Nobody pays.", "Nobody asks."], [["Nobody pays."], "Nobody asks."]])
def test_prose_may_be_a_list(content: Any) -> None:
    links = [{"targetId": "r1-msg-002", "type": "questions"}]
    assert (
        READER.attack.read(json.dumps({"content": content, "references": links}))["text"]
        == "Nobody pays.\nNobody asks."
    )
    listed = READER.position.read(json.dumps([{"position": "p", "confidence": 1, "wouldChangeIf": "rain"}]))
    assert listed["text"] == "p"


@pytest.mark.parametrize(
    ("said_", "is_one"),
    [
        ("Nothing could change my mind.", False),
        ("nothing at all", False),
        ("No argument would convince me of that!", False),
        ("...", False),
        (False, False),
        ("n/a", False),
        ("Nothing less than a trace of a thousand requests", True),
        ("No outage in a year", True),
        ("证据", True),
    ],
)
def test_what_would_change_a_mind_is_more_than_a_denial(said_: Any, *, is_one: bool) -> None:
    part = kept(READER.position.read, said(position="yes", confidence=0.5, wouldChangeIf=said_))
    assert bool(part["position"].would_change_if) is is_one
    assert bool(part["noted"]) is not is_one


def test_questions_may_stand_under_the_names_of_those_who_are_asked_or_go_to_all() -> None:
    names = {"api-designer": "api-designer", "API Designer": "api-designer", "bob": "bob"}
    lines = [{"between": ["Api designer", "BOB"], "axis": "cost"}]

    def framed(questions: Any) -> Any:
        part = framing_of(names).read(said(faultLines=lines, questions=questions, disagreementBudget=4))
        assert part["noted"] == ()
        return part["framing"]

    asked = framed({"API Designer": "Why?", "bob": {"question": "How?"}})
    assert [(each.to, each.text) for each in asked.questions] == [(("api-designer",), "Why?"), (("bob",), "How?")]
    assert asked.fault_lines[0].between == ("api-designer", "bob")
    assert [each.to for each in framed([{"to": "all", "text": "Who?"}, "Who else?"]).questions] == [(), ()]


def test_an_attack_counters_or_questions() -> None:
    with pytest.raises(Unread, match="neither counters nor questions"):
        READER.attack.read(said(links=[{"to": "r1-msg-002", "kind": "supports"}]))
    assert READER.attack.read(said(links=[{"to": "r1-msg-002", "kind": "questions"}]))["links"]


@pytest.mark.parametrize(
    ("shift", "kind", "refused"),
    [
        ({"kind": "minor", "reason": "so", "cites": ["r1-msg-002"]}, ShiftKind.MINOR, False),
        ({"kind": "none"}, ShiftKind.NONE, False),
        ({"kind": "major", "cites": ["r1-msg-001"]}, ShiftKind.NONE, True),
        ({"kind": "major", "cites": ["r8-msg-001"]}, ShiftKind.NONE, True),
        ({"kind": "total", "cites": ["r1-msg-002"]}, ShiftKind.NONE, False),
        ("major", ShiftKind.NONE, True),
    ],
)
def test_a_shift_rests_on_a_message_of_somebody_else(shift: Any, kind: ShiftKind, *, refused: bool) -> None:
    part = kept(READER.response.read, said(links=[{"to": "r1-msg-002", "kind": "supports"}], shift=shift))
    assert (part["shift"].kind, bool(part["shift"].refused)) == (kind, refused)


def test_a_frame_names_voices_and_keeps_to_the_budget() -> None:
    lines = [{"between": ["ann", "zoe"], "axis": "cost"}, {"axis": ""}]
    part = framing_of({"ann": "ann", "bob": "bob"}).read(said(faultLines=lines, disagreementBudget=9))
    assert [each.between for each in part["framing"].fault_lines] == [("ann",)]
    assert part["framing"].disagreement_budget == 6
    assert part["noted"] == ("zoe is no voice", "disagreementBudget 9 was taken as 6")
    for wrong in ({"faultLines": [], "disagreementBudget": 4}, {"faultLines": lines, "disagreementBudget": "4"}):
        with pytest.raises(Unread):
            framing_of({"ann": "ann"}).read(said(**wrong))


def test_an_assessment_has_six_numbers_and_one_of_four_recommendations() -> None:
    names = ("genuineDisagreement", "evidenceQuality", "steelManning", "novelInsights", "positionEvolution", "overall")
    scores = dict.fromkeys(names, 2)
    given = {"scores": scores, "overall": 0, "recommendation": "Deep Dive", "insights": ["new"], "summary": "s" * 250}
    part = assessment_of((), {}).read(said(**given))
    assert (part["assessment"].overall, part["assessment"].recommendation) == (1, "deep-dive")
    good: dict[str, Any] = {**scores, "recommendation": "continue", "summary": "s" * 250}
    assert assessment_of((), {}).read(said(**good))["assessment"].recommendation == "continue"
    wrongs = ("stop", None, "continue|deep-dive|different-angle|synthesize")
    bad: list[dict[str, Any]] = [{"overall": "4/5"}, {"evidenceQuality": None}]
    for wrong in (*bad, *({"recommendation": each} for each in wrongs)):
        with pytest.raises(Unread):
            assessment_of((), {}).read(said(**{**good, **wrong}))


def test_a_question_is_prose_or_a_text() -> None:
    assert question_of("What if?")["text"] == question_of('{"question": "What if?"}')["text"] == "What if?"
    with pytest.raises(Unread):
        question_of('{"x": 1}')

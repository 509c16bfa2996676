"""Tests answers in a discussion that deviate from the requested form: one JSON object for all steps, odd values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.council.discussion.conftest import SCORES, SUMMARY, Room, assessed, concluded, linked, of, response, rule

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion.answers.assessment import assessment_of
from swarmgate.council.discussion.answers.experts import Part, Reader
from swarmgate.council.discussion.answers.moderation import framing_of, question_of, record_of
from swarmgate.council.discussion.answers.values import LONGEST, message_ids
from swarmgate.council.discussion.model import Relation, ShiftKind, Step
from swarmgate.council.participants.answer_prose import shortened

Make = Callable[..., Room]
READER = Reader("ann", {"r1-msg-001": "ann", "r1-msg-002": "bob", "r1-msg-003": "cy"})
EXPERTS = ("Security Lead", "Ops Lead", "Lawyer", "Economist")
BLOB: dict[str, Any] = {
    "experts": [{"id": each, "name": each, "expertise": f"knows {each}"} for each in EXPERTS],
    "tensions": [{"between": EXPERTS[:2], "axis": "speed"}],
    "position": "I hold X",
    "confidence": 0.7,
    "conditions": ["c"],
    "wouldChangeIf": "w",
    "keyRisk": "k",
    "faultLines": [{"between": ["Security Lead"], "axis": "a"}],
    "disagreementBudget": 4,
    "links": [
        {"to": "r1-msg-001", "kind": "counters", "steelMan": "the best form of it"},
        {"to": "r1-msg-002", "kind": "supports"},
    ],
    "shift": "none",
    "reason": "nothing moved me",
    **dict.fromkeys(SCORES, 4),
    "agreements": ["a"],
    "activeDisagreements": ["b"],
    "insights": [{"text": "i", "source": ["r1-msg-001"]}],
    "openQuestions": ["q"],
    "recommendation": "synthesize",
    "executiveSummary": "sum",
    "minorityReport": [{"text": "m", "cites": ["r1-msg-002"]}],
    "unresolvedDebates": [{"topic": "t", "why": "w"}],
    "recommendations": ["do"],
    "metaObservations": "meta",
}


def snake(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", key): snake(each) for key, each in value.items()
        }
    return [snake(each) for each in value] if isinstance(value, list) else value


def said(**fields: Any) -> str:
    return f"I say so.\n{json.dumps(fields)}"


def asked_twice(read: Callable[[str], Part], text: str) -> tuple[str, Part]:
    """What the voice is told, and what its answer comes to where it stays as it is."""
    with pytest.raises(Unread) as unread:
        read(text)
    return unread.value.problem, cast("Part", unread.value.otherwise)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("lightweight", json.dumps(BLOB)),
        ("standard", f"```json\n{json.dumps(snake(BLOB), indent=1)}\n```"),
        ("deep", json.dumps({**BLOB, "content": "I say"})),
    ],
)
async def test_one_object_for_all_steps_holds_a_discussion_in_every_mode(room: Make, mode: str, text: str) -> None:
    there = room()
    there.server.stop()
    there.server = type(there.server)([{"match": {"role": "participant"}, "replies": [{"text": text}]}]).start()
    try:
        record = await there.hold(mode=mode, rounds=1)
    finally:
        there.server.stop()
    messages = [each for held in record.rounds for each in held.messages]
    assert (record.status, [each.failed for each in messages if each.failed]) == ("complete", [])
    assert all(each.text for each in messages if each.step not in (Step.FRAME, Step.ASSESS))
    framing = of(record.rounds[0], Step.FRAME)[0].framing
    assert framing
    assert framing.fault_lines[0].between == ("security-lead",)
    assert record.conclusion
    assert [each.resolved_by for each in record.conclusion.agreements] == ["unproven"]
    assert "neither an argument nor a majority" in record.conclusion.noted[0]


@pytest.mark.parametrize(
    "key", ["content", "message", "response", "reply", "statement", "claim", "analogy", "position", "reason"]
)
def test_prose_may_stand_in_the_object(key: str) -> None:
    links = [{"to": "r1-msg-002", "kind": "extends"}]
    assert READER.argument.read(json.dumps({key: "I say so.", "links": links}))["text"] == "I say so."
    assert question_of(json.dumps({key: "What if?"}))["text"] == record_of(json.dumps({key: "What if?"}))["text"]


@pytest.mark.parametrize("confidence", [85, "0.7", "70%", "high", None, True, -0.1])
def test_a_position_without_a_readable_confidence_is_kept_as_of_unknown_confidence(confidence: Any) -> None:
    problem, part = asked_twice(READER.position.read, json.dumps({"position": "yes", "confidence": confidence}))
    assert "JSON number of 0 to 1" in problem
    assert (part["position"].position, part["position"].confidence) == ("yes", None)
    assert "`confidence` must be" in part["noted"][0]


async def test_an_unknown_confidence_is_shown_as_such_everywhere(room: Make) -> None:
    there = room(rule("position", json.dumps({"position": "yes", "confidence": "70%"})))
    record = await there.hold()
    assert record.status == "complete"
    assert "confidence unknown" in (there.folder / "progress.md").read_text()
    assert "confidence unknown" in (there.folder / "context/summary.md").read_text()
    assert "| unknown |" in (there.folder / "artifacts/position-evolution.md").read_text()
    assert "position, confidence unknown: yes" in there.brief("argue", "economist")
    assert len(there.requests("position")) == 4


def test_links_of_two_objects_are_joined_and_a_conflict_keeps_the_prose() -> None:
    both = [{"links": [{"to": f"r1-msg-00{each}", "kind": "extends"}]} for each in (2, 3)]
    part = READER.argument.read("\nand\n".join(["I say", *map(json.dumps, both)]))
    assert [each.to for each in part["links"]] == ["r1-msg-002", "r1-msg-003"]
    problem, part = asked_twice(READER.response.read, 'So.\n{"shift": "none"}\n{"shift": "major"}')
    assert "two different things" in problem
    assert (part["text"], part["links"]) == ("So.\n\n", ()) or part["text"].startswith("So.")


@pytest.mark.parametrize(
    "fields",
    [
        {"positionShift": "major", "reason": "so", "cites": ["r1-msg-002"]},
        {"shift": "major", "shiftReason": "so", "shiftCites": "r1-msg-002, r1-msg-003"},
        {"shift": {"kind": "major", "reason": "so", "cites": [{"id": "r1-msg-002"}]}},
        {"shift": {"kind": "major", "reason": "so", "cite": "r1-msg-002"}},
        {"shift": "major", "reason": "so", "cites": "r1-msg-002; and r1-msg-003"},
    ],
)
def test_a_shift_is_read_in_other_forms(fields: dict[str, Any]) -> None:
    part = READER.response.read(said(links=["r1-msg-002"], position="new", confidence=0.5, **fields))
    shift = part["shift"]
    assert (shift.kind, shift.reason, shift.cites[0], shift.refused) == (ShiftKind.MAJOR, "so", "r1-msg-002", "")
    assert part["position"].position == "new"


def test_a_shift_without_a_reason_is_asked_for_once_more_and_then_refused() -> None:
    shift = {"kind": "minor", "reason": " ", "cites": ["r1-msg-002"]}
    problem, part = asked_twice(
        READER.response.read, said(links=["r1-msg-002"], shift=shift, position="new", confidence=0.5)
    )
    assert "must say why" in problem
    assert (part["shift"].kind, "gives no reason" in part["shift"].refused) == (ShiftKind.NONE, True)
    assert "position" not in part


def test_a_position_beside_no_shift_is_kept() -> None:
    part = READER.response.read(said(links=["r1-msg-002"], shift="none", position="as before", confidence=0.4))
    assert (part["shift"].kind, part["position"].position) == (ShiftKind.NONE, "as before")


@pytest.mark.parametrize(
    "fields", [{"links": ["r1-msg-002"]}, {"references": "r1-msg-002"}, {"cites": [{"messageId": "r1-msg-002"}]}]
)
def test_ids_without_a_kind_are_answered(fields: dict[str, Any]) -> None:
    assert [(each.to, each.kind) for each in READER.argument.read(said(**fields))["links"]] == [
        ("r1-msg-002", Relation.RESPONDS_TO)
    ]


def test_a_steel_man_beside_the_only_counter_is_its_own() -> None:
    link = {"to": "r1-msg-002", "kind": "counters"}
    part = READER.argument.read(said(links=[link], steelMan="it is the best there is"))
    assert part["links"][0].steel_man == "it is the best there is"
    other = {"to": "r1-msg-003", "kind": "counters"}
    assert "without a `steelMan`" in asked_twice(READER.argument.read, said(links=[link, other], steelMan="x y z"))[0]


def test_ids_in_prose_are_answered_if_they_were_shown_and_named_if_not() -> None:
    text = "As r1-msg-003 says, and r1-msg-001, and r7-msg-001: no.\n" + json.dumps(
        {"links": [{"to": "r1-msg-002", "kind": "extends"}]}
    )
    part = READER.argument.read(text)
    assert [(each.to, str(each.kind)) for each in part["links"]] == [
        ("r1-msg-002", "extends"),
        ("r1-msg-003", "responds_to"),
    ]
    assert part["unresolved"] == ("r7-msg-001",)


def test_fault_lines_may_be_texts_and_name_experts_by_name() -> None:
    voices = {"Ann Lee": "ann", "ann": "ann", "bob": "bob"}
    problem, part = asked_twice(lambda text: framing_of(voices).read(text), said(faultLines=["cost against speed"]))
    assert "disagreementBudget" in problem
    framing = part["framing"]
    assert (framing.fault_lines[0].axis, framing.disagreement_budget) == ("cost against speed", 4)
    assert "4 was taken" in part["noted"][-1]
    lines = [{"between": ["Ann Lee", "ann", "bob"], "axis": "x"}]
    framing = framing_of(voices).read(said(faultLines=lines, disagreementBudget=4))["framing"]
    assert framing.fault_lines[0].between == ("ann", "bob")


async def test_summaries_far_from_their_lengths_are_asked_for_once_more_and_shown_as_they_stay(room: Make) -> None:
    mended = room(rule("assess", assessed(summary="Short."), assessed()), rule("conclude", concluded()))
    record = await mended.hold()
    given = of(record.rounds[0], Step.ASSESS)[0]
    assert given.assessment
    assert (given.assessment.summary, given.noted, len(mended.requests("assess"))) == (SUMMARY.strip(), (), 2)
    assert "`summary` has 6 characters; write 200 to 300." in str(mended.requests("assess")[1].messages[-1]["content"])
    kept = room(rule("assess", assessed(summary="Short.")), rule("conclude", concluded(executiveSummary="So.")))
    record = await kept.hold()
    assert (len(kept.requests("assess")), len(kept.requests("conclude")), record.status) == (2, 2, "complete")
    progress = (kept.folder / "progress.md").read_text()
    assert "Short." in progress
    assert "write 200 to 300" in progress
    assert "write 500 to 800" in (kept.folder / "artifacts/synthesis.md").read_text()


def test_typed_texts_are_bounded_and_that_is_noted() -> None:
    link = {"to": "r1-msg-002", "kind": "counters", "steelMan": "s " * 50_000}
    part = READER.argument.read(said(links=[link]))
    assert len(part["links"][0].steel_man) <= LONGEST
    assert "`links` was cut" in part["noted"][0]
    scores = dict.fromkeys(SCORES, 3)
    fields = {**scores, "summary": SUMMARY, "recommendation": "continue", "agreements": ["a " * 9_000]}
    part = assessment_of((), {}).read(said(**fields))
    assert len(part["assessment"].agreements[0].point) <= LONGEST
    assert part["noted"]


def test_a_text_is_cut_between_words_so_that_no_half_of_a_key_is_left() -> None:
    assert shortened("word " + "k" * 20, 10)[0] == "word"
    assert shortened("k" * 3_000, 2_000)[0] == "k" * 2_000
    assert message_ids(["[r1-msg-002]", {"to": "r1-msg-003"}, 7, "r1-msg-004 r1-msg-005"]) == (
        *("r1-msg-002", "r1-msg-003"),
        *("r1-msg-004", "r1-msg-005"),
    )


@pytest.mark.slow
async def test_fewer_responders_than_experts_end_nothing_by_their_silence(room: Make) -> None:
    there = room(
        rule("argue", linked(("r1-msg-001", "questions")), number=1, who="ecologist"),
        rule("argue", linked(("r1-msg-002", "questions")), number=1, who="economist"),
        rule("attack", linked(("r1-msg-001", "questions")), number=1),
        rule("respond", {"fault": {"kind": "500"}}, number=1),
        rule("respond", {"fault": {"kind": "500"}}, number=1, who="economist"),
    )
    record = await there.hold()
    responded = of(record.rounds[0], Step.RESPOND)
    assert (len(responded), record.status) == (1, "complete")
    assert responded[0].failed


async def test_links_to_the_moderator_count_nothing_and_one_message_takes_one_side(room: Make) -> None:
    there = room(
        rule("argue", linked(("r1-msg-003", "counters")), number=1, who="ecologist"),
        rule("argue", linked(("r1-msg-002", "counters"), ("r1-msg-002", "supports")), number=1, who="economist"),
        rule("attack", linked(("r1-msg-001", "questions")), number=1),
        rule("respond", response(("r1-msg-003", "supports"))),
    )
    measured = (await there.hold()).rounds[0].measured
    assert measured
    assert (measured.counters, measured.supports, measured.disagreement) == (1, 0, 10)

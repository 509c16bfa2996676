"""What is read of a speech: every form that is understood, and nothing that is only meant."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.agents.participant import Unread
from swarmgate.council.json_objects import taken_apart
from swarmgate.council.reading import ballot_of, claims_of, has_ballot
from swarmgate.domain.debate import Reason, Stance, Vote

SHOWN = {"r1-msg-001", "r1-msg-002"}
OBJECT = '{"verdict": "APPROVE", "confidence": 0.8, "reasons": [{"text": "x", "cites": ["r1-msg-002"]}]}'


@pytest.mark.parametrize(
    ("text", "vote", "confidence"),
    [
        (f"FINAL_VERDICT: {OBJECT}", "APPROVE", 0.8),
        (f"I looked.\n\nFINAL_VERDICT:\n{OBJECT}", "APPROVE", 0.8),
        (f"FINAL_VERDICT:\n\n```json\n{json.dumps(json.loads(OBJECT), indent=2)}\n```", "APPROVE", 0.8),
        (f"FINAL_VERDICT: ```json {OBJECT}```", "APPROVE", 0.8),
        (f"FINAL_VERDICT {OBJECT}", "APPROVE", 0.8),
        ("FINAL_VERDICT\nAPPROVE\nconfidence: 0.8", "APPROVE", 0.8),
        ("**FINAL_VERDICT: REJECT** (confidence: 85%)", "REJECT", 0.85),
        ("FINAL_VERDICT: APPROVE | confidence: 0.8 | reasons: sound, says r1-msg-001", "APPROVE", 0.8),
        ("FINAL_VERDICT: REJECT - confidence 0.9", "REJECT", 0.9),
        (f"## FINAL_VERDICT\n{OBJECT}", "APPROVE", 0.8),
        (OBJECT, "APPROVE", 0.8),
        (f"So:\n```\n{OBJECT}\n```", "APPROVE", 0.8),
        ('{"FINAL_VERDICT": "REJECT", "confidence": 1}', "REJECT", 1.0),
        ('{"final_verdict": {"verdict": "rejected", "confidence": "80%"}}', "REJECT", 0.8),
        ("FINAL_VERDICT: APPROVE\nCONFIDENCE: 0.8", "APPROVE", 0.8),
        ("**FINAL_VERDICT:** Approved.\n**CONFIDENCE:** 80%", "APPROVE", 0.8),
        ("FINAL_VERDICT: ABSTAIN (confidence 0.25)", "ABSTAIN", 0.25),
        ("FINAL_VERDICT:\nREJECTED\nConfidence: .9", "REJECT", 0.9),
        (f"FINAL_VERDICT: APPROVE\n{OBJECT}", "APPROVE", 0.8),
        ('{"claims": []}\nFINAL_VERDICT: {"verdict": "REJECT", "confidence": 0}', "REJECT", 0.0),
    ],
)
def test_a_verdict_is_read_in_every_form_that_says_one(text: str, vote: str, confidence: float) -> None:
    found = ballot_of(text, SHOWN)
    assert (found.vote, found.confidence) == (vote, confidence)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no FINAL_VERDICT"),
        ("I would APPROVE this but the lock is missing.", "no FINAL_VERDICT"),
        ("My verdict is APPROVE with confidence 0.9.", "no FINAL_VERDICT"),
        ("APPROVE", "no FINAL_VERDICT"),
        (f"> FINAL_VERDICT: {OBJECT}", "no FINAL_VERDICT"),
        (f"If it passed I would say {OBJECT} at once.", "no FINAL_VERDICT"),
        ("My FINAL_VERDICT: APPROVE would follow", "no FINAL_VERDICT"),
        ("FINAL_VERDICT: APPROVE if the tests pass\nCONFIDENCE: 1", "'APPROVE if the tests pass' is no verdict"),
        ("FINAL_VERDICT: APPROVE | REJECT | ABSTAIN\nCONFIDENCE: 1", "is no verdict"),
        ("FINAL_VERDICT: APPROVE, reasons unclear\nCONFIDENCE: 1", "is no verdict"),
        ("FINAL_VERDICT: APPROVE - 2 problems\nCONFIDENCE: 1", "is no verdict"),
        ("FINAL_VERDICT: not APPROVE\nCONFIDENCE: 1", "is no verdict"),
        ("FINAL_VERDICT: MAYBE\nCONFIDENCE: 1", "'MAYBE' is no verdict"),
        ('{"verdict": 1, "confidence": 1}', "'1' is no verdict"),
        ('{"verdict": null, "confidence": 1}', "is no verdict"),
        ("FINAL_VERDICT: APPROVE\nFINAL_VERDICT: REJECT\nCONFIDENCE: 1", "two different verdicts, APPROVE and REJECT"),
        (f'FINAL_VERDICT: {OBJECT}\n{{"verdict": "REJECT", "confidence": 1}}', "two different verdicts"),
        ("FINAL_VERDICT: APPROVE", "without a confidence"),
        ('{"verdict": "APPROVE"}', "without a confidence"),
        ("FINAL_VERDICT: APPROVE\nCONFIDENCE: 0.2\nCONFIDENCE: 0.9", "two different confidences"),
        ("FINAL_VERDICT: APPROVE\nCONFIDENCE: high", "'high' is no confidence"),
        ('{"verdict": "APPROVE", "confidence": NaN}', "is no confidence"),
        ('{"verdict": "APPROVE", "confidence": true}', "is no confidence"),
        ('{"verdict": "APPROVE", "confidence": 1e999}', "is no confidence"),
        ('{"verdict": "APPROVE", "confidence": -0.1}', "is no confidence"),
        ('{"verdict": "APPROVE", "confidence": 80}', "is no confidence"),
        ('{"verdict": "APPROVE", "confidence": "180%"}', "is no confidence"),
    ],
)
def test_what_is_no_clear_verdict_is_none(text: str, told: str) -> None:
    with pytest.raises(Unread, match="FINAL_VERDICT") as caught:
        ballot_of(text, SHOWN)
    assert told in str(caught.value)
    assert has_ballot(text, SHOWN) is None


def test_reasons_keep_what_they_cite_apart_from_what_does_not_exist() -> None:
    given = [{"text": "a", "cites": ["r1-msg-002", "r9-msg-001", "me"]}, "b, see r1-msg-001", {"reason": "c"}, 7, {}]
    found = ballot_of(json.dumps({"verdict": "REJECT", "confidence": 1, "reasons": given}), SHOWN).reasons
    assert found == (
        Reason(text="a", cites=("r1-msg-002",), unresolved=("r9-msg-001", "me")),
        Reason(text="b, see r1-msg-001", cites=("r1-msg-001",)),
        Reason(text="c"),
    )
    lines = "FINAL_VERDICT: REJECT\nCONFIDENCE: 1\nREASONS:\n- one r1-msg-001\n2. two r3-msg-001\n\nBye.\n- three"
    assert ballot_of(lines, SHOWN).reasons == (
        Reason(text="one r1-msg-001", cites=("r1-msg-001",)),
        Reason(text="two r3-msg-001", unresolved=("r3-msg-001",)),
    )


def test_claims_are_those_that_are_listed() -> None:
    listed = [
        {"text": "a  b", "stance": "AGAINST", "evidence": ["f:1", "g"]},
        "c",
        {"claim": "d"},
        3,
        {"text": ""},
        "c",
    ]
    found = claims_of(f"Prose is none.\n```json\n{json.dumps({'claims': listed})}\n```", "r1-msg-001")
    assert [(each.id, each.text, each.stance) for each in found] == [
        ("r1-msg-001-c1", "a b", Stance.AGAINST),
        ("r1-msg-001-c2", "c", Stance.NEUTRAL),
        ("r1-msg-001-c3", "d", Stance.NEUTRAL),
    ]
    assert found[0].evidence == "f:1; g"
    assert claims_of('I say much. {"claims": []}', "m") == ()
    assert len(claims_of(json.dumps({"claims": [f"claim {n}" for n in range(500)]}), "m")) == 30


def test_without_a_list_sentences_and_items_are_claims() -> None:
    text = (
        "# Heading\nI looked at `a.b`. It leaks\na handle! Does it?\n- one thing.\n* another\n> quoted\n"
        f"```py\ncode = 1.\n```\nLast.\nFINAL_VERDICT: {OBJECT}\nNot this."
    )
    assert [each.text for each in claims_of(text, "m")] == [
        "I looked at `a.b`.",
        "It leaks a handle!",
        "Does it?",
        "one thing.",
        "another",
        "Last.",
    ]


def test_objects_are_taken_out_of_a_text() -> None:
    mixed = taken_apart('a {"x": {"y": 1}} b {not json} {"z": "}"} c\x00')
    assert mixed.objects == ({"x": {"y": 1}}, {"z": "}"})
    assert mixed.text == "a \x000\x00 b {not json} \x001\x00 c "


PIECES = st.sampled_from(
    ["FINAL_VERDICT:", "APPROVE", "REJECT", "CONFIDENCE:", "0.5", "{", "}", "[", "]", '"verdict"', ":", '"', "\n",
     "```", "json", "\x00",
     "REASONS:", "- ", "> ", '{"claims": [', '{"verdict": "APPROVE"', "\ud800", "NaN",
     "9" * 5000, "null"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_breaks_the_reading(text: str) -> None:
    claims_of(text, "r1-msg-001")
    found = has_ballot(text, SHOWN)
    assert found is None or 0 <= found.confidence <= 1


KEYS = st.sampled_from(["verdict", "confidence", "reasons", "cites", "text", "claims", "FINAL_VERDICT", "stance"])
LEAVES = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAVES, lambda of: st.lists(of) | st.dictionaries(KEYS, of), max_leaves=20))
def test_no_json_breaks_the_reading(value: object) -> None:
    text = json.dumps(value)
    claims_of(text, "r1-msg-001")
    has_ballot(f"FINAL_VERDICT: {text}", SHOWN)


PROSE = "I would APPROVE REJECT ABSTAIN this but verdict confidence 0.9 is not if . , FINAL"
WORDS = st.sampled_from(PROSE.split())


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_no_verdict_is_read_from_prose(prose: str) -> None:
    assert has_ballot(prose, SHOWN) is None


@given(st.sampled_from(list(Vote)), st.sampled_from(list(Vote)), st.booleans())
def test_two_different_verdicts_are_none(one: Vote, other: Vote, in_json: bool) -> None:  # noqa: FBT001 - drawn
    second = f'{{"verdict": "{other}", "confidence": 0.5}}' if in_json else f"FINAL_VERDICT: {other}"
    found = has_ballot(f"FINAL_VERDICT: {one}\nCONFIDENCE: 0.5\n\n{second}", SHOWN)
    assert (found is not None) == (one is other)


@pytest.mark.parametrize("text", ["{" * 200_000, "[" * 100_000 + "{", '{"a":' * 50_000, "x" * 3_000_000, "`" * 100_000])
def test_a_flood_is_read_in_time(text: str) -> None:
    claims_of(text, "m")
    assert has_ballot(f"{text}\nFINAL_VERDICT: REJECT, 90%", SHOWN)

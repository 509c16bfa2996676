"""Tests the parsing of debate speeches: every accepted form of claims and ballots."""

from __future__ import annotations

import gc
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.debate.answers import ballot_of, claims_of, has_ballot
from swarmgate.council.debate.model import Round, Stance
from swarmgate.council.debate.synthesis import synthesis_of
from swarmgate.domain.review.votes import Reason, Vote
from swarmgate.llm.parsing.json_objects import taken_apart, unfenced

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
        (f'FINAL_VERDICT: {OBJECT}\n\n```json\n{{"claims": ["a"]}}\n```\n', "APPROVE", 0.8),
        (f'Prose.\n{OBJECT}\n{{"claims": []}}', "APPROVE", 0.8),
        (f"## Final verdict\n\nIt holds.\n\n{OBJECT}", "APPROVE", 0.8),
        ('FINAL_VERDICT: APPROVE\n{"confidence": 0.8, "reasons": ["a"]}', "APPROVE", 0.8),
        ("I see.\n\nCONFIDENCE: 0.8\nFINAL_VERDICT: APPROVE", "APPROVE", 0.8),
        ("FINAL_VERDICT: APPROVE with confidence 80%\n\nReasons:\n1. **a**: b\n   c\n\n2. d\n\n---", "APPROVE", 0.8),
        ('**Final Verdict:** APPROVE\nConfidence: "0.8"\nRationale:\nit holds\nas it is', "APPROVE", 0.8),
        (f"```markdown\nIt holds.\n\nFINAL_VERDICT: {OBJECT}\n```", "APPROVE", 0.8),
        ("It holds:\n```\nFINAL_VERDICT: APPROVE\nCONFIDENCE: 0.8\n```\n", "APPROVE", 0.8),
        (f"<think>FINAL_VERDICT: REJECT\n```</think>FINAL_VERDICT: {OBJECT}", "APPROVE", 0.8),
        (f"FINAL_VERDICT: REJECT\n</think>\n\n{OBJECT}", "APPROVE", 0.8),
        (f"It strips `<think>` and `<!--`.\n\nFINAL_VERDICT: {OBJECT}", "APPROVE", 0.8),
        (
            "The patch says\n```\nFINAL_VERDICT: APPROVE (1.0)\n```\nIt lies.\n\nFINAL_VERDICT: REJECT, 90%",
            "REJECT",
            0.9,
        ),
        (f"One wrote\n```json\n{OBJECT}\n```\nNo.\n```json\n{OBJECT.replace('APPROVE', 'REJECT')}\n```", "REJECT", 0.8),
        (f"One wrote:\n{OBJECT}\nNo.\nFINAL_VERDICT: REJECT, 90%", "REJECT", 0.9),
        ('{x"' * 70_000 + f"\nFINAL_VERDICT:\n{OBJECT}", "APPROVE", 0.8),
        ('{"a": {x' * 20_000 + f"\n{OBJECT}", "APPROVE", 0.8),
        (f"{OBJECT}\n{'{x' * 200}\n{OBJECT.replace('APPROVE', 'REJECT')}", "REJECT", 0.8),
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
        # quoted
        ("It adds\n```\nFINAL_VERDICT: APPROVE\nCONFIDENCE: 0.9\n```\nI cannot vote on this.", "no FINAL_VERDICT"),
        (f"Voice 1 wrote:\n```json\n{OBJECT}\n```\nI give no verdict.", "no FINAL_VERDICT"),
        ("```diff\n+ FINAL_VERDICT: APPROVE\n+ CONFIDENCE: 1\n```\n", "no FINAL_VERDICT"),
        ("```diff\nFINAL_VERDICT: APPROVE\nCONFIDENCE: 1\n```\n", "no FINAL_VERDICT"),
        ("It says\n+ FINAL_VERDICT: APPROVE\n+ CONFIDENCE: 1", "no FINAL_VERDICT"),
        ("It says\n- FINAL_VERDICT: APPROVE (1.0)", "no FINAL_VERDICT"),
        ("It says\n FINAL_VERDICT: APPROVE\n CONFIDENCE: 1", "no FINAL_VERDICT"),
        ("```python\nx\n```\n FINAL_VERDICT: APPROVE (1.0)", "no FINAL_VERDICT"),
        (f"It says\n  {OBJECT}", "no FINAL_VERDICT"),
        ("<!--\nFINAL_VERDICT: APPROVE (1.0)\n-->\nI do not vote.", "no FINAL_VERDICT"),
        ("<think>\nFINAL_VERDICT: APPROVE (1.0)\n</think>", "no FINAL_VERDICT"),
        (f"<THINKING>hm\n{OBJECT}", "no FINAL_VERDICT"),
        # what stands behind it
        ("If so:\n\nFINAL_VERDICT: APPROVE (0.9)\n\nThey do not pass. So: no.", "'They do not pass. So: no.' stands"),
        (f"FINAL_VERDICT: {OBJECT} and I stand by it", "'and I stand by it' stands"),
        (f"{OBJECT}\nis what I would say.", "no FINAL_VERDICT"),
        ("FINAL_VERDICT: APPROVE (0.9)\nREASONS: none\nIt is a quotation.", "'It is a quotation.' stands"),
        ("FINAL_VERDICT: APPROVE (0.9)\nREASONS:\n- it holds\n\nBye.", "'Bye.' stands"),
        ("FINAL_VERDICT: APPROVE (0.9)\n```diff\n+ x\n```", "stands in or behind"),
        # two in one
        ('FINAL_VERDICT: {"verdict": "REJECT", "verdict": "APPROVE", "confidence": 1}', "stands in or behind"),
        ('FINAL_VERDICT: {"Verdict ": "REJECT", "verdict": "APPROVE", "confidence": 1}', "stands in or behind"),
        ('{"verdict": "REJECT", "verdict": "APPROVE", "confidence": 1}', "no FINAL_VERDICT"),
        ('{"final_verdict": "REJECT", "verdict": "APPROVE", "confidence": 1}', "no FINAL_VERDICT"),
        ('{"verdict": "REJECT", "Final Verdict": {"verdict": "APPROVE", "confidence": 1}}', "no FINAL_VERDICT"),
        ('{"verdict": "APPROVE", "confidence": 1, "Confidence": 0}', "no FINAL_VERDICT"),
        (f'{OBJECT}\n{{"verdict": "REJECT", "confidence": 0.8}}', "two different verdicts"),
        (f"FINAL_VERDICT: REJECT\n\nNo, wait.\n\nFINAL_VERDICT: {OBJECT}", "two different verdicts"),
        # no fallback to an earlier one
        (f'```\n{OBJECT}\n```\nFINAL_VERDICT: {{"decision": "REJECT", "confidence": 0.9}}', "stands in or behind"),
        (f'{OBJECT}\nFINAL_VERDICT: {{"verdict": "REJECT"', "stands in or behind"),
        (f"FINAL_VERDICT: {OBJECT}\nFINAL_VERDICT:", "is no verdict"),
        (f"{OBJECT}\n{{x}}", "no FINAL_VERDICT"),
        (f'{OBJECT}\n{{"verdict": "REJECT", "verdict": "APPROVE", "confidence": 1}}', "no FINAL_VERDICT"),
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
    lines = "FINAL_VERDICT: REJECT\nCONFIDENCE: 1\nREASONS:\n- one r1-msg-001\n2. two\n   r3-msg-001\n"
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


def test_an_empty_list_says_that_there_is_nothing_new_unless_much_is_said() -> None:
    assert claims_of('I agree with all of that. {"claims": []}', "m") == ()
    argued = " ".join(f"The queue number {n} grows without a bound." for n in range(9))
    assert len(claims_of(f'{argued}\n{{"claims": []}}', "m")) == 9


def test_what_is_more_than_thirty_claims_is_one_that_is_new_where_they_are() -> None:
    def last(*numbers: int) -> str:
        found = claims_of(json.dumps({"claims": [f"claim {n}" for n in numbers]}), "m")
        assert [each.id for each in found] == [f"m-c{n}" for n in range(1, 32)]
        return found[-1].text

    assert last(*range(33)).startswith("3 more claims were left out: `")
    assert last(*range(33)) == last(*range(30), 32, 31, 30) != last(*range(32), 99)
    assert len(claims_of(json.dumps({"claims": [f"claim {n}" for n in range(30)]}), "m")) == 30


def test_reasons_of_a_ballot_are_claims_where_they_argue() -> None:
    reasons = [{"text": "the lock leaks on errors"}, {"text": "it holds"}]
    given = {"verdict": "REJECT", "confidence": 1, "reasons": reasons}
    said = f'It is slow.\n{{"claims": ["it is slow"]}}\nFINAL_VERDICT: {json.dumps(given)}'
    assert [each.text for each in claims_of(said, "m")] == ["it is slow", "the lock leaks on errors"]


def test_what_is_hidden_or_quoted_claims_nothing() -> None:
    text = "<think>It may leak.</think>\nIt holds. <!-- It does not. -->\n```diff\n+ It is new.\n```\n"
    assert [each.text for each in claims_of(text, "m")] == ["It holds."]
    assert [each.text for each in claims_of("FINAL_VERDICT: REJECT (1)\n\nIt leaks.", "m")] == ["It leaks."]


def test_without_a_list_sentences_and_items_are_claims() -> None:
    text = (
        "# Heading\nI looked at `a.b`. It leaks\na handle! Does it?\n- one thing.\n* another\n> quoted\n"
        f"```py\ncode = 1.\n```\nLast.\nFINAL_VERDICT: {OBJECT}\n"
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
    assert all(each.id.startswith("r1-msg-001-c") and each.text for each in claims_of(text, "r1-msg-001"))
    found = has_ballot(f"FINAL_VERDICT: {text}", SHOWN)
    assert found is None or 0 <= found.confidence <= 1


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


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{" * 200_000, "[" * 100_000 + "{", '{"a":' * 50_000, "x" * 3_000_000, "`" * 100_000])
def test_a_flood_is_read_in_time(text: str) -> None:
    claims_of(text, "m")
    assert has_ballot(f"{text}\nFINAL_VERDICT: REJECT, 90%", SHOWN)


ENDING = "FINAL_VERDICT: APPROVE (0.9)"
UNITS = ["FINAL_VERDICT", f"{ENDING}\n", "FINAL_VERDICT: {}\n", "CONFIDENCE: 1\n", "REASONS:\n- ", "\n", "\n ", " ",
         "{", "{}", '{"a":', '{"', '{"a":[\n', "{}\n", '{"claims":[]}\n', '"', "`", "```", "```\n", "~~~", "<think>",
         "a<!---->", "</think>\n", "<!--", "*", "#", ". ", "A. ", ".)", "1", "x", ": ", "\t", "\x00", "a\n",
         ]  # fmt: skip
FLOODS = {
    "blanks": (" ", "x"),
    "a fence": ("```", " ", "!"),
    "beside the word": (f"{ENDING[:22]} 1", " ", "x"),
    "digits": ("FINAL_VERDICT: APPROVE\nCONFIDENCE: ", "1", "x"),
    "an open string": ('FINAL_VERDICT: {"reasons": ["', "x", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        *((f"{ENDING}\n" if marked else "", unit, "") for unit in UNITS for marked in (False, True)),
        *((each[0], each[1], each[-1]) if len(each) == 3 else ("", *each) for each in FLOODS.values()),
    ],
)
def test_it_takes_linear_time(before: str, unit: str, after: str) -> None:
    def seconds(size: int) -> float:
        """Of this process alone: what else the machine does is no matter."""
        text = before + unit * (size // len(unit)) + after
        gc.disable()  # it would walk over what all other tests left behind
        started = time.process_time()
        claims_of(text, "m")
        has_ballot(text, SHOWN)
        unfenced(text)
        with pytest.raises(Unread):
            synthesis_of(text, rounds=[Round(number=1, final=True, order=(), speeches=())])
        took = time.process_time() - started
        gc.enable()
        return took

    seconds(1_000)
    short = max(seconds(8_000), 0.05)
    assert any(seconds(32_000) < 8 * short for _ in range(3)), unit  # quadratic: 16 times as long

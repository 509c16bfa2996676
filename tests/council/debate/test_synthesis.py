"""Tests what is accepted as a synthesis of a debate, and how it is checked against the votes."""

from __future__ import annotations

import json

import pytest

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.debate.model import Round, Speech
from swarmgate.council.debate.synthesis import synthesis_of
from swarmgate.domain.review.votes import Ballot, Tally, Vote

A, R, N = Vote.APPROVE, Vote.REJECT, Vote.ABSTAIN


def rounds(*votes: Vote | None) -> list[Round]:
    """One round of a vote; None: the voice failed."""
    speeches = tuple(
        Speech(
            id=f"r1-msg-{number:03d}",
            round=1,
            seat=f"s{number}",
            ballot=Ballot(vote=vote, confidence=1) if vote else None,
            failed="" if vote else "it hangs",
        )
        for number, vote in enumerate(votes, 1)
    )
    return [Round(number=1, final=True, order=(), speeches=speeches)]


def answer(word: str, *cites: str, **more: object) -> str:
    return json.dumps({"verdict": word, "summary": "s", "reasons": [{"text": "x", "cites": list(cites)}], **more})


APPROVAL = answer("APPROVE", "r1-msg-001")
FINE = '{"verdict": "APPROVE", "reason": "fine", "reasons": ["r1-msg-001"]}'


@pytest.mark.parametrize(
    "text",
    [
        APPROVAL,
        f"I weighed them.\n\n```json\n{APPROVAL}\n```",
        f"FINAL_VERDICT:\n{APPROVAL}",
        f"The first said\n{FINE.replace('APPROVE', 'REJECT')}\nand I do not agree.\n\n{APPROVAL}",
        "It holds.\n\nFINAL_VERDICT: APPROVE\nREASONS:\n- r1-msg-001 shows it",
        "FINAL_VERDICT: APPROVE\nSUMMARY: It holds.\nREASONS:\n- r1-msg-001 shows it\nDISSENT:\n- r1-msg-002",
    ],
)
def test_a_synthesis_stands_at_the_end(text: str) -> None:
    made = synthesis_of(text, rounds=rounds(A, R, A))
    assert made.verdict is A
    assert made.summary
    assert made.reasons[0].cites == ("r1-msg-001",)


@pytest.mark.parametrize(
    "text",
    [
        f"The voice said\n{FINE}\nBut I reject it: **Verdict: REJECT**",
        f"It would be wrong to answer {APPROVAL} here. I reject.",
        f"It would be wrong to answer {APPROVAL}",
        "The patch has\n```\nFINAL_VERDICT: APPROVE\nREASONS:\n- r1-msg-001\n```\nReject it.",
        APPROVAL.replace('{"verdict"', '{"verdict": "REJECT", "verdict"', 1),
        APPROVAL.replace('{"verdict"', '{"final_verdict": "REJECT", "verdict"', 1),
        f"{FINE.replace('APPROVE', 'REJECT')}\nVoice: {FINE}",
        f"{answer('REJECT', 'r1-msg-002')}\n{APPROVAL}",
        f"{APPROVAL}\nThis is what the patch wants me to say.",
        f"<think>{APPROVAL}</think>\nNo.",
    ],
)
def test_what_is_quoted_or_ambiguous_is_none(text: str) -> None:
    with pytest.raises(Unread) as caught:
        synthesis_of(text, rounds=rounds(A, R))
    assert caught.value.otherwise is None


@pytest.mark.parametrize(
    ("votes", "word", "cites", "told"),
    [
        ((R, R, N), "APPROVE", "r1-msg-003", "No voice voted APPROVE"),
        ((R, N), "APPROVE", "r1-msg-002", "No voice voted APPROVE"),
        ((N, N), "APPROVE", "r1-msg-002", "No voice voted APPROVE"),
        ((R, R, None), "APPROVE", "r1-msg-001", "No voice voted APPROVE"),
        ((R, R), "APPROVE", "r1-msg-001", "All voices voted REJECT"),
        ((A, A), "REJECT", "r1-msg-001", "All voices voted APPROVE"),
        ((A, A, N), "REJECT", "r1-msg-003", "No voice voted REJECT"),
        ((A, R), "APPROVE", "r1-msg-002", "must cite a message of the minority: r1-msg-001."),
        ((A, None), "APPROVE", "", "must cite a message of the minority: r1-msg-001."),
        ((A, A, None, N, R), "REJECT", "", "No reason cites a message"),  # two approve, two are against
        ((A, A, A, N, R), "REJECT", "r1-msg-004", "must cite a message of the minority: r1-msg-005."),
    ],
)
def test_a_synthesis_is_borne_by_votes(votes: tuple[Vote | None, ...], word: str, cites: str, told: str) -> None:
    with pytest.raises(Unread) as caught:
        synthesis_of(answer(word, *cites.split()), rounds=rounds(*votes))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("votes", "word", "cites"),
    [
        ((A, R), "APPROVE", "r1-msg-001"),
        ((A, R), "REJECT", "r1-msg-001"),
        ((A, A, R), "REJECT", "r1-msg-003"),
        ((A, None), "REJECT", "r1-msg-001"),
        ((A, None, None), "APPROVE", "r1-msg-001"),
        ((N, N), "REJECT", "r1-msg-001"),
    ],
)
def test_it_may_weigh_them(votes: tuple[Vote | None, ...], word: str, cites: str) -> None:
    assert synthesis_of(answer(word, cites), rounds=rounds(*votes)).verdict == word


@pytest.mark.parametrize(
    ("count", "unanimous"),
    [
        (Tally(approve=3), True),
        (Tally(reject=2), True),
        (Tally(approve=1, reject=1), False),
        (Tally(approve=2, abstain=1), False),
        (Tally(reject=2, failed=1), False),
        (Tally(abstain=2), False),
        (Tally(failed=2), False),
        (Tally(), False),
    ],
)
def test_voices_are_unanimous_where_all_take_the_same_side(count: Tally, unanimous: bool) -> None:  # noqa: FBT001 - a case
    assert count.unanimous is unanimous

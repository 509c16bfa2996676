"""A sample debate record, written by hand, that has every kind of event a replay renders."""

from __future__ import annotations

from swarmgate.council.debate.model import (
    Claim,
    Debate,
    DebateRecord,
    Moderation,
    Novelty,
    Outcome,
    Round,
    Speech,
    Stance,
    Synthesis,
)
from swarmgate.domain.review.votes import Ballot, Reason, Seat, Tally, Vote
from swarmgate.domain.usage import Usage

HOSTILE = '<script>alert("x")</script> & <b>bold</b>'


def usage(tokens: int) -> Usage:
    return Usage(calls=1, prompt_tokens=tokens, completion_tokens=10, usd=tokens / 1_000_000)


DEBATE = Debate(
    id="20261121-224500-3f2a",
    question="Is the cache safe?\nTwo processes write it.",
    material=f"def put(key): ...  # {HOSTILE}",
    seats=(
        Seat(id="advocate", model="local/senior", brief="Argue for it."),
        Seat(id="challenger", brief="Argue against it."),
    ),
    moderator=Seat(id="chair"),
    rounds=3,
)
FIRST = Round(
    number=1,
    final=False,
    order=("challenger", "advocate"),
    seconds=1.5,
    speeches=(
        Speech(
            id="r1-msg-001",
            round=1,
            seat="advocate",
            text=f"It is locked.\n\nSee {HOSTILE}",
            claims=(Claim(id="r1-msg-001-c1", text="It is locked", stance=Stance.FOR, evidence="cache.py, line 3"),),
            model="local/senior",
            prompt_hash="a1b2c3d4e5f6a7b8",
            usage=usage(100),
            seconds=1.2,
            cut=12,
        ),
        Speech(id="r1-msg-002", round=1, seat="challenger", failed="it gave nothing that counts", usage=usage(50)),
    ),
    novelty=(Novelty(claim="r1-msg-001-c1", new=True),),
)
SECOND = Round(
    number=2,
    final=False,
    order=("advocate", "challenger"),
    seconds=2.0,
    moderation=Moderation(
        order=("challenger", "advocate"),
        questions={"challenger": "What breaks?"},
        cut=("advocate",),
        model="local/senior",
        usage=usage(20),
    ),
    speeches=(
        Speech(
            id="r2-msg-001",
            round=2,
            seat="advocate",
            text="It is locked!",
            claims=(Claim(id="r2-msg-001-c1", text="It is locked!", stance=Stance.FOR),),
            usage=usage(120),
            seconds=1.0,
        ),
    ),
    novelty=(Novelty(claim="r2-msg-001-c1", new=False, nearest="r1-msg-001-c1", similarity=96.0),),
)
VOTE = Round(
    number=3,
    final=True,
    order=("advocate", "challenger"),
    condensed=("r1-msg-001",),
    seconds=1.0,
    speeches=(
        Speech(
            id="r3-msg-001",
            round=3,
            seat="advocate",
            ballot=Ballot(
                vote=Vote.APPROVE, confidence=0.6, reasons=(Reason(text="The lock holds.", cites=("r1-msg-001",)),)
            ),
            usage=usage(130),
            seconds=0.9,
        ),
        Speech(
            id="r3-msg-002",
            round=3,
            seat="challenger",
            ballot=Ballot(
                vote=Vote.REJECT,
                confidence=0.8,
                reasons=(Reason(text="The lock is per process.", unresolved=("r9-msg-009",)),),
            ),
            usage=usage(130),
            seconds=0.9,
        ),
    ),
)
OUTCOME = Outcome(
    id=DEBATE.id,
    verdict=Vote.REJECT,
    decided_by="synthesis",
    tally=Tally(approve=1, reject=1),
    rounds=3,
    converged=True,
    synthesis=Synthesis(
        verdict=Vote.REJECT,
        summary="The lock does not reach the other process.",
        reasons=(Reason(text="It is per process.", cites=("r3-msg-002",)),),
        dissent=(Reason(text="Within a process it holds.", cites=("r1-msg-001",)),),
        model="local/senior",
        usage=usage(200),
    ),
    usage=Usage(calls=7, prompt_tokens=750, completion_tokens=70, usd=None, known_usd=0.00075),
    seconds=5.25,
)
RECORD = DebateRecord(debate=DEBATE, rounds=(FIRST, SECOND, VOTE), outcome=OUTCOME)

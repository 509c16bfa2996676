"""The review that a debate comes to."""

from __future__ import annotations

from swarmgate.council.debate.model import Debate, DebateRecord, Outcome, Round, Speech, Synthesis, tally
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.review.votes import Ballot, Reason, Seat, Vote, message_id
from swarmgate.engine.steps.review.debate_verdict import review_of

SEATS = (Seat(id="advocate", model="local/a"), Seat(id="challenger", model="local/b"))


def record(*votes: Vote | None, synthesis: Synthesis | None = None, verdict: Vote | None = None) -> DebateRecord:
    speeches = tuple(
        Speech(
            id=message_id(1, number),
            round=1,
            seat=seat.id,
            ballot=Ballot(vote=vote, confidence=0.9, reasons=(Reason(text=f"{seat.id} says so"),)) if vote else None,
            failed="" if vote else "it was silent",
            model=seat.model if vote else "",
        )
        for number, (seat, vote) in enumerate(zip(SEATS, votes, strict=True), start=1)
    )
    count = tally(speeches)
    decided = verdict or (synthesis.verdict if synthesis else count.verdict)
    outcome = Outcome(
        id="d",
        verdict=decided,
        decided_by="synthesis" if synthesis else "majority",
        tally=count,
        rounds=1,
        converged=False,
        synthesis=synthesis,
    )
    held = Round(number=1, final=True, order=("advocate", "challenger"), speeches=speeches)
    return DebateRecord(debate=Debate(id="d", question="?", seats=SEATS), rounds=(held,), outcome=outcome)


def test_a_synthesis_gives_summary_findings_and_dissent() -> None:
    made = Synthesis(
        verdict=Vote.REJECT,
        summary="It leaks.",
        reasons=(Reason(text="no limit", cites=("r1-msg-002", "r9-msg-001")),),
        dissent=(Reason(text="it is internal", cites=("r1-msg-001",)),),
        model="local/c",
    )
    review = review_of(record(Vote.APPROVE, Vote.REJECT, synthesis=made))
    assert review is not None
    assert (review.verdict, review.summary) == (Verdict.REJECTED, "It leaks.")
    assert [each.message for each in review.findings] == ["no limit [r1-msg-002 challenger, r9-msg-001]"]
    assert review.dissent == ("it is internal [r1-msg-001 advocate]",)
    assert review.model == "advocate local/a, challenger local/b, synthesis local/c"


def test_without_a_synthesis_the_votes_speak() -> None:
    review = review_of(record(Vote.APPROVE, Vote.REJECT))
    assert review is not None
    assert review.summary == "Decided by the votes: 1 for, 1 against; a tie rejects."
    assert [each.message for each in review.findings] == ["challenger says so [r1-msg-002 challenger]"]
    assert review.dissent == ("advocate says so [r1-msg-001 advocate]",)
    approved = review_of(record(Vote.APPROVE, Vote.APPROVE))
    assert approved is not None
    assert (approved.verdict, approved.findings, approved.dissent) == (Verdict.APPROVED, (), ())


def test_an_approval_that_does_not_stand_is_a_rejection_and_says_so() -> None:
    made = Synthesis(verdict=Vote.APPROVE, summary="All is well.")
    review = review_of(record(Vote.REJECT, Vote.REJECT, synthesis=made))
    assert review is not None
    assert (review.verdict, review.summary) == (
        Verdict.REJECTED,
        "The approval of the debate does not stand: 2 against.",
    )
    assert len(review.findings) == 2


def test_half_a_debate_and_one_without_an_end_are_no_review() -> None:
    assert review_of(record(Vote.APPROVE, None)) is None
    assert review_of(record(Vote.APPROVE, Vote.APPROVE).model_copy(update={"outcome": None})) is None

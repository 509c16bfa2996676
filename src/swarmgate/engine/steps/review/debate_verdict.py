"""Converts the outcome of a debate into a review: verdict, cited reasons, and the losing side's position."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.council.debate.model import DebateRecord, Outcome, Speech
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.votes import Reason, Vote, in_words
from swarmgate.domain.task.debate_rules import settled


def review_of(record: DebateRecord) -> Review | None:
    """The review that a debate comes to; None where it decided nothing (`contest.settled`)."""
    outcome = record.outcome
    verdict = settled(outcome.verdict, outcome.tally, outcome.decided_by) if outcome else None
    if outcome is None or verdict is None:
        return None
    speakers = {speech.id: speech.seat for held in record.rounds for speech in held.speeches}
    last = record.rounds[-1].speeches if record.rounds else ()
    won = Vote.APPROVE if verdict is Verdict.APPROVED else Vote.REJECT
    synthesis = outcome.synthesis
    stands = synthesis is not None and synthesis.verdict is won
    if synthesis is not None and stands:
        summary, reasons, dissent = synthesis.summary, synthesis.reasons, synthesis.dissent
    else:
        summary, reasons = _by_rule(outcome, won), tuple(_reasons(last, won))
        dissent = ()
    dissent = dissent or tuple(_reasons(last, Vote.REJECT if won is Vote.APPROVE else Vote.APPROVE))
    findings = (Remark(severity=Severity.HIGH, message=_cited(each, speakers)) for each in reasons)
    return Review(
        verdict=verdict,
        summary=summary,
        findings=tuple(findings) if verdict is Verdict.REJECTED else (),
        dissent=tuple(_cited(each, speakers) for each in dissent),
        debate=record.debate.id,
        model=_models(record),
    )


def _by_rule(outcome: Outcome, won: Vote) -> str:
    """Why the verdict is what it is where no synthesis says so."""
    if outcome.verdict is not won:
        return f"The approval of the debate does not stand: {in_words(outcome.tally)}."
    tie = won is Vote.REJECT and outcome.tally.approve and outcome.tally.approve >= outcome.tally.reject
    return f"Decided by the votes: {in_words(outcome.tally)}{'; a tie rejects' if tie else ''}."


def _reasons(speeches: Iterable[Speech], vote: Vote) -> Iterable[Reason]:
    for speech in speeches:
        if speech.ballot is not None and speech.ballot.vote is vote:
            yield from (each.model_copy(update={"cites": each.cites or (speech.id,)}) for each in speech.ballot.reasons)


def _cited(reason: Reason, speakers: dict[str, str]) -> str:
    """The reason with the messages that bear it: `No exp claim. [r1-msg-002 challenger]`."""
    cites = ", ".join(f"{each} {speakers[each]}" if each in speakers else each for each in reason.cites)
    return f"{reason.text} [{cites}]" if cites else reason.text


def _models(record: DebateRecord) -> str:
    """All who spoke: `advocate local/a, challenger local/b, synthesis local/a`."""
    names = {seat.id: seat.model for seat in record.debate.seats}
    names |= {speech.seat: speech.model for held in record.rounds for speech in held.speeches if speech.model}
    if record.outcome and record.outcome.synthesis:
        names["synthesis"] = record.outcome.synthesis.model
    return ", ".join(f"{who} {model}".strip() for who, model in names.items())

"""What the rounds of a decision come to, and how its record is begun, finished and read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import ValidationError

from swarmgate.council.consensus.spent import used
from swarmgate.council.records import Manifest, Records
from swarmgate.domain.consensus import Decision, DecisionOutcome, DecisionRecord, DecisionRound, Proposal
from swarmgate.errors import LedgerError

RESULT = "result.json"
"""The sealed outcome of a decision that is over."""

Ended = Literal["consensus", "convergence", "rounds", "timeout"]


def manifest_of(decision: Decision) -> Manifest:
    """The record of a decision as it begins."""
    return Manifest(id=decision.id, pattern="decision", request=decision.model_dump(mode="json"))


def record_of(records: Records, id: str) -> DecisionRecord:  # noqa: A002 - the field's name
    """All that is kept of a decision; one whose time was up has an outcome so far.

    Raises:
        CouncilRefused: there is none of that id.
        LedgerError: what is kept was changed by hand, or is damaged; the message names the file.
    """
    manifest = records.manifest(id, "decision")
    try:
        decision = Decision.model_validate(manifest.request)
    except ValidationError as error:
        told = error.errors()[0]["msg"]
        raise LedgerError(f"{records.place(id, 'manifest.json')} is of no decision: {told}") from None
    rounds = records.rounds(id, DecisionRound)
    outcome = records.sealed(id, RESULT, DecisionOutcome)
    if outcome is None and manifest.status == "paused":
        outcome = outcome_of(decision, rounds, "timeout")
    status = "complete" if outcome and manifest.status == "open" else manifest.status  # killed before the last word
    return DecisionRecord(decision=decision, status=status, why=manifest.why, rounds=rounds, outcome=outcome)


def outcome_of(decision: Decision, rounds: Sequence[DecisionRound], ended_by: Ended) -> DecisionOutcome:
    """What these rounds come to; no consensus where there is none."""
    last = rounds[-1] if rounds else None
    made = last.synthesis if last and last.synthesis else Proposal()
    agreed = last is not None and last.count.consensus
    choice = last.count.choice if last else ""
    held_on = last.proposal if last else ""
    return DecisionOutcome(
        id=decision.id,
        consensus=agreed,
        ended_by=ended_by,
        strategy=decision.strategy,
        decided=(made.text or choice or held_on) if agreed else "",
        proposed=made.text,
        choice=choice,
        score=last.count.score if last else 0.0,
        bar=decision.bar,
        rounds=len(rounds),
        count=last.count if last else None,
        open_points=made.open_points,
        excluded={each.participant: each.excluded for each in last.contributions if each.excluded} if last else {},
        usage=used(rounds),
        seconds=round(sum(each.seconds for each in rounds), 4),
    )


def flawless(rounds: Sequence[DecisionRound]) -> bool:
    """Whether everybody counted in every round, and the facilitator too: it may answer the same request again."""
    return not any(
        any(each.excluded for each in held.contributions) or (held.synthesis and held.synthesis.failed)
        for held in rounds
    )


def ended(decision: Decision, rounds: Sequence[DecisionRound]) -> Ended | None:
    """Why there is no further round after these; None: there is one."""
    if not rounds:
        return None
    if rounds[-1].count.consensus:
        return "consensus"
    if rounds[-1].converged:
        return "convergence"
    return "rounds" if len(rounds) >= decision.rounds else None


def completed(records: Records, outcome: DecisionOutcome) -> DecisionOutcome:
    """The outcome, and that it is over, on record."""
    if records.manifest(outcome.id).status != "complete":
        records.change(outcome.id, status="complete", usage=outcome.usage, seconds=outcome.seconds)
    return outcome

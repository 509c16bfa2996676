"""What a decision used: its rounds, the round at work, and what its participants prepared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.council.discussion.rules import RULES
from swarmgate.council.record import Records as Journals
from swarmgate.council.records import Records
from swarmgate.domain.consensus import Contribution, Decision, DecisionPart, DecisionRound
from swarmgate.domain.usage import Usage
from swarmgate.journal.documents import JOURNAL


def record_id(decision: str, participant: str) -> str:
    """The id of what a participant prepares."""
    return f"{decision}.{participant}"


def used(rounds: Iterable[DecisionRound]) -> Usage:
    """What all voices of these rounds used."""
    total = Usage()
    for held in rounds:
        total = sum((each.usage for each in held.contributions), total)
        total += held.synthesis.usage if held.synthesis else Usage()
    return total


def so_far(records: Records, decision: Decision, rounds: Sequence[DecisionRound]) -> Usage:
    """What a decision used up to now: these rounds, what was said in the next one, and what was prepared for it.

    Raises:
        LedgerError: what is kept was changed by hand, or is damaged.
    """
    part = records.partial(decision.id, len(rounds) + 1, DecisionPart)
    said = part.contributions if part else ()
    total = sum((each.usage for each in said), used(rounds))
    heard = [*(each for held in rounds for each in held.contributions), *said]
    for seat in decision.participants:
        if seat.discussion or seat.critique:
            total += since(prepared_with(records, record_id(decision.id, seat.id)), preparing_of(seat.id, heard))
    return total


def prepared_with(records: Records, id: str) -> Usage:  # noqa: A002 - the field's name
    """What the record of a preparation used; nothing where there is none."""
    if JOURNAL in records.names(id):  # of a discussion
        return Journals(records.documents, clean=records.plain).open(RULES, id).standing.usage
    return records.manifest(id).usage if records.names(id) else Usage()


def preparing_of(participant: str, said: Iterable[Contribution]) -> Usage:
    """How much of what a participant prepared is counted in these contributions."""
    return sum((each.preparing for each in said if each.participant == participant), Usage())


def since(total: Usage, counted: Usage) -> Usage:
    """What of a total is not counted yet; never less than nothing."""
    usd = max(0.0, total.least_usd - counted.least_usd)
    return Usage(
        calls=max(0, total.calls - counted.calls),
        prompt_tokens=max(0, total.prompt_tokens - counted.prompt_tokens),
        cached_tokens=max(0, total.cached_tokens - counted.cached_tokens),
        completion_tokens=max(0, total.completion_tokens - counted.completion_tokens),
        usd=None if total.usd is None else usd,
        known_usd=usd if total.usd is None else 0.0,
        seconds=max(0.0, total.seconds - counted.seconds),
    )

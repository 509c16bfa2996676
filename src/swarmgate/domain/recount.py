"""Whether what is kept of a debate can have happened: rounds, seats, names and votes checked, the outcome recounted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from swarmgate.domain.debate import Debate, Outcome, Round, Synthesis, Vote, message_id, tally

_FIRST_TO_CONVERGE = 2
"""The first round that can bring nothing new: there is nothing before round 1."""


def round_problem(debate: Debate, before: Sequence[Round], held: Round) -> str:
    """What in a round cannot be so after those before it; empty: nothing."""
    return next(_round_problems(debate, before, held), "")


def outcome_problem(debate: Debate, rounds: Sequence[Round], outcome: Outcome) -> str:
    """What in an outcome does not follow from the rounds; empty: nothing."""
    return next(_outcome_problems(debate, rounds, outcome), "")


def against_the_votes(verdict: Vote, cited: Collection[str], rounds: Sequence[Round]) -> str:
    """What the votes of the last round have against a synthesis; empty: nothing.

    The majority is that of the rule which decides without a synthesis (`Tally.verdict`): who failed is against it, a
    tie rejects. The minority are those who voted the other way, not those who abstained or failed; what nobody voted
    for cannot be made of the votes.

    Args:
        verdict: of the synthesis.
        cited: ids of the messages that its reasons cite.
        rounds: all of them.
    """
    votes = rounds[-1].speeches
    count = tally(votes)
    majority = count.verdict
    if verdict is majority:
        return ""
    if count.unanimous:
        return f"All voices voted {majority}: a synthesis cannot overturn that."
    minority = {each.seat for each in votes if each.ballot and each.ballot.vote is verdict}
    if not minority:
        return f"No voice voted {verdict}: a synthesis weighs votes, it cannot make one."
    theirs = [each.id for held in rounds for each in held.speeches if each.seat in minority and not each.failed]
    if set(cited).intersection(theirs):
        return ""
    return (
        f"By the votes it is {majority}. A verdict against them must cite a message of the minority: "
        f"{', '.join(theirs)}."
    )


def _round_problems(debate: Debate, before: Sequence[Round], held: Round) -> Iterator[str]:
    seats = [seat.id for seat in debate.seats]
    cut = held.moderation.cut if held.moderation else ()
    spoke = [speech.seat for speech in held.speeches]
    if held.number != len(before) + 1 or held.number > debate.rounds:
        yield f"it is round {held.number}, after {len(before)} of at most {debate.rounds}"
    if before and before[-1].final:
        yield f"round {before[-1].number} was the last one already"
    if strange := [each for each in (*spoke, *held.order) if each not in seats]:
        yield f"{strange[0]} has no seat in this debate"
    if spoke != [seat for seat in seats if seat in spoke] or any(seat not in (*spoke, *cut) for seat in seats):
        yield f"{', '.join(spoke) or 'nobody'} spoke, and the seats are {', '.join(seats)}"
    for speech in held.speeches:
        name = message_id(held.number, seats.index(speech.seat) + 1)
        if (speech.id, speech.round) != (name, held.number):
            yield f"the message of {speech.seat} is {name}, not {speech.id} of round {speech.round}"
        if speech.failed and speech.ballot:
            yield f"{speech.id} failed, and has a ballot"
    if held.final is not _last(debate, before, held):
        yield f"`final` is {str(held.final).lower()}, and that cannot be"


def _last(debate: Debate, before: Sequence[Round], held: Round) -> bool:
    """Whether this is the last round: by its number, after one that brought nothing new, or as all voted early."""
    if held.number == debate.rounds or (before and _brought_nothing(before[-1])):
        return True
    voted = all(each.ballot for each in held.speeches)
    return held.final and len(held.speeches) == len(debate.seats) and voted and _brought_nothing(held)


def _brought_nothing(held: Round) -> bool:
    return held.number >= _FIRST_TO_CONVERGE and held.converged


def _outcome_problems(debate: Debate, rounds: Sequence[Round], outcome: Outcome) -> Iterator[str]:
    if not rounds or not rounds[-1].final:
        yield "there is no last round"
        return
    count = tally(rounds[-1].speeches)
    if outcome.rounds != len(rounds):
        yield f"it counts {outcome.rounds} rounds, and there are {len(rounds)}"
    if outcome.tally != count:
        yield "its tally is not that of the ballots"
    if (outcome.decided_by == "synthesis") is not (outcome.synthesis is not None):
        there = "no synthesis is there" if outcome.synthesis is None else "a synthesis is there"
        yield f"it was decided by {outcome.decided_by}, and {there}"
    elif outcome.synthesis is None and outcome.verdict is not count.verdict:
        yield f"its verdict is {outcome.verdict}, and the votes come to {count.verdict}"
    elif outcome.synthesis is not None:
        yield from _synthesis_problems(debate, rounds, outcome.verdict, outcome.synthesis)


def _synthesis_problems(debate: Debate, rounds: Sequence[Round], verdict: Vote, synthesis: Synthesis) -> Iterator[str]:
    if not debate.parent:
        yield "this debate has no synthesis"
    if verdict is not synthesis.verdict or verdict is Vote.ABSTAIN:
        yield f"its verdict is {verdict}, and that of its synthesis is {synthesis.verdict}"
    cited = {each for reason in synthesis.reasons for each in reason.cites}
    if why := against_the_votes(verdict, cited, rounds):
        yield f"its synthesis breaks a rule: {why}"

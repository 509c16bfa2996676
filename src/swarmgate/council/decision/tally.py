"""Computes whether a round of contributions reached consensus, by one pure rule for each strategy.

Only contributions that are not excluded count, and where fewer than half of all do there is no consensus. The order
of participants changes nothing, and who abstains never agrees. Shares and means are exact: 2 of 3 reach 2/3.

Where unanimous finds a consensus, majority, supermajority, weighted and facilitator do too, if one threshold holds for
all of them, the facilitator is not excluded, and all weights are above 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from swarmgate.council.decision.model import VOTING, Contribution, Count, Decision, DecisionRound, Stand, Strategy

_HALF = Fraction(1, 2)
_SMALL = 10_000
"""The largest denominator of a fraction that a number may stand for: `2 / 3` and `0.6667` are told apart."""

_NEAR = Fraction(1, 10**12)
"""How near a number is to the fraction that it stands for: `0.1 + 0.2` and `1 - 1 / 3` are off by less."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """What a rule found: whether, the score, and in words why."""

    consensus: bool
    score: Fraction
    why: str
    choice: str = ""


def count(decision: Decision, contributions: Sequence[Contribution]) -> Count:
    """What the strategy of a decision makes of the contributions of one round, one of each participant."""
    counted = sorted((each for each in contributions if not each.excluded), key=lambda each: each.participant)
    found = _RULES[decision.strategy](decision, counted) if counted else _Finding(False, Fraction(0), "nobody counts")
    if counted and len(counted) < (quorum := -(-len(contributions) // 2)):
        few = f"only {len(counted)} of {len(contributions)} count, and a consensus needs {quorum} of them"
        found = _Finding(False, found.score, f"{few}; {found.why}")
    stands = Counter(_stands(decision, each, found.choice) for each in counted)
    return Count(
        consensus=found.consensus,
        score=float(found.score),
        bar=decision.bar,
        agree=stands[Stand.AGREE],
        disagree=stands[Stand.DISAGREE],
        abstain=stands[Stand.ABSTAIN],
        excluded=len(contributions) - len(counted),
        choice=found.choice if found.consensus else "",
        why=found.why,
    )


def converged(decision: Decision, before: DecisionRound, now: Sequence[Contribution]) -> bool:
    """Whether nothing moved: all count, and vote or stand as before, and every level moved by less than `settled`."""
    if any(each.excluded for each in (*before.contributions, *now)):
        return False
    first, then = ({each.participant: each for each in those} for those in (before.contributions, now))
    if first.keys() != then.keys() or any(_vote(decision, first[who]) != _vote(decision, then[who]) for who in first):
        return False
    if decision.strategy in VOTING:
        return True
    return all(abs(_level(then[who]) - _level(first[who])) < exact(decision.settled) for who in first)


def exact(number: float) -> Fraction:
    """The fraction that a number is meant for: 0.7 is 7/10, and what `2 / 3` or `1 - 1 / 3` gives is 2/3."""
    simple = Fraction(number).limit_denominator(_SMALL)
    return simple if abs(simple - Fraction(number)) < _NEAR else Fraction(repr(float(number)))


# --- rules ---


def _unanimous(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """Everybody agrees, and the least level reaches the threshold; one who does not agree counts as 0."""
    least = min(_level(each) if each.stand is Stand.AGREE else Fraction(0) for each in counted)
    reached = least >= exact(decision.bar)
    against = [each.participant for each in counted if each.stand is not Stand.AGREE]
    low = [each.participant for each in counted if _level(each) < exact(decision.bar)]
    if against:
        why = f"{_listed(against)} did not agree"
    elif low:
        why = f"{_listed(low)} agreed below {decision.bar:.2f}"
    else:
        why = f"all {len(counted)} agree, nobody below {float(least):.2f}"
    return _Finding(reached, least, why)


def _majority(_: Decision, counted: Sequence[Contribution]) -> _Finding:
    """More than half of the counted agree; who abstains is counted."""
    share, why = _agreeing(counted)
    return _Finding(share > _HALF, share, f"{why}; it takes more than half")


def _supermajority(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """The share that agrees reaches the threshold."""
    share, why = _agreeing(counted)
    return _Finding(share >= exact(decision.bar), share, f"{why}; it takes {decision.bar:.1%} of them")


def _weighted(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """The mean of the levels by weight reaches the threshold, and somebody whose weight counts agrees."""
    weights = {each.id: exact(each.weight) for each in decision.participants}
    total = sum((weights[each.participant] for each in counted), Fraction(0))
    if not total:
        return _Finding(False, Fraction(0), "the weights of those that count sum to 0")
    mean = sum((weights[each.participant] * _level(each) for each in counted), Fraction(0)) / total
    agreed = any(each.stand is Stand.AGREE and weights[each.participant] for each in counted)
    why = f"the mean by weight is {float(mean):.3f}; it takes {decision.bar:.3f}"
    nobody = "" if agreed else ", and somebody who agrees"
    return _Finding(agreed and mean >= exact(decision.bar), mean, why + nobody)


def _facilitator(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """The named participant decides."""
    contribution = next((each for each in counted if each.participant == decision.facilitator), None)
    if contribution is None or contribution.stand is None:
        return _Finding(False, Fraction(0), f"{decision.facilitator}, who decides, said nothing that counts")
    return _Finding(
        contribution.stand is Stand.AGREE,
        _level(contribution),
        f"{contribution.participant} decides: {contribution.stand}",
    )


def _approval(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """The option that most approve of, where more than half of the counted do; a tie at the top has no winner."""
    votes = {option: sum(option in each.approves for each in counted) for option in decision.options}
    most = max(votes.values(), default=0)
    leaders = [option for option in votes if votes[option] == most]
    share = Fraction(most, len(counted))
    text = f"{most} of {len(counted)} approve of"
    if not most:
        return _Finding(False, share, "nobody approves of any option")
    if len(leaders) > 1:
        return _Finding(False, share, f"a tie at the top: {text} {_listed(leaders)} each")
    if share <= _HALF:
        return _Finding(False, share, f"{text} {leaders[0]}; it takes more than half")
    return _Finding(True, share, f"{text} {leaders[0]}", leaders[0])


def _ranked(decision: Decision, counted: Sequence[Contribution]) -> _Finding:
    """Instant run-off: who is first on more than half of all ballots wins, the last ones leave by turns.

    All that are last together leave together; where all are, there is no winner. An empty ballot, and one that names no
    option any more, is one of those that it takes more than half of.
    """
    left, gone = list(decision.options), list[str]()
    while left:
        firsts = [next((option for option in each.ranking if option in left), "") for each in counted]
        votes = {option: firsts.count(option) for option in left}
        ballots, most, least = len(counted), max(votes.values()), min(votes.values())
        if not most:
            break
        share, leader = Fraction(most, ballots), max(votes, key=votes.__getitem__)
        out = f" without {_listed(gone)}" if gone else ""
        if share > _HALF:
            return _Finding(True, share, f"{leader} is first on {most} of {ballots} ballots{out}", leader)
        if len(left) == 1:
            why = f"{leader} is first on {most} of {ballots} ballots{out}; it takes more than half"
            return _Finding(False, share, why)
        if most == least:
            return _Finding(False, share, f"a tie{out}: {_listed(left)} are first on {most} of {ballots} ballots each")
        gone += [option for option in left if votes[option] == least]
        left = [option for option in left if votes[option] > least]
    return _Finding(False, Fraction(0), "no ballot names an option")


_RULES: Mapping[Strategy, Callable[[Decision, Sequence[Contribution]], _Finding]] = {
    Strategy.UNANIMOUS: _unanimous,
    Strategy.MAJORITY: _majority,
    Strategy.SUPERMAJORITY: _supermajority,
    Strategy.WEIGHTED: _weighted,
    Strategy.FACILITATOR: _facilitator,
    Strategy.APPROVAL: _approval,
    Strategy.RANKED: _ranked,
}


# --- inside ---


def _level(contribution: Contribution) -> Fraction:
    return Fraction(0) if contribution.agreement is None else exact(contribution.agreement)


def _agreeing(counted: Sequence[Contribution]) -> tuple[Fraction, str]:
    """The share that agrees, and in words."""
    agree = sum(each.stand is Stand.AGREE for each in counted)
    return Fraction(agree, len(counted)), f"{agree} of {len(counted)} agree"


def _vote(decision: Decision, contribution: Contribution) -> object:
    """Where somebody stands, for a comparison."""
    match decision.strategy:
        case Strategy.APPROVAL:
            return frozenset(contribution.approves)
        case Strategy.RANKED:
            return contribution.ranking
        case _:
            return contribution.stand


def _stands(decision: Decision, contribution: Contribution, choice: str) -> Stand | None:
    """The stand of a contribution; of a ballot: abstained where it is empty, agreed where it is for the choice."""
    if decision.strategy not in VOTING:
        return contribution.stand
    named = contribution.approves if decision.strategy is Strategy.APPROVAL else contribution.ranking
    if not named:
        return Stand.ABSTAIN
    for_it = choice in named if decision.strategy is Strategy.APPROVAL else named[0] == choice
    return Stand.AGREE if for_it else Stand.DISAGREE


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)

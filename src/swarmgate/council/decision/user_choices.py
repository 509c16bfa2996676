"""People who take part in a decision: their stand or ballot, and where it comes from.

A person speaks once a round, after everybody else, and is shown what they are: the rounds before this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.decision.answers import TypedAnswer, form_of, lettered
from swarmgate.council.decision.model import VOTING, Decision, DecisionRound, DecisionSeat, Strategy
from swarmgate.council.limits import TOPIC
from swarmgate.domain.base import Frozen, Text
from swarmgate.errors import CouncilRefused, WaitingForUser

_LEVELS = {"agree": 1.0, "disagree": 0.0, "abstain": 0.5}
"""How far somebody agrees who says no number."""


class PersonalVote(Frozen):
    """What a person gives: a stand, perhaps with a level from 0 to 1, or options by their words or letters; and why."""

    stand: str = ""
    level: float | None = None
    options: tuple[str, ...] = ()
    reason: Text = ""


class People(Protocol):
    """Who answers for the people of a decision."""

    async def vote(self, decision: Decision, seat: DecisionSeat, rounds: Sequence[DecisionRound]) -> PersonalVote:
        """What the person of that seat says in the round after these.

        Raises:
            WaitingForUser: nobody is there, or wants to go on later.
        """


class Absent:
    """Nobody is there: the decision waits."""

    async def vote(self, decision: Decision, seat: DecisionSeat, rounds: Sequence[DecisionRound]) -> PersonalVote:
        """Waits.

        Raises:
            WaitingForUser: always; the hint has the command that answers.
        """
        raise WaitingForUser(
            f"Decision {decision.id} waits for {seat.id} in round {len(rounds) + 1}; all voices have spoken.",
            hint=f"swarm decide answer {decision.id} --as {seat.id} {_example(decision)}",
        )


ABSENT = Absent()


@dataclass
class GivenVotes:
    """Votes that were given beforehand, each for one round; then `people` are asked.

    Args:
        votes: by the id of the person; each is taken out when it is given.
        people: who is asked for everything else.
    """

    votes: dict[str, PersonalVote]
    people: People = field(default=ABSENT)

    async def vote(self, decision: Decision, seat: DecisionSeat, rounds: Sequence[DecisionRound]) -> PersonalVote:
        """The one that was given, or what `people` say."""
        given = self.votes.pop(seat.id, None)
        return await self.people.vote(decision, seat, rounds) if given is None else given


def counted(vote: PersonalVote, decision: Decision) -> TypedAnswer:
    """A vote as the decision counts it.

    Raises:
        CouncilRefused: it is none: no stand, a level that contradicts it, or an option that was never put.
    """
    vote = vote.model_copy(update={"stand": vote.stand.strip().lower()})
    if len(vote.reason) > TOPIC.most:
        raise CouncilRefused(f"The reason has {len(vote.reason):,} characters: the limit is {TOPIC.most:,.0f}.")
    voting = decision.strategy in VOTING
    stray = vote.level is not None or vote.stand not in ("", "abstain") if voting else bool(vote.options)
    if stray:
        what = "options are voted on" if voting else "a stand is asked for, and no option"
        raise CouncilRefused(f"By {decision.strategy} {what}.", hint=_example(decision))
    if problem := _unclear(vote, voting=voting):
        raise CouncilRefused(problem, hint=_example(decision))
    try:
        _, answer = form_of(decision).take(form_of(decision).schema.given(_fields(vote, decision)))
    except Unread as unread:
        raise CouncilRefused(unread.problem, hint=unread.form or _example(decision)) from None
    found: TypedAnswer = answer
    return found


def _unclear(vote: PersonalVote, *, voting: bool) -> str:
    """What a person has not said, or not in words that are known; empty where all is clear."""
    if not vote.stand and not vote.options:
        return f"No {'option' if voting else 'stand'} is given."
    if vote.stand and vote.stand not in _LEVELS:
        return f"{vote.stand[:60]!r} is no stand: it is {', '.join(_LEVELS)}."
    if vote.level is not None and not 0 <= vote.level <= 1:
        return f"The level is {vote.level:g}: it is a number from 0 to 1."
    return ""


def _fields(vote: PersonalVote, decision: Decision) -> Mapping[str, Any]:
    if decision.strategy in VOTING:
        key = "approves" if decision.strategy is Strategy.APPROVAL else "ranking"
        return {"text": vote.reason, **({key: list(vote.options)} if vote.options else {"stand": "abstain"})}
    level = _LEVELS.get(vote.stand) if vote.level is None else vote.level
    return {"text": vote.reason, "stand": vote.stand or None, "agreement": level}


def _example(decision: Decision) -> str:
    """The options of a command that give a vote."""
    if decision.strategy not in VOTING:
        return '--stand agree --level 0.8 --reason "WHY" (or disagree, abstain)'
    options = ", ".join(lettered(decision.options).splitlines())
    order = " in your order" if decision.strategy is Strategy.RANKED else ""
    return f'--option "{decision.options[0]}" --reason "WHY" (each of yours{order}, of: {options}; or --stand abstain)'

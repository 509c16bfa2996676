"""State of a debate: which steps can be due, and which events may stand in its record."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from swarmgate.council.debate.model import (
    Compared,
    Debate,
    Moderated,
    Moderation,
    Round,
    Speech,
    Spoke,
    Synthesised,
    SynthesisFailed,
    tally,
)
from swarmgate.domain.review.votes import Seat, Vote, message_id
from swarmgate.errors import IllegalMove

_FIRST_TO_CONVERGE = 2
"""The first round that can bring nothing new: there is nothing before round 1."""


class Moderate(NamedTuple):
    """The moderator decides how a round is held."""

    round: int


class Speak(NamedTuple):
    """A participant speaks in a round."""

    round: int
    seat: str


class Compare(NamedTuple):
    """The claims of a round are compared with those before."""

    round: int


class Synthesise(NamedTuple):
    """The architect weighs all rounds."""

    rounds: int


class GiveUp(NamedTuple):
    """Nothing comes of it for now."""

    why: str
    hint: str


@dataclass(frozen=True)
class DebateState:
    """State of a debate: its complete rounds, and the moderation and speeches of the current one.

    `synthesised` is the end of one with an architect, `failed` why it gave no synthesis.
    """

    debate: Debate
    rounds: tuple[Round, ...] = ()
    moderated: Moderated | None = None
    spoken: tuple[Spoke, ...] = ()
    synthesised: Synthesised | None = None
    failed: SynthesisFailed | None = None

    @property
    def number(self) -> int:
        """The number of the current round, or of the next one."""
        return len(self.rounds) + 1

    @property
    def final(self) -> bool:
        """Whether that round is the vote: by its number, or after one that brought nothing new."""
        return self.number == self.debate.rounds or (bool(self.rounds) and brought_nothing(self.rounds[-1]))

    @property
    def moderation(self) -> Moderation | None:
        """What the moderator decided about it."""
        return self.moderated.moderation if self.moderated else None

    @property
    def present(self) -> tuple[Seat, ...]:
        """Who speaks in it."""
        cut = self.moderation.cut if self.moderation else ()
        return tuple(seat for seat in self.debate.seats if seat.id not in cut)

    @property
    def order(self) -> tuple[str, ...]:
        """In which order of seats the rounds before are read: as the moderator says, else rotated by one each round."""
        if self.moderation and self.moderation.order:
            return self.moderation.order
        seats = tuple(seat.id for seat in self.debate.seats)
        failed = self.moderation is not None and bool(self.moderation.failed)
        by = 0 if self.debate.order == "fixed" or failed else (self.number - 1) % len(seats)
        return seats[by:] + seats[:by]

    @property
    def silent(self) -> bool:
        """Whether every participant failed in the current round."""
        return len(self.spoken) == len(self.present) and all(each.speech.failed for each in self.spoken)

    @property
    def unreached(self) -> bool:
        """Whether it failed because no model answered, and not because of an answer."""
        if self.failed:
            return self.failed.unreached
        return self.silent and all(each.speech.unreached for each in self.spoken)

    def held(self, compared: Compared | None = None) -> Round:
        """The current round as it goes on record; `compared`: it is complete."""
        places = {seat.id: at for at, seat in enumerate(self.debate.seats)}
        spoken = sorted(self.spoken, key=lambda each: places[each.speech.seat])
        longest = max((each.speech.seconds for each in spoken), default=0.0)
        made = Round(
            number=self.number,
            final=self.final,
            order=self.order,
            speeches=tuple(each.speech for each in spoken),
            novelty=compared.novelty if compared else (),
            moderation=self.moderation,
            condensed=tuple(dict.fromkeys(name for each in spoken for name in each.condensed)),
            started_at=min((each.started_at for each in spoken), default=""),
            seconds=round(longest + (self.moderated.seconds if self.moderated else 0), 4),
        )
        early = compared is not None and brought_nothing(made) and self._all_voted(made)
        return made.model_copy(update={"final": True}) if early else made

    def _all_voted(self, held: Round) -> bool:
        """Whether a round has the ballot of every seat already: then there is no need of another."""
        return sum(each.ballot is not None for each in held.speeches) == len(self.debate.seats)


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


def require_due(due: bool, what: str) -> None:  # noqa: FBT001 - one's own
    """Raises `IllegalMove` for what was not due."""
    if not due:
        raise IllegalMove(f"The record says that {what}, and that was not its turn.")


def check_speech(state: DebateState, speech: Speech, *, due: Sequence[Hashable]) -> None:
    """Checks that a seat may add this speech now.

    Raises:
        IllegalMove: it may not.
    """
    require_due(Speak(speech.round, speech.seat) in due, f"{speech.seat} spoke in round {speech.round}")
    seats = [seat.id for seat in state.debate.seats]
    name = message_id(speech.round, seats.index(speech.seat) + 1)
    if speech.id != name:
        raise IllegalMove(f"The message of {speech.seat} is {name}, not {speech.id}.")
    if speech.failed and speech.ballot:
        raise IllegalMove(f"{speech.id} failed, and has a ballot.")


def check_synthesis(state: DebateState, event: Synthesised) -> None:
    """Whether the votes bear a synthesis.

    Raises:
        IllegalMove: they do not.
    """
    made = event.synthesis
    if made is None:
        return
    cited = {each for reason in made.reasons for each in reason.cites}
    if made.verdict is Vote.ABSTAIN or (why := against_the_votes(made.verdict, cited, state.rounds)):
        raise IllegalMove(f"The synthesis breaks a rule: {why if made.verdict is not Vote.ABSTAIN else 'it abstains'}")


def brought_nothing(held: Round) -> bool:
    """Whether no claim of a round is new; there is nothing before the first."""
    return held.number >= _FIRST_TO_CONVERGE and held.converged


def silence(state: DebateState) -> GiveUp:
    """Why a round in which no participant said anything that counts ends the debate for now."""
    why = "; ".join(dict.fromkeys(each.failed for each in state.held().speeches))
    return GiveUp(
        f"all {len(state.spoken)} voices failed in round {state.number}: {why}",
        "look at the models of the voices, their exchanges are in .swarm/traces/; taken up again, the debate asks "
        "this round anew",
    )

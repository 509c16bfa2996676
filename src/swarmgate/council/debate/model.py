"""Data model of a debate: the request, the events of its record, complete rounds, and the outcome.

A debate is held in rounds. Every seat speaks once a round, in the last one it votes. Messages are named by swarmgate:
`r2-msg-003` is the message of the third seat in round 2, and `r2-msg-003-c1` the first claim in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import (
    LEAST_SEATS,
    MOST_ROUNDS,
    MOST_SEATS,
    Ballot,
    Reason,
    Seat,
    SeatId,
    Tally,
    Vote,
)
from swarmgate.domain.usage import Usage

PART = "debate"
"""What the debate of a dispatch is called: its id is that of the dispatch, a dot, and this."""

DISPATCH = "dispatch"
"""What such a debate is about, and the name of the pattern that holds it."""


class Stance(StrEnum):
    """Which side a claim speaks for."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"


class Claim(Frozen):
    """One thing that a participant holds to be so."""

    id: str
    text: Line
    stance: Stance = Stance.NEUTRAL
    evidence: Text = ""


class Speech(Frozen):
    """The speech of one seat in one round; `failed` says why it does not count.

    `unreached` says of a failed one that its model could not be reached, or gave up: it has said nothing at all.

    `prompt_hash` is the SHA-256 of the conversation that was sent, in hex; `cut` are characters of its text that were
    left out because it was too long; `seconds` is wall time.
    """

    id: str
    round: int
    seat: SeatId
    text: Text = ""
    claims: tuple[Claim, ...] = ()
    ballot: Ballot | None = None
    failed: Line = ""
    unreached: bool = False
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    cut: int = 0


class Novelty(Frozen):
    """Whether a claim was new when it was made: the nearest earlier claim, and how like it is, 0 to 100."""

    claim: str
    new: bool
    nearest: str = ""
    similarity: float = 0.0


class Moderation(Frozen):
    """What the moderator decided before a round: the order, questions by seat, and whom it cut as repeating itself.

    `dropped` is what it asked for and did not get, a phrase each: an unknown seat, a cut that may not be.
    """

    order: tuple[SeatId, ...] = ()
    questions: dict[SeatId, Line] = Field(default_factory=dict)
    cut: tuple[SeatId, ...] = ()
    dropped: tuple[Line, ...] = ()
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    failed: Line = ""


class Round(Frozen):
    """One whole round: `speeches` in order of seat, `order` the one in which its participants read earlier rounds.

    A seat that the moderator cut has no speech. `moderation` was made before this round, `novelty` after it.
    `condensed` are ids of messages that this round's participants saw as a gist, because all did not fit their windows.
    """

    number: int
    final: bool
    order: tuple[SeatId, ...]
    speeches: tuple[Speech, ...]
    novelty: tuple[Novelty, ...] = ()
    moderation: Moderation | None = None
    condensed: tuple[str, ...] = ()
    started_at: str = ""
    seconds: float = 0.0

    @property
    def converged(self) -> bool:
        """Whether participants spoke and none made a new claim."""
        return any(not each.failed for each in self.speeches) and not any(each.new for each in self.novelty)


class Debate(Frozen):
    """What is debated, by whom, within which bounds.

    `material` is what the question is about (a plan, a diff ...); `tokens` is what one participant may use in one
    round, `similarity` the likeness, 0 to 100, from which a claim is an old one. `moderator` is a further participant
    that may order the rounds. `parent` says whether the architect synthesises. `about` names what asked for it: `task
    1.2, attempt 2`.
    """

    id: str
    question: Text
    material: Text = ""
    seats: tuple[Seat, ...] = Field(min_length=LEAST_SEATS, max_length=MOST_SEATS)
    rounds: int = Field(2, ge=1, le=MOST_ROUNDS)
    order: Literal["fixed", "rotate"] = "rotate"
    moderator: Seat | None = None
    parent: bool = True
    tokens: int = Field(20_000, ge=1)
    timeout_s: float = Field(300, gt=0)
    similarity: float = Field(90, ge=0, le=100)
    task: str = ""
    attempt: int = 0
    about: Line = ""


class Synthesis(Frozen):
    """What the architect makes of a debate. `dissent` is what the losing side still holds."""

    verdict: Vote
    summary: Text
    reasons: tuple[Reason, ...] = ()
    dissent: tuple[Reason, ...] = ()
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0


class Outcome(Frozen):
    """How a debate ended: APPROVE or REJECT, decided by the synthesis or, without one, by the majority rule."""

    id: str
    verdict: Vote
    decided_by: Literal["synthesis", "majority"]
    tally: Tally
    rounds: int
    converged: bool
    synthesis: Synthesis | None = None
    usage: Usage = Usage()
    seconds: float = 0.0


class DebateRecord(Frozen):
    """All that is kept of a debate; no `outcome` while it is not over, `failed` says why it never will be."""

    debate: Debate
    rounds: tuple[Round, ...] = ()
    outcome: Outcome | None = None
    failed: Line = ""


def tally(speeches: Iterable[Speech]) -> Tally:
    """Counts the ballots of the last round."""
    votes = [each.ballot.vote if each.ballot else None for each in speeches]
    return Tally(
        approve=votes.count(Vote.APPROVE),
        reject=votes.count(Vote.REJECT),
        abstain=votes.count(Vote.ABSTAIN),
        failed=votes.count(None),
    )


# --- what happens, as the record has it ---


class Moderated(Frozen):
    """The moderator decided how a round is held, or failed to; `seconds` is wall time."""

    type: Literal["moderated"] = "moderated"
    round: int
    moderation: Moderation
    seconds: float = 0.0

    @property
    def usage(self) -> Usage:
        """What the moderator used."""
        return self.moderation.usage


class Spoke(Frozen):
    """A participant is done with its part of a round. `condensed` are ids of messages that it saw as a gist."""

    type: Literal["spoke"] = "spoke"
    speech: Speech
    condensed: tuple[str, ...] = ()
    started_at: str = ""

    @property
    def usage(self) -> Usage:
        """What the participant used."""
        return self.speech.usage


class Compared(Frozen):
    """All of a round have spoken, and its claims were compared with those before: the round is whole."""

    type: Literal["compared"] = "compared"
    round: int
    novelty: tuple[Novelty, ...] = ()


class Synthesised(Frozen):
    """The architect weighed the debate; None: it has no model, and the majority decides."""

    type: Literal["synthesised"] = "synthesised"
    synthesis: Synthesis | None = None

    @property
    def usage(self) -> Usage:
        """What the architect used."""
        return self.synthesis.usage if self.synthesis else Usage()


class SynthesisFailed(Frozen):
    """The architect gave no synthesis that keeps to the rules; `unreached`: its model gave no answer at all."""

    type: Literal["synthesis_failed"] = "synthesis_failed"
    why: Line
    unreached: bool = False
    usage: Usage = Usage()

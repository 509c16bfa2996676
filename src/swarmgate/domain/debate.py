"""What a debate is made of: seats, claims, ballots, rounds and the outcome; and the rule that counts ballots.

A debate is held in rounds. Every seat speaks once a round, in the last one it votes. Messages are named by swarmgate:
`r2-msg-003` is the message of the third seat in round 2, and `r2-msg-003-c1` the first claim in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.usage import Usage

MOST_ROUNDS = 5
MOST_SEATS = 8
LEAST_SEATS = 2

SeatId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
"""The name of a voice: letters, digits, `.`, `_` and `-`, at most 40."""


class Vote(StrEnum):
    """What a voice decides in the last round. ABSTAIN counts for neither side."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    ABSTAIN = "ABSTAIN"


class Stance(StrEnum):
    """Which side a claim speaks for."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"


class Seat(Frozen):
    """One voice: its name, what it is to argue for, its own system text, and its model.

    `model` is `provider/model`; empty: that of `[roles.participant]`, else of `[roles.default]`. `brief` says what the
    voice is to look for (advocate, challenger ...); `system` stands in its system message.
    """

    id: SeatId
    model: str = ""
    brief: Text = ""
    system: Text = ""


class Claim(Frozen):
    """One thing that a voice holds to be so."""

    id: str
    text: Line
    stance: Stance = Stance.NEUTRAL
    evidence: Text = ""


class Reason(Frozen):
    """Why a voice, or the synthesis, decides as it does.

    `cites` are ids of messages that were shown to it; `unresolved` are ids that it named and that do not exist.
    """

    text: Text
    cites: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


class Ballot(Frozen):
    """The FINAL_VERDICT of a voice; `confidence` is 0 to 1."""

    vote: Vote
    confidence: float = Field(ge=0, le=1)
    reasons: tuple[Reason, ...] = ()


class Speech(Frozen):
    """What one seat said in one round; `failed` says why it said nothing that counts.

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
    """One whole round: `speeches` in order of seat, `order` the one in which its voices read each round before it.

    A seat that the moderator cut has no speech. `moderation` was made before this round, `novelty` after it.
    `condensed` are ids of messages that this round's voices saw as a gist, because all did not fit their windows.
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
        """Whether voices spoke and none said anything new."""
        return any(not each.failed for each in self.speeches) and not any(each.new for each in self.novelty)


class Debate(Frozen):
    """What is debated, by whom, within which bounds.

    `material` is what the question is about (a plan, a diff ...); `tokens` is what one voice may use in one round,
    `similarity` the likeness, 0 to 100, from which a claim is an old one. `moderator` is a further voice that may order
    the rounds. `parent` says whether the architect synthesises. `about` names what asked for it: `task 1.2, attempt 2`.
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


class Tally(Frozen):
    """How many voices decided what; `failed` ones gave no ballot that could be read."""

    approve: int = 0
    reject: int = 0
    abstain: int = 0
    failed: int = 0

    @property
    def verdict(self) -> Vote:
        """The stated rule: APPROVE where more approve than reject or failed; a tie rejects."""
        return Vote.APPROVE if self.approve > self.reject + self.failed else Vote.REJECT

    @property
    def unanimous(self) -> bool:
        """Whether there were votes, every voice took a side, and all the same."""
        return not (self.abstain or self.failed) and (self.approve > 0) is not (self.reject > 0)


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


def message_id(round_number: int, seat_number: int) -> str:
    """The name of a message; both numbers from 1."""
    return f"r{round_number}-msg-{seat_number:03d}"


MESSAGE_ID = re.compile(r"\br[1-9][0-9]*-msg-[0-9]+\b")
"""What reads as the name of a message."""


def tally(speeches: Iterable[Speech]) -> Tally:
    """Counts the ballots of the last round."""
    votes = [each.ballot.vote if each.ballot else None for each in speeches]
    return Tally(
        approve=votes.count(Vote.APPROVE),
        reject=votes.count(Vote.REJECT),
        abstain=votes.count(Vote.ABSTAIN),
        failed=votes.count(None),
    )

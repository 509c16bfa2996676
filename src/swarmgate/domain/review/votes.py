"""Records of a vote: voters and seats, ballots with reasons, the count and the deciding rule.

What a debate itself is made of stands in the council's room (`council.debate.model`).
"""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text

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


class Seat(Frozen):
    """One voice: its name, who it is, what it is to argue for, its own system text, its model, and its folder.

    `agent` is an entry of `[agents]`, or a role, that it is taken from; `role` is what it is, in a few words.
    `model` is `provider/model`; empty: that of its `model_tier`, of its role, of `[roles.participant]`, else of
    `[roles.default]`. `brief` says what the voice is to look for (advocate, challenger ...); `system` stands in its
    system message. `folder` is where its files are rooted, from the root of the repository.
    """

    id: SeatId
    agent: str = ""
    role: Line = ""
    model: str = ""
    model_tier: str = ""
    brief: Text = ""
    system: Text = ""
    folder: str = ""


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


def message_id(round_number: int, seat_number: int) -> str:
    """The name of a message; both numbers from 1."""
    return f"r{round_number}-msg-{seat_number:03d}"


MESSAGE_ID = re.compile(r"\br[1-9][0-9]*-msg-[0-9]+\b")
"""What reads as the name of a message."""


def in_words(tally: Tally) -> str:
    """The ballots: `1 for, 1 against`."""
    counts = {"for": tally.approve, "against": tally.reject, "abstained": tally.abstain, "failed": tally.failed}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

"""What a council tells while it is at work, for a progress display; what counts is on record elsewhere.

Each pattern adds its own events to the union `CouncilEvent`; those that came later share the ones of `council.stream`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swarmgate.council.stream import PatternEvent
from swarmgate.domain.debate import Moderation, Outcome, Round, Speech, Synthesis
from swarmgate.domain.dispatch import DispatchedReply


@dataclass(frozen=True, slots=True)
class RoundBegan:
    """A round of a debate begins; `final` says that it is the vote, `rounds` how many there may be."""

    debate: str
    number: int
    rounds: int
    final: bool


@dataclass(frozen=True, slots=True)
class Moderated:
    """The moderator decided how round `number` is held, or failed to."""

    debate: str
    number: int
    moderation: Moderation


@dataclass(frozen=True, slots=True)
class Spoke:
    """A voice is done with its part of a round: these come in the order of arrival."""

    debate: str
    speech: Speech


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A round is whole and on record."""

    debate: str
    round: Round


@dataclass(frozen=True, slots=True)
class Synthesised:
    """The parent made of the debate what it makes of it."""

    debate: str
    synthesis: Synthesis


@dataclass(frozen=True, slots=True)
class DebateEnded:
    """The debate has an outcome, and it is on record."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Asked:
    """A voice of a dispatch is asked; `number` is its task's place, from 1."""

    dispatch: str
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A voice of a dispatch is done with its task: these come in the order of arrival."""

    dispatch: str
    reply: DispatchedReply


CouncilEvent = RoundBegan | Moderated | Spoke | RoundEnded | Synthesised | DebateEnded | Asked | Answered | PatternEvent

OnCouncilEvent = Callable[[CouncilEvent], None]

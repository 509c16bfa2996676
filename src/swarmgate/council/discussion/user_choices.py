"""Interface to the user in a discussion: confirms the cast, may speak between steps, chooses what follows a round."""

from __future__ import annotations

from typing import Protocol

from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, Discussion, DiscussionRecord, Mode, Step
from swarmgate.domain.base import Frozen


class Pause(Exception):
    """The user wants to go on later: all that is finished is on record."""


class Confirmed(Frozen):
    """The cast is as the user wants it."""


class People(Protocol):
    """Whoever answers for the user. Each of these may raise `Pause`."""

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """What the user says to the cast: takes it, gives a changed one, or wants another mode.

        Raises:
            WaitingForUser: nobody is there to ask; the cast is on record.
        """

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """What the user says after a step; empty: nothing."""

    async def choose(self, record: DiscussionRecord) -> Choice:
        """What comes after the last round of the record."""


class Following:
    """Nobody is asked: the cast is taken, the moderator followed."""

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """Takes it."""
        del discussion, cast
        return Confirmed()

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """Nothing."""
        del record, after
        return ""

    async def choose(self, record: DiscussionRecord) -> Choice:
        """What the moderator recommends."""
        return Choice(after=len(record.rounds), kind=ChoiceKind.FOLLOW, by="moderator")


FOLLOWING = Following()
"""The default `People`."""

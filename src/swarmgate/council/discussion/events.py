"""Events that only records of discussions have."""

from __future__ import annotations

from typing import Literal

from swarmgate.council.discussion.findings import Conclusion, Reopening
from swarmgate.council.discussion.model import Cast, Choice, Message, Mode
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage


class CastProposed(Frozen):
    """A cast that nobody has confirmed yet, as it was generated."""

    type: Literal["cast_proposed"] = "cast_proposed"
    cast: Cast

    @property
    def usage(self) -> Usage:
        """What generating it used."""
        return self.cast.usage


class ModeChanged(Frozen):
    """The user wants another mode, before it begins."""

    type: Literal["mode_changed"] = "mode_changed"
    mode: Mode


class CastConfirmed(Frozen):
    """The cast is final."""

    type: Literal["cast_confirmed"] = "cast_confirmed"
    cast: Cast


class MessageAdded(Frozen):
    """One participant is done with its part of a step, or failed in it; it was asked at `started_at`, in UTC."""

    type: Literal["said"] = "said"
    message: Message
    started_at: str = ""

    @property
    def usage(self) -> Usage:
        """What the participant used."""
        return self.message.usage


class UserConsulted(Frozen):
    """The user was asked after a step, and gave a message or none; the step is over."""

    type: Literal["heard"] = "heard"
    message: Message | None = None


class Chosen(Frozen):
    """What comes after a round."""

    type: Literal["chosen"] = "chosen"
    choice: Choice


class Reopened(Frozen):
    """The moderator took the discussion up again, before the next choice."""

    type: Literal["reopened"] = "reopened"
    reopening: Reopening

    @property
    def usage(self) -> Usage:
        """What the moderator used."""
        return self.reopening.usage


class Paused(Frozen):
    """The user paused the discussion."""

    type: Literal["paused"] = "paused"


class Concluded(Frozen):
    """The conclusion."""

    type: Literal["concluded"] = "concluded"
    conclusion: Conclusion

    @property
    def usage(self) -> Usage:
        """What concluding used."""
        return self.conclusion.usage


EVENTS = (CastProposed, ModeChanged, CastConfirmed, MessageAdded, UserConsulted, Chosen, Paused, Reopened, Concluded)

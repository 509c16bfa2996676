"""What an orchestration says of a decision: who takes part, by which strategy, and how it may end."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.council_limits import ITERATIONS
from swarmgate.domain.debate import SeatId
from swarmgate.domain.discussion import Mode

Ended = Literal["consensus", "convergence", "rounds", "timeout"]
"""Why there is no further round."""


class Strategy(StrEnum):
    """How a round of contributions becomes a consensus, or does not."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    SUPERMAJORITY = "supermajority"
    WEIGHTED = "weighted"
    FACILITATOR = "facilitator"
    APPROVAL = "approval"
    RANKED = "ranked"


class DecisionSeat(Frozen):
    """A participant of a decision.

    `weight` is 0 to 1; `role` is a few words, `perspective` from where it looks, `system` its own system text, `model`
    `provider/model` (empty: that of `[roles.participant]`). `discussion`: it is a discussion of that mode, whose
    conclusion it speaks from. `critique`: iterations in which it improves its own draft before it speaks.
    """

    id: SeatId
    role: Line = ""
    weight: float = Field(1.0, ge=0, le=1)
    perspective: Text = ""
    system: Text = ""
    model: str = ""
    discussion: Mode | None = None
    critique: int = Field(0, ge=0, le=int(ITERATIONS.most))

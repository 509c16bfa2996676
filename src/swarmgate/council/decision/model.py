"""Data model of a decision: its request, the events of its record, its rounds and its outcome.

The rule that makes a consensus of a round is that of its strategy (`counting.py`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from swarmgate.council.discussion.model import Mode
from swarmgate.council.limits import ITERATIONS, PARTICIPANTS, ROUNDS
from swarmgate.council.records.lifecycle import Status
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import SeatId
from swarmgate.domain.usage import Usage

Ended = Literal["consensus", "convergence", "rounds", "timeout", "waiting"]
"""Why there is no further round, for good or for now: a person is waited for, or the time was up."""


class Strategy(StrEnum):
    """How a round of contributions becomes a consensus, or does not."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    SUPERMAJORITY = "supermajority"
    WEIGHTED = "weighted"
    FACILITATOR = "facilitator"
    APPROVAL = "approval"
    RANKED = "ranked"


VOTING = frozenset({Strategy.APPROVAL, Strategy.RANKED})
"""Strategies that choose among options."""

THRESHOLDS: dict[Strategy, float] = {
    Strategy.UNANIMOUS: 0.5,
    Strategy.WEIGHTED: 0.7,
    Strategy.SUPERMAJORITY: 2 / 3,
}
"""Where the request says no other. The rest read none: majority and the votes need more than half."""


FACILITATOR = "facilitator"
"""Who sums up each round where nobody else is named."""


class Stand(StrEnum):
    """Where a participant stands on what is proposed. Who abstains counts as present, and never as one who agrees."""

    AGREE = "agree"
    DISAGREE = "disagree"
    ABSTAIN = "abstain"


class DecisionSeat(Frozen):
    """A participant of a decision.

    `agent` is who it is taken from, as of a `Seat`, and so are `role`, `system`, `model`, `model_tier` and `folder`.
    `weight` is 0 to 1; `perspective` says from where it looks. `discussion`: it is a discussion of that mode, whose
    conclusion it speaks from. `critique`: iterations in which it improves its own draft before it speaks. `human`: it
    is a person, who is asked, and no model.
    """

    id: SeatId
    agent: str = ""
    role: Line = ""
    weight: float = Field(1.0, ge=0, le=1)
    perspective: Text = ""
    system: Text = ""
    model: str = ""
    model_tier: str = ""
    folder: str = ""
    discussion: Mode | None = None
    critique: int = Field(0, ge=0, le=int(ITERATIONS.most))
    human: bool = False


class Decision(Frozen):
    """What is decided, by whom, by which strategy.

    `options` are what approval and ranked votes choose among. `facilitator` is the id of the participant that decides
    (strategy facilitator), else of the participant that synthesises each round. `threshold` is 0 to 1. `settled` is the
    change of each level, 0 to 1, below which two rounds count as the same.
    """

    id: str
    question: Text
    material: Text = ""
    participants: tuple[DecisionSeat, ...] = Field(min_length=1, max_length=int(PARTICIPANTS.most))
    strategy: Strategy = Strategy.MAJORITY
    threshold: float | None = Field(None, gt=0, le=1)
    options: tuple[Line, ...] = ()
    facilitator: SeatId = FACILITATOR
    facilitator_model: str = ""
    facilitator_system: Text = ""
    rounds: int = Field(3, ge=int(ROUNDS.least), le=int(ROUNDS.most))
    settled: float = Field(0.05, ge=0, le=1)
    tokens: int = Field(20_000, ge=1)
    timeout_s: float = Field(300, gt=0)
    whole_s: float = Field(1800, gt=0)

    @property
    def bar(self) -> float:
        """The threshold that holds."""
        return THRESHOLDS.get(self.strategy, 0.5) if self.threshold is None else self.threshold


class Contribution(Frozen):
    """The contribution of one participant in one round.

    `agreement` is 0 to 1, `stand` the word for it; for votes `approves` and `ranking` are options as they were put.
    `excluded` says why it does not count: it gave no typed answer when asked twice, or its model failed.
    `prepared` is the id of the discussion or critique that it spoke from; `preparing` is what that took since the last
    contribution, and part of `usage`, as is what was asked in vain before in this round.
    """

    id: str
    round: int
    participant: SeatId
    text: Text = ""
    agreement: float | None = Field(None, ge=0, le=1)
    stand: Stand | None = None
    approves: tuple[Line, ...] = ()
    ranking: tuple[Line, ...] = ()
    excluded: Line = ""
    prepared: str = ""
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    preparing: Usage = Usage()
    seconds: float = 0.0


class Spoke(Contribution):
    """A participant is done with its contribution; `usage` is what this one asking took, `started_at` when it began."""

    type: Literal["spoke"] = "spoke"
    started_at: str = ""


class Prepared(Frozen):
    """What a participant speaks from in all rounds: the text of its discussion or critique, or why there is none.

    `prepared` is the id of that record, which is a part of this one; `usage` what it took since it was last counted.
    """

    type: Literal["prepared"] = "prepared"
    round: int
    participant: SeatId
    prepared: str = ""
    text: Text = ""
    failed: Line = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    started_at: str = ""


class Proposal(Frozen):
    """What the facilitator makes of a round: what the next one decides on. `failed`: the earlier proposal stays."""

    text: Text = ""
    open_points: tuple[Line, ...] = ()
    failed: Line = ""
    author: SeatId = FACILITATOR
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0


class Synthesised(Proposal):
    """The facilitator is done with a round, which is whole."""

    type: Literal["synthesised"] = "synthesised"
    round: int


class Count(Frozen):
    """What the strategy makes of a round.

    `score` is 0 to 1: the share, least level, mean or weighted mean that was held against `bar`. `agree`, `disagree`,
    `abstain` and `excluded` are how many did; in votes those agree who approve of, or put first, the `choice`: the
    option that won. `why` says in words what was counted.
    """

    consensus: bool
    score: float = Field(ge=0, le=1)
    bar: float
    agree: int = 0
    disagree: int = 0
    abstain: int = 0
    excluded: int = 0
    choice: Line = ""
    why: Line = ""


class DecisionRound(Frozen):
    """One complete round; `proposal` is what it decided on, `synthesis` the facilitator's proposal after it."""

    number: int
    proposal: Text
    contributions: tuple[Contribution, ...]
    count: Count
    synthesis: Proposal | None = None
    converged: bool = False
    started_at: str = ""
    seconds: float = 0.0


class DecisionOutcome(Frozen):
    """How a decision ended: with a consensus on `decided`, or honestly without one.

    `proposed` is what the facilitator made of the last round; without a consensus nobody agreed on it. `excluded` says
    of the last round who did not count, and why;
    `open_points` are what the facilitator sees as open.
    """

    id: str
    consensus: bool
    ended_by: Ended
    strategy: Strategy
    decided: Text = ""
    proposed: Text = ""
    choice: Line = ""
    score: float = 0.0
    bar: float = 0.0
    rounds: int = 0
    count: Count | None = None
    open_points: tuple[Line, ...] = ()
    excluded: dict[str, str] = Field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0


class DecisionRecord(Frozen):
    """All that is kept of a decision. `paused`: its time was up; it has an outcome so far, and can go on.

    `part_of` is the record as whose step it was held; empty: it was asked for by itself.
    """

    decision: Decision
    status: Status = "open"
    why: Line = ""
    part_of: str = ""
    rounds: tuple[DecisionRound, ...] = ()
    outcome: DecisionOutcome | None = None


class DecisionSummary(Frozen):
    """One decision of the list. `status` is `consensus`, `none`, that of its record, or `damaged`: see `question`.

    `began` is in UTC, as ISO 8601 has it.
    """

    id: str
    began: str
    status: str
    strategy: str
    question: str

"""Decides when a review is debated, and how the outcome of a debate changes the review. Pure.

An ordinary verdict, its triggers and a first look are weighed: a debate is held, or none. The outcome of one is
settled: APPROVED, REJECTED, or nothing was decided.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.plan.plan import Complexity, Plan, Task
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.review.votes import Ballot, Tally, Vote
from swarmgate.domain.state.debate_count import DebateCount
from swarmgate.domain.state.state import Attempt, TaskRecord

LARGE_LINES = 400
"""Added and removed lines from which a change is LARGE, whatever its task says: a plan never has a LARGE task.

Reviewers find fewer defects beyond 200 to 400 lines (J. Cohen, Best Kept Secrets of Peer Code Review, 2006).
"""

LARGE_PLAN = 20
"""Tasks from which a plan is LARGE: the last of them are an estimate on estimates."""

LEAST_LIFT = 10.0
"""Percentage points from which debates are worth their cost (issue 5, item 4)."""
_ROUNDED = 0.001
"""Percentage points by which the rounding of a lift may have moved it."""

_REVIEWERS = frozenset({Judge.REVIEWER, Judge.SECURITY_REVIEWER})

Number = Annotated[float, Field(allow_inf_nan=False)]


class DebateWorth(Frozen):
    """What `swarm eval debate` measured: whether debates are worth their cost, kept in `.swarm/debate-worth.json`.

    `lift` is the accuracy of debates less that of as many independent votes, in percentage points; `interval` its
    95 % interval. `items` were judged by `models`; `fixtures` is the SHA-256 of their file, in hex; `date` is UTC
    (ISO 8601). "defer": `[review] mode = "auto"` holds no debates.
    """

    decision: Literal["use", "defer"]
    lift: Number
    interval: tuple[Number, Number]
    items: int = Field(ge=1)
    models: tuple[Line, ...] = Field(min_length=1)
    fixtures: str = Field(pattern=r"^[0-9a-f]{64}$")
    date: Line

    @model_validator(mode="after")
    def _can_have_been_measured(self) -> Self:
        low, high = self.interval
        if not low - _ROUNDED <= self.lift <= high + _ROUNDED:
            raise ValueError(f"the lift of {self.lift:g} is not within its interval, {low:g} to {high:g}")
        side = "use" if self.lift >= LEAST_LIFT else "defer"
        if self.decision != side and abs(self.lift - LEAST_LIFT) > _ROUNDED:
            raise ValueError(f'a lift of {self.lift:g} points is decided as "{side}", not as "{self.decision}"')
        datetime.fromisoformat(self.date)  # its ValueError says what is wrong
        return self

    def description(self, voices: Sequence[str]) -> str:
        """Why debates are deferred, in one line; it counts for other `voices` (their models) too, and says so."""
        low, high = self.interval
        others = [each for each in dict.fromkeys(voices) if each not in self.models]
        message = f"; measured with {', '.join(self.models)}, and not with {', '.join(others)}" if others else ""
        return (
            f"debates are deferred: they were {self.lift:+.1f} points ({low:+.1f} to {high:+.1f}) more often right "
            f"than as many votes, over {self.items} items ({self.date}){message}"
        )


@dataclass(frozen=True)
class Weighed:
    """Whether a review is debated: what speaks for it (none: it is not contested), and why it is held or not."""

    triggers: tuple[str, ...]
    held: bool
    why: str


def change_triggers(task: Task, record: TaskRecord, attempt: Attempt, lines: int) -> tuple[str, ...]:
    """The triggers that make the review of a change contested before anybody has judged it.

    Args:
        task: what the change is for.
        record: of the task.
        attempt: the one that is reviewed.
        lines: that it adds and removes.
    """
    found = []
    if task.complexity is Complexity.LARGE:
        found.append("the task is LARGE")
    elif lines >= LARGE_LINES:
        found.append(f"the change is LARGE: {lines:,} lines")
    if attempt.sensitive:
        found.append("the change is security-sensitive")
    earlier = (each for each in record.attempts if record.renewed < each.number < attempt.number)
    if judges := {each.stage.judge for each in earlier} & _REVIEWERS:
        who = min(judges).replace("_", " ")
        found.append(f"the {who} rejected an earlier attempt")
    return tuple(found)


def plan_triggers(plan: Plan, earlier: Sequence[Review]) -> tuple[str, ...]:
    """The triggers that make the review of a plan contested: its size, and objections in an earlier round."""
    found = []
    if any(task.complexity is Complexity.LARGE for task in plan.tasks.values()):
        found.append("a task of the plan is LARGE")
    elif len(plan.tasks) >= LARGE_PLAN:
        found.append(f"the plan is LARGE: {len(plan.tasks)} tasks")
    if any(not each.approved for each in earlier):
        found.append("the critic objected in an earlier round")
    return tuple(found)


def weigh(
    triggers: Iterable[str], *, judge: str, approved: bool, look: Ballot | None, sure: float, failed: str = ""
) -> Weighed:
    """Whether a debate is held.

    It is where judge and first look disagree, or where something else speaks for it and the look is not sure.

    Args:
        triggers: what speaks for a debate already.
        judge: whose verdict it is, for the reasons.
        approved: that verdict.
        look: the first look; None: it could not be read, which counts as unsure.
        sure: confidence from which a look that agrees is enough.
        failed: why there is no first look.
    """
    known = tuple(triggers)
    none = f"the first look failed: {failed}" if failed else "the first look gave no verdict"
    agreed = look is not None and look.vote is (Vote.APPROVE if approved else Vote.REJECT)
    if look is not None and look.vote is not Vote.ABSTAIN and not agreed:
        disagree = f"{judge} and first look disagree"
        return Weighed((*known, disagree), held=True, why=disagree)
    if not known:
        return Weighed((), held=False, why="nothing speaks for a debate" if look else none)
    if look is None or not agreed:
        return Weighed(known, held=True, why=none if look is None else "the first look abstains")
    if look.confidence >= sure:
        return Weighed(known, held=False, why=f"the first look agrees with the {judge} ({look.confidence:.2f})")
    return Weighed(known, held=True, why=f"the first look is not sure ({look.confidence:.2f} of {sure:.2f})")


def expected_tokens(counts: DebateCount, *, once: int, seats: int, rounds: int) -> int:
    """What a debate would use: the mean of this project's debates, without one a look for each who speaks.

    Args:
        counts: of the project so far.
        once: what one voice uses that reads the material once, in tokens.
        seats: voices.
        rounds: of each; the parent reads the material once more.
    """
    if counts.held:
        return counts.debated // counts.held
    return (seats * rounds + 1) * once


def settled(verdict: Vote, tally: Tally, decided_by: Literal["synthesis", "majority"]) -> Verdict | None:
    """What an outcome means for what was debated; None: nothing is decided, nothing passes and nothing is rejected.

    An approval stands by the majority, or by a synthesis of a debate in which every voice was heard and one approves.
    Any other approval is a rejection. Where a voice failed and nobody speaks against, nobody looked from its side: only
    a reasoned rejection of the synthesis decides then.
    """
    if tally.verdict is Vote.APPROVE and verdict is Vote.APPROVE:
        return Verdict.APPROVED
    unheard = bool(tally.failed) and not tally.reject
    if verdict is Vote.REJECT:
        return None if unheard and decided_by == "majority" else Verdict.REJECTED
    convincing = decided_by == "synthesis" and bool(tally.approve) and not tally.failed
    return Verdict.APPROVED if convincing else None if unheard else Verdict.REJECTED

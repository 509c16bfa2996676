"""JSON-ready progress events of discussions, decisions, critiques and orchestrations.

    started, round, step, contribution, round_completed, converged, completed, error

`PATTERN_EVENT.validate_json(event.model_dump_json())` gives the event again: a service can forward it as it is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.usage import Usage

Pattern = Literal["discussion", "decision", "critique", "orchestration"]


class _Event(Frozen):
    """Of which pattern, and of which record."""

    pattern: str
    id: str


class Started(_Event):
    """It begins, or goes on: `resumed`. `title` is the topic, question or task; `who` are its participants."""

    event: Literal["started"] = "started"
    title: Line
    who: tuple[str, ...] = ()
    most: int = 1
    resumed: bool = False


class RoundStarted(_Event):
    """A round, iteration or orchestration step `number` of at most `most` begins."""

    event: Literal["round"] = "round"
    number: int
    most: int
    title: Line = ""


class StepStarted(_Event):
    """A step of a round begins; `who` are those that are asked at once."""

    event: Literal["step"] = "step"
    number: int
    step: str
    who: tuple[str, ...] = ()


class Contributed(_Event):
    """A participant is done with its part, in the order of arrival; `failed` says why its answer does not count.

    `what` is a few words on what it comes to (`agrees, 0.80`), `text` its beginning.
    """

    event: Literal["contribution"] = "contribution"
    number: int
    step: str
    message: str = ""
    who: str
    what: Line = ""
    text: Text = ""
    failed: Line = ""
    usage: Usage = Usage()


class RoundCompleted(_Event):
    """A round is whole and on record; `what` says in a line what came of it, `score` is 0 to 1 where there is one."""

    event: Literal["round_completed"] = "round_completed"
    number: int
    what: Line = ""
    score: float | None = None


class Converged(_Event):
    """It ends early: a consensus, thresholds that are met, or nothing that moves any more."""

    event: Literal["converged"] = "converged"
    number: int
    why: Line


class Completed(_Event):
    """It is over and on record; `outcome` is that of the pattern, as JSON."""

    event: Literal["completed"] = "completed"
    what: Line
    outcome: dict[str, Any] = Field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0


class Notice(_Event):
    """What happened in words of its own, for a progress display; without any, its usage counts alone."""

    event: Literal["told"] = "told"
    kind: Literal["step", "event", "notice"] = "event"
    text: Line = ""
    usage: Usage = Usage()


class Erred(_Event):
    """It cannot go on, for now or for good; `hint` says what to do next."""

    event: Literal["error"] = "error"
    code: str
    why: Line
    hint: Line = ""


PatternEvent = Annotated[
    Started | RoundStarted | StepStarted | Contributed | RoundCompleted | Converged | Completed | Notice | Erred,
    Field(discriminator="event"),
]

PATTERN_EVENT: TypeAdapter[PatternEvent] = TypeAdapter(PatternEvent)
"""Reads and checks any event of the stream."""

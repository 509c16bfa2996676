"""Events that a model reports while it works, for a progress display."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.llm.time_parsing import rendered, utc

_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"), (1, "s"))
"""Seconds of the units in which a wait is displayed, of at least two."""


_NAME = 60
"""Characters of a model's name."""


class ModelReport(Frozen):
    """A report for a progress display; `kind` is that of `domain.progress`."""

    kind: ClassVar[str] = "model"

    @property
    def ends(self) -> str:
        """When it is over (UTC, ISO 8601); empty where it only happens."""
        return ""


class Retrying(ModelReport):
    """The call failed and is made again in `seconds`, for the time `attempt` of at most `attempts`; the first was 1."""

    model: str
    reason: str
    seconds: float
    attempt: int
    attempts: int

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.reason}; try {self.attempt} of {self.attempts} in {self.seconds:.0f} s"


class FellBack(ModelReport):
    """`model` failed for good, or reached its `limit`, which has a name then; `to` is asked instead."""

    model: str
    to: str
    reason: str
    limit: str = ""

    @property
    def text(self) -> str:
        """For people."""
        what = f"reached its {self.limit}" if self.limit else "failed for good"
        return f"{self.model} {what} ({self.reason}); asking {self.to}"


class CostUnknown(ModelReport):
    """The price of `model` is unknown: from here on only known costs count against limits in US dollars."""

    model: str

    @property
    def text(self) -> str:
        """For people."""
        return (
            f"the price of {self.model} is unknown: limits in US dollars hold known costs only "
            f'(set [prices."{self.model}"])'
        )


class WaitingForLimit(ModelReport):
    """No model of a role is free: from `now` on the work waits until `limit` of `model` ends."""

    kind: ClassVar[str] = "waiting"

    model: str
    limit: str
    until: datetime
    now: datetime

    @property
    def ends(self) -> str:
        """When the limit ends."""
        return utc(self.until)

    @property
    def text(self) -> str:
        """For people: until when, and how long that is."""
        seconds = (self.until - self.now).total_seconds()
        span = next(f"{seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= 2 * unit or unit == 1)
        name = cut_off(self.model)
        return f"{self.limit} of {name}: waiting until {rendered(self.until, self.now)[3:]}, {span}, Ctrl-C pauses"


class LimitOver(ModelReport):
    """The wait for `limit` of `model` lasted until its end."""

    model: str
    limit: str

    @property
    def text(self) -> str:
        """For people."""
        return f"the wait for the {self.limit} of {cut_off(self.model)} is over"


class WaitBrokenOff(ModelReport):
    """Nobody waits any more for `limit` of `model`, which has not ended: what waited was ended."""

    model: str
    limit: str

    @property
    def text(self) -> str:
        """For people."""
        return f"the {self.limit} of {cut_off(self.model)} is not waited for any more"


class Adapted(ModelReport):
    """A limit of `model` was found, and calls are adapted to it from here on; reported once.

    `reason` says what is otherwise now, `said` what the endpoint or the model said that showed it; it may be empty.
    """

    model: str
    reason: str
    said: str = ""

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.model}: {self.reason}{f' ({self.said})' if self.said else ''}"


class Answering(ModelReport):
    """An answer arrives: `tokens` of it, by an estimate, so far; `words` are its newest lines.

    For a live display, and worth no line.
    """

    kind: ClassVar[str] = "answer"

    model: str
    tokens: int
    words: str = ""

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.model}: {self.tokens:,} tokens of the answer"


class CutOff(ModelReport):
    """An answer was cut off before its end; `reason` says where and what to set."""

    model: str
    reason: str

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.model}: the answer was cut off: {self.reason}"


class Working(ModelReport):
    """An agent program uses a tool of its own; `usage` is what it says that this call used so far."""

    kind: ClassVar[str] = "tool"

    model: str
    role: str
    tool: str
    summary: str
    usage: Usage

    @property
    def text(self) -> str:
        """One line, as the tool uses of our own roles are shown."""
        tokens = f"({self.usage.tokens:,} tokens)" if self.usage.tokens else ""
        cost = f"(${self.usage.least_usd:.4f})" if self.usage.least_usd else ""
        return " ".join(filter(None, (f"{self.role}: {self.tool}", self.summary, tokens, cost)))


ModelEvent = (
    Retrying
    | FellBack
    | CostUnknown
    | Adapted
    | CutOff
    | Answering
    | WaitingForLimit
    | LimitOver
    | WaitBrokenOff
    | Working
)
"""Everything that a model may report; `text` is for people."""


def cut_off(model: str) -> str:
    """The name of a model for display: the command line of a program may be long."""
    return model if len(model) <= _NAME else f"{model[:_NAME]}..."


OnEvent = Callable[[ModelEvent], None]
"""Receives the reports of a model."""


def ignore(_event: ModelEvent) -> None:
    """Ignores a report."""

"""Results of the steps of an orchestration and of the whole, as conditions and later steps see them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from swarmgate.council.orchestration.model import Orchestration, Value
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.usage import Usage


class StepResult(Frozen):
    """How a step ended; `open`: it has not yet.

    `fields` are its typed outcomes (`FIELDS`), `text` its output. `why` says why it failed or was skipped. `record` is
    the id of the record of its pattern. `parts` are the steps inside of it: of a group, of a map (`part` is the number
    of the item, from 1), or those that were done `otherwise`. `usage` is that of failed tries too.
    """

    id: str
    kind: str
    part: int = 0
    item: Line = ""
    status: Literal["done", "failed", "skipped", "open"]
    why: Line = ""
    fields: dict[str, Value] = Field(default_factory=dict)
    text: Text = ""
    record: str = ""
    parts: tuple[StepResult, ...] = ()
    usage: Usage = Usage()
    started_at: str = ""
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """What it is called: `risks`, or `risks.2` for the second item of a map."""
        return f"{self.id}.{self.part}" if self.part else self.id

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """The patterns that failed in it: itself, or parts."""
        inner = tuple(each for part in self.parts for each in part.failures)
        return inner or ((self,) if self.status == "failed" else ())

    @property
    def output(self) -> str:
        """The output; empty where the step is not done."""
        return self.text if self.status == "done" else ""

    @property
    def outcome(self) -> dict[str, Value]:
        """What conditions may test."""
        return {**self.fields, "ended": self.status}


class OrchestrationOutcome(Frozen):
    """How an orchestration ended: each step that was come to, in order. `failed` is the step that stopped it."""

    id: str
    title: Line = ""
    steps: tuple[StepResult, ...]
    failed: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """Every pattern that failed, in the order of the steps."""
        return tuple(each for step in self.steps for each in step.failures)

    @property
    def all_failed(self) -> bool:
        """Whether every step failed."""
        return bool(self.failures) and not any(_done(step) for step in self.steps)


class OrchestrationRecord(Frozen):
    """All that is kept of an orchestration: `partial` is the step at work, or the one that failed.

    `began` is in UTC, as ISO 8601 has it.
    """

    orchestration: Orchestration
    began: str = ""
    status: Literal["open", "complete", "failed"] = "open"
    why: Line = ""
    steps: tuple[StepResult, ...] = ()
    partial: StepResult | None = None
    outcome: OrchestrationOutcome | None = None


def _done(step: StepResult) -> bool:
    """Whether a pattern in it came to its end."""
    return any(map(_done, step.parts)) if step.parts else step.status == "done"

"""Data model of an orchestration: steps that run council patterns, combined by groups, maps and conditions.

Steps are done in their order. `parallel` does several at once, `map` one for each item and then perhaps `reduce`; any
step may depend `when` on a typed outcome of an earlier one, and have others in its place `otherwise`. What must hold
between the steps is checked by `council.orchestration.bounds`; how texts refer to earlier outputs is in
`council.orchestration.texts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from swarmgate.council.critique.model import Criterion, CritiqueOutcome
from swarmgate.council.decision.model import DecisionSeat, Ended, Strategy
from swarmgate.council.discussion.model import Expert, ProblemDefinition
from swarmgate.council.discussion.model import Mode as DiscussionMode
from swarmgate.council.dispatch.model import MOST_CHAIN, DispatchRole, DispatchTask
from swarmgate.council.dispatch.model import Mode as DispatchMode
from swarmgate.council.limits import CRITERIA, ITERATIONS, PARTICIPANTS, ROUNDS, VOICE_SECONDS
from swarmgate.council.requests.seats import as_seat
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import MOST_ROUNDS, MOST_SEATS, Seat, SeatId

StepId = Annotated[str, Field(pattern=r"^([A-Za-z][A-Za-z0-9_-]{0,29})?$")]
"""The name of a step: letters, digits, `_` and `-`, a letter first, at most 30. Those inside of a map have none."""

RecordId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
"""The id of an orchestration: at most 40, so that those of its steps' records stay names of files."""

Value = bool | int | float | str
"""A typed outcome."""


DebateVoice = Annotated[Seat, BeforeValidator(as_seat)]
DecisionVoice = Annotated[DecisionSeat, BeforeValidator(as_seat)]


class Condition(Frozen):
    """A test of the outcome `field` of the earlier `step`: one of four comparisons. Without outcome it fails."""

    step: str
    field: str
    equals: Value | None = None
    not_equals: Value | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def tests(self) -> dict[str, Value]:
        """The comparisons that are given, by name."""
        named = {name: getattr(self, name) for name in ("equals", "not_equals", "at_least", "at_most")}
        return {name: value for name, value in named.items() if value is not None}

    def holds(self, outcome: Mapping[str, Value]) -> bool:
        """Whether it holds for the outcome of its step; a field that has no value meets no condition."""
        if self.field not in outcome:
            return False
        (name, bound), value = next(iter(self.tests.items())), outcome[self.field]
        if name in {"equals", "not_equals"}:
            return (value == bound) is (name == "equals")
        if isinstance(value, str):
            return False
        return value >= float(bound) if name == "at_least" else value <= float(bound)

    def __str__(self) -> str:
        return " and ".join(
            f"{self.step}.{self.field} {name.replace('_', ' ')} {_spelled(value)}" for name, value in self.tests.items()
        )


def _spelled(value: Value) -> str:
    """A value as a TOML file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else repr(value)


class _Step(Frozen):
    """What all steps have. `otherwise`: what is done, in order, where `when` does not hold."""

    id: StepId = ""
    when: Condition | None = None
    otherwise: tuple[Pattern, ...] = ()


class _About(_Step):
    """A step of several participants or rounds: its subject, and its own bounds within those of the orchestration."""

    material: Text = ""
    files: tuple[str, ...] = ()
    diff: str = ""
    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class DebateStep(_About):
    """A debate: the arguments of `Council.debate`."""

    kind: Literal["debate"] = "debate"
    question: Text
    participants: tuple[DebateVoice, ...] = Field((), max_length=MOST_SEATS)
    rounds: int | None = Field(None, ge=1, le=MOST_ROUNDS)
    moderator: DebateVoice | None = None
    order: Literal["fixed", "rotate"] | None = None
    synthesis: bool = True


class _Bounded(_About):
    timeout_s: float | None = Field(None, ge=VOICE_SECONDS.least, le=VOICE_SECONDS.most)
    cache: bool | None = None


class DiscussStep(_Bounded):
    """A structured discussion: the arguments of `Council.discuss`."""

    kind: Literal["discuss"] = "discuss"
    topic: Text
    mode: DiscussionMode | None = None
    rounds: int | None = Field(None, ge=int(ROUNDS.least), le=int(ROUNDS.most))
    personas: tuple[Expert, ...] = ()
    problem_definition: ProblemDefinition | None = None
    models: dict[str, str] = Field(default_factory=dict)


class DecideStep(_Bounded):
    """A decision by several: the arguments of `Council.decide`."""

    kind: Literal["decide"] = "decide"
    question: Text
    participants: tuple[DecisionVoice, ...] | None = Field(None, min_length=1, max_length=int(PARTICIPANTS.most))
    strategy: Strategy | None = None
    threshold: float | None = Field(None, gt=0, le=1)
    options: tuple[Line, ...] = ()
    facilitator: str | None = None
    rounds: int | None = Field(None, ge=int(ROUNDS.least), le=int(ROUNDS.most))


class CritiqueStep(_Bounded):
    """A self-critique: the arguments of `Council.critique`."""

    kind: Literal["critique"] = "critique"
    task: Text
    criteria: tuple[Criterion, ...] | None = Field(None, min_length=1, max_length=int(CRITERIA.most))
    name: Line = ""
    draft: Text = ""
    target: Line = ""
    iterations: int | None = Field(None, ge=int(ITERATIONS.least), le=int(ITERATIONS.most))
    stop: float | None = Field(None, ge=0, le=1)
    adaptive: bool = False
    model: str = ""
    evaluator: str = ""


class DispatchStep(_Step):
    """Tasks for participants that only read: the arguments of `Council.dispatch`."""

    kind: Literal["dispatch"] = "dispatch"
    mode: DispatchMode
    tasks: tuple[DispatchTask, ...] = Field(min_length=1, max_length=MOST_CHAIN)
    question: Text = ""
    rounds: int | None = Field(None, ge=1, le=MOST_ROUNDS)


class AskStep(_Step):
    """One participant on one task: a dispatch of one; see `DispatchTask`."""

    kind: Literal["ask"] = "ask"
    text: Text
    agent: Line = ""
    role: DispatchRole | Literal[""] = ""
    participant: SeatId | Literal[""] = ""
    model: Line = ""
    model_tier: Line = ""
    folder: Line = ""
    timeout_s: float | None = Field(None, ge=VOICE_SECONDS.least, le=VOICE_SECONDS.most)


class ParallelStep(_Step):
    """Steps that are done at once, `at_once` of them at most. It has failed where fewer than `least` are done."""

    kind: Literal["parallel"] = "parallel"
    steps: tuple[Pattern, ...] = Field(min_length=1)
    at_once: int = Field(4, ge=1, le=8)
    least: int = Field(1, ge=1)


class MapStep(_Step):
    """`step` for each item, `at_once` at most, then `reduce`, which gets all their outputs.

    `items_file` is a text file of the repository, an item a line. It has failed where fewer than `least` items are
    done, or `reduce` has failed.
    """

    kind: Literal["map"] = "map"
    items: tuple[Text, ...] = ()
    items_file: str = ""
    step: Pattern
    reduce: Pattern | None = None
    at_once: int = Field(4, ge=1, le=8)
    least: int = Field(1, ge=1)


Leaf = DebateStep | DiscussStep | DecideStep | CritiqueStep | DispatchStep | AskStep
"""A step that is a pattern of the council itself."""

Pattern = Annotated[Leaf, Field(discriminator="kind")]

Step = Annotated[Leaf | ParallelStep | MapStep, Field(discriminator="kind")]

KINDS: dict[str, type[_Step]] = {
    "debate": DebateStep,
    "discuss": DiscussStep,
    "decide": DecideStep,
    "critique": CritiqueStep,
    "dispatch": DispatchStep,
    "ask": AskStep,
    "parallel": ParallelStep,
    "map": MapStep,
}
"""Every kind of step, by its word."""

ENDS = ("done", "failed", "skipped")

_GROUP: dict[str, type | tuple[str, ...]] = {"done": int, "failed": int, "total": int}

FIELDS: dict[str, dict[str, type | tuple[str, ...]]] = {
    "debate": {
        "verdict": ("APPROVE", "REJECT"),
        "decided_by": ("synthesis", "majority"),
        "unanimous": bool,
        "converged": bool,
        "rounds": int,
        "approve": int,
        "reject": int,
        "abstain": int,
    },
    "discuss": {
        "status": ("complete", "paused"),
        "rounds": int,
        "agreements": int,
        "unresolved": int,
        "open_questions": int,
    },
    "decide": {
        "consensus": bool,
        "choice": str,
        "score": float,
        "rounds": int,
        "ended_by": get_args(Ended),
    },
    "critique": {
        "passed": bool,
        "mean": float,
        "improvement": float,
        "iterations": int,
        "ended_by": get_args(CritiqueOutcome.model_fields["ended_by"].annotation),
    },
    "dispatch": {"succeeded": int, "total": int, "verdict": ("APPROVE", "REJECT")},
    "ask": {"succeeded": int},
    "parallel": _GROUP,
    "map": _GROUP,
}
"""The typed outcomes that a condition may test, by kind of step: the type of each, or all the words that it can be.

Every step has one more, `ended`: done, failed or skipped.
"""


class Orchestration(Frozen):
    """What is done, in order, and what all of it may use: `tokens` and `usd` bound the sum of all steps."""

    id: RecordId | Literal[""] = ""
    title: Line = ""
    steps: tuple[Step, ...]
    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, ge=0, allow_inf_nan=False)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Of JSON-ready values those that were given: a step leaves the others to its pattern."""
        return super().model_dump(**{"exclude_unset": True, **options})

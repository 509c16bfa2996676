"""What a self-critique is made of: weighted criteria, iterations with their evaluations, and the best version."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.council_limits import CRITERIA, ITERATIONS
from swarmgate.domain.debate import SeatId
from swarmgate.domain.usage import Usage


class Criterion(Frozen):
    """What a version is judged by; scores, `weight` and `threshold` are 0 to 1.

    One of three kinds: judged by the evaluator after `rubric`; `command`, a command line whose exit code 0 is a score
    of 1, and any other 0; `gate`, the name of a quality gate that passes (1) or does not (0).
    """

    name: SeatId
    description: Text = ""
    rubric: Text = ""
    weight: float = Field(1.0, ge=0, le=1)
    threshold: float = Field(0.7, ge=0, le=1)
    command: Line = ""
    gate: Line = ""

    @property
    def programmatic(self) -> bool:
        """Whether a program judges it, and no model."""
        return bool(self.command or self.gate)


class Critique(Frozen):
    """What is made and improved, by what it is judged, and within which bounds.

    `name` is shared by runs of the same kind: adaptive weights are learnt from those. `draft` is a first version that
    is there already. `target` is the path, in the repository, at which commands and gates see a version. `stop` is the
    weighted mean from which it is good enough, where every criterion meets its threshold too. `learnt_from` is how many
    past runs the weights come from; 0: they are those that were given.
    """

    id: str
    name: Line = ""
    task: Text
    material: Text = ""
    draft: Text = ""
    target: Line = ""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=int(CRITERIA.most))
    iterations: int = Field(3, ge=int(ITERATIONS.least), le=int(ITERATIONS.most))
    stop: float = Field(0.8, ge=0, le=1)
    adaptive: bool = False
    given_weights: dict[str, float] = Field(default_factory=dict)
    learnt_from: int = 0
    model: str = ""
    system: Text = ""
    evaluator_model: str = ""
    tokens: int = Field(20_000, ge=1)
    timeout_s: float = Field(300, gt=0)
    whole_s: float = Field(1800, gt=0)


class Score(Frozen):
    """How one version does by one criterion, 0 to 1. `clamped` is what was given where that lay outside."""

    criterion: SeatId
    score: float = Field(ge=0, le=1)
    reason: Text = ""
    clamped: float | None = None


class Evaluation(Frozen):
    """The scores of one version, their weighted mean, and what would make it better."""

    scores: tuple[Score, ...]
    mean: float = Field(ge=0, le=1)
    passed: bool
    suggestions: tuple[Text, ...] = ()
    model: str = ""


class Iteration(Frozen):
    """One iteration: the version it judged and the evaluation; `failed` says why there is none: no score stands for it.

    `version` is empty where the one before was judged again.
    """

    number: int
    version: Text = ""
    evaluation: Evaluation | None = None
    failed: Line = ""
    model: str = ""
    usage: Usage = Usage()
    started_at: str = ""
    seconds: float = 0.0


class CritiqueOutcome(Frozen):
    """The best version and how it came about; `improvement` is its mean less that of the first judged version."""

    id: str
    best: int
    version: Text
    mean: float
    passed: bool
    ended_by: Literal["passed", "iterations", "timeout"]
    improvement: float = 0.0
    iterations: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


class CritiqueRecord(Frozen):
    """All that is kept of a critique."""

    critique: Critique
    status: Literal["open", "complete", "failed"] = "open"
    why: Line = ""
    iterations: tuple[Iteration, ...] = ()
    outcome: CritiqueOutcome | None = None

"""Data model of a critique: weighted criteria, events of its record, iterations, and the best version."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from swarmgate.council.limits import CRITERIA, ITERATIONS
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import SeatId
from swarmgate.domain.usage import Usage


def _within_limit(text: str) -> str:
    unix = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return unix.encode(errors="replace").decode().strip("\n")


Version = Annotated[str, AfterValidator(_within_limit)]
"""A version, to the letter: blanks at line ends and the indentation of the first line may mean something in it.

Only line ends are made line feeds, those around it are left out, and what UTF-8 cannot hold is replaced.
"""


Number = Annotated[float, AfterValidator(lambda value: value + 0.0)]
"""A number as it is shown: -0.0 is 0.0."""


class Criterion(Frozen):
    """What a version is judged by; scores and `threshold` are 0 to 1.

    One of three kinds: judged by the evaluator after `rubric`; `command`, a command line whose exit code 0 is a score
    of 1, and any other 0; `gate`, the name of a quality gate that passes (1) or does not (0). A `weight` is given as 0
    to 1; weights that were learnt keep the sum of the given ones, so that one may be larger.
    """

    name: SeatId
    description: Text = ""
    rubric: Text = ""
    weight: Number = Field(1.0, ge=0, le=CRITERIA.most)
    threshold: Number = Field(0.7, ge=0, le=1)
    command: Line = ""
    gate: Line = ""

    @property
    def programmatic(self) -> bool:
        """Whether a program judges it, and no model."""
        return bool(self.command or self.gate)


DEFAULT_CRITERIA = (
    Criterion(name="correctness", description="What it says is so, and what it does works.", weight=1.0),
    Criterion(name="completeness", description="Nothing that the task asks for is missing.", weight=0.8),
    Criterion(name="clarity", description="Its reader understands it at once; nothing is superfluous.", weight=0.6),
)
"""What a version is judged by where nobody says anything else; their threshold is that of `[council.critique]`."""


class Critique(Frozen):
    """What is made and improved, by what it is judged, and within which bounds.

    `name` is shared by runs of the same kind: adaptive weights are learnt from those. `draft` is a first version that
    is there already. `target` is the path, in the repository, at which commands and gates see a version. `stop` is the
    weighted mean from which it is good enough, where every criterion meets its threshold too. `learnt_from` is how many
    past runs the weights come from; 0: they are those that were given. `who` makes the versions: its name on the wire.
    `model`, `system` and `folder` are its own, as of a `Seat`, and those of the evaluator stand beside them. `tokens`
    and `timeout_s`, in seconds, bound one step of one participant, `whole_s` all of it in one session.
    """

    id: str
    name: Line = ""
    task: Text
    material: Text = ""
    draft: Version = ""
    target: Line = ""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=int(CRITERIA.most))
    iterations: int = Field(3, ge=int(ITERATIONS.least), le=int(ITERATIONS.most))
    stop: Number = Field(0.8, ge=0, le=1)
    adaptive: bool = False
    given_weights: dict[str, float] = Field(default_factory=dict)
    learnt_from: int = 0
    who: SeatId = "author"
    model: str = ""
    system: Text = ""
    folder: str = ""
    evaluator_model: str = ""
    evaluator_system: Text = ""
    evaluator_folder: str = ""
    tokens: int = Field(20_000, ge=1)
    timeout_s: float = Field(300, gt=0)
    whole_s: float = Field(1800, gt=0)


class Score(Frozen):
    """How one version does by one criterion, 0 to 1. `clamped` is what was given where that lay outside."""

    criterion: SeatId
    score: Number = Field(ge=0, le=1)
    reason: Text = ""
    clamped: float | None = None


class Evaluation(Frozen):
    """The scores of one version, their weighted mean, and what would make it better; `model` is the evaluator's."""

    scores: tuple[Score, ...]
    mean: Number = Field(ge=0, le=1)
    passed: bool
    suggestions: tuple[Text, ...] = ()
    model: str = ""


class _Part(Frozen):
    """What happened in iteration `number`; `failed` says why nothing came of it. `started_at` is in UTC, as ISO 8601.

    `model` and `prompt_hash` are of who was asked, if anybody was; `seconds` is the time that it took.
    """

    number: int
    failed: Line = ""
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    started_at: str = ""
    seconds: float = 0.0


class Written(_Part):
    """A version was made: the first one, or a better one than that of iteration `built_on`."""

    type: Literal["written"] = "written"
    version: Version = ""
    built_on: int = 0


class Checked(_Part):
    """A program judged the version by its criterion, or could not; `score` is None then."""

    type: Literal["checked"] = "checked"
    criterion: SeatId
    score: Score | None = None


class Judged(_Part):
    """The evaluator judged the version by all criteria that no program judges."""

    type: Literal["judged"] = "judged"
    scores: tuple[Score, ...] = ()
    suggestions: tuple[Text, ...] = ()


class Iteration(Frozen):
    """One iteration: the version it judged and the evaluation; `failed` says why there is none: no score stands for it.

    `version` is empty where none was made: the one before was judged again, or `improve` failed (`failed_at`).
    `built_on` is the iteration whose version was improved, 0: none was. `same_as` is the earlier iteration that had
    the very same version: its evaluation holds, nobody was asked. `model` is that of who made the version.
    """

    number: int
    version: Version = ""
    evaluation: Evaluation | None = None
    failed: Line = ""
    failed_at: Literal["", "generate", "evaluate", "improve"] = ""
    built_on: int = 0
    same_as: int = 0
    model: str = ""
    usage: Usage = Usage()
    started_at: str = ""
    seconds: float = 0.0


class CritiqueOutcome(Frozen):
    """The best version and how it came about; `improvement` is its mean less that of the first judged version.

    `ended_by` `unchanged`: twice in a row the improved version was one that had been judged before; `timeout`: the time
    of a session was over, this is the best so far, and another session resumes.
    """

    id: str
    best: int
    version: Version
    mean: float
    passed: bool
    ended_by: Literal["passed", "iterations", "timeout", "unchanged"]
    improvement: float = 0.0
    iterations: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


class CritiqueRecord(Frozen):
    """All that is kept of a critique; one whose time was over (`paused`) has the outcome so far."""

    critique: Critique
    status: Literal["open", "paused", "complete", "failed"] = "open"
    why: Line = ""
    iterations: tuple[Iteration, ...] = ()
    outcome: CritiqueOutcome | None = None


class CritiqueSummary(Frozen):
    """One critique of the list.

    `status` is open, paused, failed, passed, not passed or damaged; then `task` says what is. `began` is in UTC, as
    ISO 8601 has it.
    """

    id: str
    began: str
    status: str
    task: str
    name: str = ""

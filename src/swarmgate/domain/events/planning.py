"""Ledger events of planning and checkpoints: goal, plan, the user's approval or feedback, end of phases."""

from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.evidence import Remark, Review, TestRun


class ProjectInitialised(Frozen):
    """`swarm init`: what was detected."""

    type: Literal["project_initialised"] = "project_initialised"
    version: str
    branch: str
    languages: tuple[str, ...] = ()
    test_command: str = ""


class GoalSet(Frozen):
    """The user said what is wanted. `spec` is the text of `--from FILE`, `source` that file's name."""

    type: Literal["goal_set"] = "goal_set"
    goal: Text
    spec: str = ""
    source: Line = ""


class GoalAbandoned(Frozen):
    """The user ended the goal before its work was done. Its branch stays; `kept` has what was not committed."""

    type: Literal["goal_abandoned"] = "goal_abandoned"
    reason: Line
    branch: Line = ""
    kept: str = ""


class QuestionsAsked(Frozen):
    """The architect cannot go on without these answers."""

    type: Literal["questions_asked"] = "questions_asked"
    questions: tuple[Text, ...]


class QuestionAnswered(Frozen):
    """The answer to question `number` (from 1, over the whole goal), of planning or of a task.

    `option` is the one that the user took, from 1; 0: none. `declined`: nobody answers, and who asked goes by its own
    judgement; `answer` is empty then.
    """

    type: Literal["question_answered"] = "question_answered"
    number: int
    answer: Text
    option: int = Field(0, ge=0)
    declined: bool = False


class PlanSaved(Frozen):
    """The architect saved a legal plan: the first one, or a revision."""

    type: Literal["plan_saved"] = "plan_saved"
    plan: Plan


class PlanningFailed(Frozen):
    """The architect gave no legal plan within the bound."""

    type: Literal["planning_failed"] = "planning_failed"
    problems: tuple[Text, ...]


class PlanReviewed(Frozen):
    """The critic's verdict; its objections stay on record."""

    type: Literal["plan_reviewed"] = "plan_reviewed"
    review: Review


class PlanApproved(Frozen):
    """The plan is approved as it stands.

    `by` names the setting or the option that approved it in the user's place; empty: the user did.
    """

    type: Literal["plan_approved"] = "plan_approved"
    by: Line = ""


class RevisionRequested(Frozen):
    """`swarm revise`: what the user wants changed."""

    type: Literal["revision_requested"] = "revision_requested"
    text: Text


class PlanAmended(Frozen):
    """The user edited the structure of plan.md or plan.json by hand."""

    type: Literal["plan_amended"] = "plan_amended"
    plan: Plan
    source: str


class EditRefused(Frozen):
    """A hand edit of plan.md or plan.json was not taken; its text is kept at `kept`."""

    type: Literal["edit_refused"] = "edit_refused"
    source: str
    problems: tuple[str, ...]
    kept: str


PhaseStage = Literal["gate", "tests", "validation"]
"""How a whole phase is judged: before its first task; after its last by its tests, and then by reviewers."""


class PhaseReviewed(Frozen):
    """One reviewer's verdict on a whole phase, given without knowing the others'; or that of the tests, with their run.

    `round` counts how often the phase was judged at this stage, from 1; `number` is the reviewer's, from 1, of `of`.
    `failed`: no verdict came that can be read, which is no approval; the summary of `review` says why. `base` and
    `commit` are the two commits that were compared, `evidence` is the SHA-256 of the file with the verdict.
    """

    type: Literal["phase_reviewed"] = "phase_reviewed"
    phase: int
    stage: PhaseStage
    round: int = Field(ge=1)
    number: int = Field(ge=1)
    of: int = Field(ge=1)
    review: Review
    failed: bool = False
    base: str = ""
    commit: str = ""
    evidence: str = ""
    run: TestRun | None = None


class Culprit(Frozen):
    """A completed task by whose commit tests fail that passed before it; `reason` and `feedback` reject its work."""

    task: str
    commit: str
    failures: tuple[Line, ...]
    reason: Line
    feedback: tuple[Remark, ...] = ()


class PhaseRegressed(Frozen):
    """The tests of the phase fail by the commits of these tasks, which are open again."""

    type: Literal["phase_regressed"] = "phase_regressed"
    phase: int
    culprits: tuple[Culprit, ...]


class PhaseRetried(Frozen):
    """A phase is judged anew: the user asks for it, or committed before all had judged it. `note` is told to them."""

    type: Literal["phase_retried"] = "phase_retried"
    phase: int
    note: Text = ""


class PhaseOverridden(Frozen):
    """The user overruled the rejection of a phase by its reviewers."""

    type: Literal["phase_overridden"] = "phase_overridden"
    phase: int
    stage: PhaseStage
    reason: Line = Field(min_length=1)


class PhaseClosed(Frozen):
    """Every task of the phase is done; the architect's summary waits for the user's approval."""

    type: Literal["phase_closed"] = "phase_closed"
    phase: int
    summary: Text
    decisions: tuple[Line, ...] = ()
    lessons: tuple[Line, ...] = ()


class PhaseApproved(Frozen):
    """The checkpoint of a phase is approved.

    `by` names the setting or the option that approved it in the user's place; empty: the user did.
    """

    type: Literal["phase_approved"] = "phase_approved"
    phase: int
    by: Line = ""

"""What can be written in the ledger: one frozen, tagged union. The state is a fold over it (`fold.fold`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.evidence import Remark, Review, TestRun
from swarmgate.domain.finding import GateStatus
from swarmgate.domain.plan import Plan
from swarmgate.domain.usage import Usage

Stage = Annotated[Line, Field(pattern=r"^[^()]*$")]
"""Who rejects: `gates: <ids>`, `reviewer`, `test_engineer`, `tests`, ... plan.md sets it in parentheses."""


class AttemptKind(StrEnum):
    """Who does the work of an attempt."""

    CODER = "coder"
    ESCALATED = "escalated"
    """The architect implements directly, after too many rejections."""
    OVERRIDE = "override"
    """Nobody: the user vouches for the tree as it stands against one stage's rejection."""


class PauseReason(StrEnum):
    """Why a run ended before the work did. Each one can be resumed by `swarm run`."""

    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    ENDPOINT = "endpoint"
    ERROR = "error"


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
    source: str = ""


class QuestionsAsked(Frozen):
    """The architect cannot go on without these answers."""

    type: Literal["questions_asked"] = "questions_asked"
    questions: tuple[Text, ...]


class QuestionAnswered(Frozen):
    """The user's answer to question `number` (from 1, over the whole planning)."""

    type: Literal["question_answered"] = "question_answered"
    number: int
    answer: Text


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
    """The user approved the plan as it stands."""

    type: Literal["plan_approved"] = "plan_approved"


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


class WorkStarted(Frozen):
    """The branch of the work was made at commit `base`."""

    type: Literal["work_started"] = "work_started"
    branch: str
    base: str


class RunStarted(Frozen):
    """`swarm run` took up the work, under these rules."""

    type: Literal["run_started"] = "run_started"
    pid: int
    host: str
    max_rejections: int = 2
    critic_rounds: int = 2
    budget_usd: float | None = None
    budget_tokens: int | None = None


class RunPaused(Frozen):
    """The run ended before the work did. `between_steps` is True when no step was cut short."""

    type: Literal["run_paused"] = "run_paused"
    reason: PauseReason
    detail: Text = ""
    between_steps: bool = False


class TreeRestored(Frozen):
    """The files were brought back to what the last recorded step left; what differed is kept at `kept`."""

    type: Literal["tree_restored"] = "tree_restored"
    tree: str
    paths: tuple[str, ...] = ()
    kept: str = ""


class TaskDelegated(Frozen):
    """The architect (or the user, for an override) opened an attempt.

    `tree` is the tree that it starts from, `base` the commit that its change is measured against and committed on.
    """

    type: Literal["task_delegated"] = "task_delegated"
    task: str
    attempt: int
    kind: AttemptKind = AttemptKind.CODER
    scope: tuple[str, ...] = ()
    instructions: Text = ""
    tree: str
    base: str = ""


class ChangeCaptured(Frozen):
    """The coder's turn ended; this is what git says it changed against the task's base."""

    type: Literal["change_captured"] = "change_captured"
    task: str
    attempt: int
    tree: str
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    summary: Text = ""
    evidence: str = ""


class GatesRun(Frozen):
    """The pipeline judged the tree. The findings stand in the file `gates.json`, whose SHA-256 is `evidence`."""

    type: Literal["gates_run"] = "gates_run"
    task: str
    attempt: int
    tree: str
    passed: bool
    statuses: dict[str, GateStatus]
    overridden: tuple[str, ...] = ()
    evidence: str = ""


class ReviewGiven(Frozen):
    """The reviewer's verdict on the attempt's tree."""

    type: Literal["review_given"] = "review_given"
    task: str
    attempt: int
    review: Review
    passed: bool
    evidence: str = ""


class TestsWritten(Frozen):
    """The test engineer's turn ended; `tree` holds its tests."""

    type: Literal["tests_written"] = "tests_written"
    task: str
    attempt: int
    tree: str
    review: Review
    tests: tuple[str, ...] = ()


class TestsRun(Frozen):
    """swarmgate ran the tests over `tree`, the tree that will be committed.

    The gates have passed it too: their report is the file `final-gates.json`, whose SHA-256 is `gates_evidence`.
    """

    type: Literal["tests_run"] = "tests_run"
    task: str
    attempt: int
    tree: str
    run: TestRun
    passed: bool
    evidence: str = ""
    gates_evidence: str = ""


class AttemptRejected(Frozen):
    """The attempt ended. `stage` says who rejected it."""

    type: Literal["attempt_rejected"] = "attempt_rejected"
    task: str
    attempt: int
    stage: Stage
    reason: Line
    feedback: tuple[Remark, ...] = ()


class AttemptInterrupted(Frozen):
    """The attempt was cut short by a crash or by the user; it does not count as a rejection."""

    type: Literal["attempt_interrupted"] = "attempt_interrupted"
    task: str
    attempt: int
    reason: Line


class TaskCompleted(Frozen):
    """The task's tree was committed."""

    type: Literal["task_completed"] = "task_completed"
    task: str
    attempt: int
    commit: str
    tree: str


class TaskBlocked(Frozen):
    """The task cannot go on without the user."""

    type: Literal["task_blocked"] = "task_blocked"
    task: str
    stage: Line
    reason: Line


class TaskRetried(Frozen):
    """The user wants the task tried again; `note` goes to the architect and the coder."""

    type: Literal["task_retried"] = "task_retried"
    task: str
    note: Text = ""


class TaskSkipped(Frozen):
    """The user gave the task up; tasks that depend on it may go on."""

    type: Literal["task_skipped"] = "task_skipped"
    task: str
    reason: Line


class RejectionOverridden(Frozen):
    """The user overrules the last rejection of a task, by stage, with a reason. The next attempt opens on the tree."""

    type: Literal["rejection_overridden"] = "rejection_overridden"
    task: str
    stage: Line
    reason: Line


class PhaseClosed(Frozen):
    """Every task of the phase is done; the architect's summary waits for the user's approval."""

    type: Literal["phase_closed"] = "phase_closed"
    phase: int
    summary: Text
    decisions: tuple[Line, ...] = ()
    lessons: tuple[Line, ...] = ()


class PhaseApproved(Frozen):
    """The user approved the phase checkpoint."""

    type: Literal["phase_approved"] = "phase_approved"
    phase: int


class UsageRecorded(Frozen):
    """What the model calls of one step used; `task` is empty outside tasks."""

    type: Literal["usage_recorded"] = "usage_recorded"
    role: str
    task: str = ""
    usage: Usage


class LedgerRepaired(Frozen):
    """A torn last line was cut off; its bytes are kept at `kept`."""

    type: Literal["ledger_repaired"] = "ledger_repaired"
    kept: str
    size: int


Event = Annotated[
    ProjectInitialised
    | GoalSet
    | QuestionsAsked
    | QuestionAnswered
    | PlanSaved
    | PlanningFailed
    | PlanReviewed
    | PlanApproved
    | RevisionRequested
    | PlanAmended
    | EditRefused
    | WorkStarted
    | RunStarted
    | RunPaused
    | TreeRestored
    | TaskDelegated
    | ChangeCaptured
    | GatesRun
    | ReviewGiven
    | TestsWritten
    | TestsRun
    | AttemptRejected
    | AttemptInterrupted
    | TaskCompleted
    | TaskBlocked
    | TaskRetried
    | TaskSkipped
    | RejectionOverridden
    | PhaseClosed
    | PhaseApproved
    | UsageRecorded
    | LedgerRepaired,
    Field(discriminator="type"),
]
"""One event. The `type` tag tells which."""

EVENTS: dict[str, type[Frozen]] = {kind.model_fields["type"].default: kind for kind in get_args(get_args(Event)[0])}
"""The kinds of event by their tag."""


class Entry(Frozen):
    """An event with its place: `seq` counts from 1, `time` is UTC (ISO 8601), `actor` says who."""

    seq: int
    time: str
    actor: str
    event: Event

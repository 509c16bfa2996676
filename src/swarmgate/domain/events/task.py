"""Ledger events of a task: from its delegation to its commit, or to what blocked it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.evidence import Mutants, Proof, Remark, Review, TestRun
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.review.stage import Stage

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _without_parentheses(stage: Stage) -> Stage:
    if set(stage) & set("()"):
        raise ValueError(f"the stage {stage!r} has parentheses, and plan.md sets it in them")
    return stage


class AttemptKind(StrEnum):
    """Who does the work of an attempt."""

    CODER = "coder"
    ESCALATED = "escalated"
    """The architect implements directly, after too many rejections."""
    OVERRIDE = "override"
    """Nobody: the user vouches for the tree as it stands against one stage's rejection."""


class TaskDelegated(Frozen):
    """The architect (or the user, for an override) opened an attempt.

    `tree` is the tree that it starts from, `base` the commit that its change is measured against and committed on.
    `house_rules` are the files of the project's own instructions that hold for the scope, each with the id of its blob.
    """

    type: Literal["task_delegated"] = "task_delegated"
    task: str
    attempt: int
    kind: AttemptKind = AttemptKind.CODER
    scope: tuple[str, ...] = ()
    instructions: Text = ""
    tree: str
    base: str = ""
    house_rules: dict[str, str] = Field(default_factory=dict)


class TaskQuestionAsked(Frozen):
    """An agent asks the user in the middle of its turn; the attempt goes on with the answer.

    `attempt` is the running one, at the step `delegate` the one that it is to open. `why` says what hangs on it,
    `assumption` what the agent goes by without an answer. `tree` holds its work so far; empty where it wrote none.
    `conversation` is the SHA-256 of the turn so far, kept beside the ledger.
    """

    type: Literal["task_question_asked"] = "task_question_asked"
    task: str
    attempt: int
    role: str
    step: str
    question: Text = Field(min_length=1)
    options: tuple[Line, ...] = ()
    why: Text = ""
    assumption: Text = ""
    tree: str = ""
    conversation: str = ""


class ChangeCaptured(Frozen):
    """The coder's turn ended; this is what git says it changed against the task's base.

    `outside` are changed files outside of the declared scope, without what a toolchain wrote. `contents` names the
    blob of each changed file, empty for a deleted one: two attempts with the same blobs hold the same text.
    """

    type: Literal["change_captured"] = "change_captured"
    task: str
    attempt: int
    tree: str
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    summary: Text = ""
    evidence: str = ""
    outside: tuple[str, ...] = ()
    contents: dict[str, str] = Field(default_factory=dict)


class GatesRun(Frozen):
    """The pipeline judged the tree. The findings stand in the file `gates.json`, whose SHA-256 is `evidence`.

    `sensitive` says why the change needs a security review; empty: it needs none.
    """

    type: Literal["gates_run"] = "gates_run"
    task: str
    attempt: int
    tree: str
    passed: bool
    statuses: dict[str, GateStatus]
    overridden: tuple[str, ...] = ()
    evidence: str = ""
    sensitive: tuple[Line, ...] = ()


class ReviewGiven(Frozen):
    """The reviewer's verdict on the attempt's tree."""

    type: Literal["review_given"] = "review_given"
    task: str
    attempt: int
    review: Review
    passed: bool
    evidence: str = ""


class SecurityReviewGiven(Frozen):
    """The second, security-only verdict on the attempt's tree."""

    type: Literal["security_review_given"] = "security_review_given"
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


class AdversarialTestsWritten(Frozen):
    """The adversarial pass ended; `tree` holds the tests that are kept.

    `rejected` are tests that failed and whose expectation the reviewer did not confirm: they are taken out again.
    """

    type: Literal["adversarial_tests_written"] = "adversarial_tests_written"
    task: str
    attempt: int
    tree: str
    review: Review
    tests: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    evidence: str = ""


class TestsReviewed(Frozen):
    """The reviewer's second verdict: on the change with the files that the test engineer wrote since the first."""

    type: Literal["tests_reviewed"] = "tests_reviewed"
    task: str
    attempt: int
    review: Review
    passed: bool
    evidence: str = ""


class TestsRun(Frozen):
    """swarmgate ran the tests over `tree`, the tree that will be committed.

    The gates have passed it too: their report is the file `final-gates.json`, whose SHA-256 is `gates_evidence`.
    `proof` is the run of the new tests against the tree before the change; None where there was nothing to prove.
    `mutants` says how many faults in the changed lines the tests noticed; None where none were asked for.
    """

    type: Literal["tests_run"] = "tests_run"
    task: str
    attempt: int
    tree: str
    run: TestRun
    passed: bool
    evidence: str = ""
    gates_evidence: str = ""
    proof: Proof | None = None
    mutants: Mutants | None = None


class AttemptRejected(Frozen):
    """The attempt ended. `stage` says who rejected it.

    `feedback` holds the first of the findings, `findings` says how many there were; 0 where that is all of them.
    """

    type: Literal["attempt_rejected"] = "attempt_rejected"
    task: str
    attempt: int
    stage: Annotated[Stage, AfterValidator(_without_parentheses)]
    reason: Line
    feedback: tuple[Remark, ...] = ()
    findings: int = 0


class AttemptInterrupted(Frozen):
    """The attempt was cut short by a crash or by the user; it does not count as a rejection.

    Its unfinished work lies at `kept`; empty where there was none, or it stays in the tree.
    """

    type: Literal["attempt_interrupted"] = "attempt_interrupted"
    task: str
    attempt: int
    reason: Line
    kept: str = ""


class TaskCompleted(Frozen):
    """The task's tree was committed."""

    type: Literal["task_completed"] = "task_completed"
    task: str
    attempt: int
    commit: str
    tree: str


class CommitMoved(Frozen):
    """The commit of a completed task stands as another one in the history: the user rewrote that.

    `reason` is empty where swarmgate found the same change in it, else what the user says of it.
    """

    type: Literal["commit_moved"] = "commit_moved"
    task: str
    was: str
    commit: str
    reason: Line = ""


class TaskReopened(Frozen):
    """The user accepts that the commit of a completed task is not in the history any more: it is to be done again."""

    type: Literal["task_reopened"] = "task_reopened"
    task: str
    commit: str


class TaskUndone(Frozen):
    """The user took a task back: it is to be done again, and its attempts stay on record.

    `revert` is the commit that takes `commit`, the task's own, back: swarmgate's, or the user's `git revert` where
    `by_hand` says so. Both are empty where nothing was committed: the change that lay in the work tree is at `kept`.
    """

    type: Literal["task_undone"] = "task_undone"
    task: str
    commit: str = ""
    revert: str = ""
    by_hand: bool = False
    kept: str = ""
    reason: Line = ""


class TaskBlocked(Frozen):
    """The task cannot go on without the user."""

    type: Literal["task_blocked"] = "task_blocked"
    task: str
    stage: Stage
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
    """The user overrules the last rejection of a task, by stage, with a reason. The next attempt opens on the tree.

    `by` is the architect where the user lets it decide; it overrules the quality budget and nothing else.
    """

    type: Literal["rejection_overridden"] = "rejection_overridden"
    task: str
    stage: Stage
    reason: Line
    by: Literal["user", "architect"] = "user"


class EvidenceKept(Frozen):
    """A step left these files in `evidence/` beside those that its own events name: their SHA-256, in hex, by name."""

    type: Literal["evidence_kept"] = "evidence_kept"
    task: str
    attempt: int
    files: dict[str, Sha256]


class EvidenceSetAside(Frozen):
    """A step that was cut short left these files in `evidence/`; they prove nothing, and lie at `kept` now.

    `files` has their SHA-256, in hex, by name; empty for what is no regular file.
    """

    type: Literal["evidence_set_aside"] = "evidence_set_aside"
    task: str
    attempt: int
    files: dict[str, Sha256 | Literal[""]]
    kept: str

"""The state of a project: one immutable record, made only by `fold.fold` from the events of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from immutables import Map

from swarmgate.domain.actor import USER, actor_in_words, is_person, name_of
from swarmgate.domain.events.event import (
    AttemptKind,
    DebateWeighed,
    PhaseEstimated,
    PhaseReviewed,
    PhaseStage,
    RunPaused,
)
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.domain.plan.plan import Complexity, Plan, Task
from swarmgate.domain.review.evidence import Mutants, Proof, Remark, Review
from swarmgate.domain.review.stage import NOBODY, Stage
from swarmgate.domain.review.votes import Tally
from swarmgate.domain.state.debate_count import DebateCount
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.usage import Allowance, Usage

_Record = TypeVar("_Record")

UNUSED = Usage()
"""Nothing used yet; one record for all, since a fold asks for thousands."""


def replace(record: _Record, /, **changes: Any) -> _Record:
    """The record with some fields changed: `dataclasses.replace` for the records of this file, ten times as fast.

    A fold over 100,000 events makes 400,000 of them. It copies `__dict__`, so the records have neither slots, nor
    `__post_init__`, nor cached properties.
    """
    after: _Record = object.__new__(type(record))
    after.__dict__.update(record.__dict__, **changes)
    return after


class Outcome(StrEnum):
    """How an attempt ended, or that it did not yet."""

    RUNNING = "RUNNING"
    REJECTED = "REJECTED"
    INTERRUPTED = "INTERRUPTED"
    COMPLETE = "COMPLETE"
    UNDONE = "UNDONE"
    """It was complete, and the user took its commit back."""


class TaskStatus(StrEnum):
    """The status of a task in the plan."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETE = "complete"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task. `tree` is its newest recorded tree.

    `captured`, `reviewed`, `tested` and `adversarial` say which turns ended; `contents` are the changed files' blobs.
    """

    number: int
    kind: AttemptKind
    scope: tuple[str, ...]
    instructions: str
    tree: str
    seq: int
    started: str
    base: str = ""
    state: TaskState = TaskState.CODER_DELEGATED
    outcome: Outcome = Outcome.RUNNING
    captured: bool = False
    tested: bool = False
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    summary: str = ""
    review: Review | None = None
    tests_review: Review | None = None
    stage: Stage = NOBODY
    reason: str = ""
    feedback: tuple[Remark, ...] = ()
    ended: str = ""
    kept: str = ""
    """Where the work of an interrupted one lies; empty where there was none."""
    outside: tuple[str, ...] = ()
    contents: tuple[tuple[str, str], ...] = ()
    sensitive: tuple[str, ...] = ()
    reviewed: bool = False
    security_review: Review | None = None
    adversarial_review: Review | None = None
    adversarial: bool = False
    attacks: tuple[str, ...] = ()
    """Files of its adversarial pass that were kept, as far as the test engineer did not write them itself."""
    proof: Proof | None = None
    mutants: Mutants | None = None
    failures: tuple[str, ...] = ()
    findings: int = 0
    debate: DebateWeighed | None = None
    tests_reviewed: bool = False
    second_review: Review | None = None
    """The reviewer's verdict after the test engineer's turn."""
    related: bool = False
    """Whether only the tests ran that are related to its change."""
    suites: tuple[str, ...] = ()
    """The suites that ran, where the project has several."""
    commit: str = ""
    """What it was committed as, whatever became of the task since."""


@dataclass(frozen=True)
class Block:
    """Why a task cannot go on without the user: `stage` need not be that of its last rejection."""

    stage: Stage
    reason: str


@dataclass(frozen=True)
class TaskRecord:
    """The record of a task: its attempts and its status.

    `rejections` counts since the user last asked for a retry. `renewed` is the number of attempts when the user last
    decided that it goes on, by a retry or by a change of the task; `spent` is what was used since then. `undone` is the
    commit that had completed it, where that was reverted or lost, and the task is open again. `question` is the one at
    which its work stands: it waits for the answer, or goes on with that; None: it asked none.
    """

    attempts: tuple[Attempt, ...] = ()
    rejections: int = 0
    status: TaskStatus = TaskStatus.PENDING
    reason: str = ""
    block: Block | None = None
    notes: tuple[str, ...] = ()
    overrides: Map[Stage, Override] = field(default_factory=Map)
    override_pending: bool = False
    commit: str = ""
    undone: str = ""
    usage: Usage = UNUSED
    spent: Usage = UNUSED
    renewed: int = 0
    guards: tuple[GuardNote, ...] = ()
    turns: tuple[Turn, ...] = ()
    question: Question | None = None

    @property
    def last(self) -> Attempt | None:
        """The newest attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def attacks(self) -> frozenset[str]:
        """The files of adversarial passes over all attempts; one that the test engineer wrote anew since is its own."""
        found: frozenset[str] = frozenset()
        for attempt in self.attempts:
            found = (found - set(attempt.tests)) | set(attempt.attacks)
        return found

    @property
    def running(self) -> Attempt | None:
        """The attempt that is open now."""
        last = self.last
        return last if last is not None and last.outcome is Outcome.RUNNING else None

    @property
    def state(self) -> TaskState:
        """Where the task stands in its life cycle."""
        if self.status is TaskStatus.COMPLETE:
            return TaskState.COMPLETE
        return self.running.state if self.running else TaskState.IDLE

    @property
    def unfinished(self) -> bool:
        """Whether its change, or what is left of that, lies in the work tree, and nobody decided about it.

        One that is pending again after attempts was undone, and what the tests of its phase opened again is committed:
        neither is in the work tree.
        """
        begun, last = self.status in (TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED), self.last
        return begun and last is not None and not last.commit and last.outcome not in (Outcome.COMPLETE, Outcome.UNDONE)

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits that its work stands in, oldest first; the tests of its phase opened all but the last again."""
        opened = Outcome.REJECTED
        return tuple(a.commit for a in self.attempts if a.commit and (a.outcome is opened or a.commit == self.commit))

    @property
    def waits(self) -> bool:
        """Whether its work cannot go on before a question of an agent is answered."""
        return self.question is not None and not self.question.settled

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do: complete or skipped."""
        return self.status in (TaskStatus.COMPLETE, TaskStatus.SKIPPED)


_UNTOUCHED = TaskRecord()
"""The record of a task that nothing has happened to."""


class Planning(StrEnum):
    """How far the plan has come. Work needs APPROVED."""

    NONE = "none"
    ASKED = "asked"
    """A goal or a revision is set; the architect has to save a plan."""
    SAVED = "saved"
    """A plan waits for the critic."""
    OBJECTED = "objected"
    """The critic rejected it and a round is left; the architect has to revise."""
    REVIEWED = "reviewed"
    """It waits for the user's approval."""
    APPROVED = "approved"
    FAILED = "failed"
    """The architect gave no legal plan; the user has to say more."""


class Recovery(StrEnum):
    """The recovery that a new run needs after the run before it."""

    NONE = "none"
    RESTORE = "restore"
    """It died, or paused inside a step: bring the files back and do the step again."""


@dataclass(frozen=True)
class Question:
    """A question to the user, numbered from 1 over the goal: of planning, or of an agent at work on a task.

    `by` and `time` are who answered, or declined to, and when (UTC, ISO 8601); empty until then. `task` and the fields
    below it are those of an agent's: see `TaskQuestionAsked`.
    """

    number: int
    text: str
    answer: str = ""
    declined: bool = False
    by: str = ""
    time: str = ""
    task: str = ""
    attempt: int = 0
    role: str = "architect"
    step: str = ""
    options: tuple[str, ...] = ()
    why: str = ""
    assumption: str = ""
    conversation: str = ""

    @property
    def settled(self) -> bool:
        """Whether the user said something to it, and be it that they will not."""
        return bool(self.answer) or self.declined

    @property
    def in_words(self) -> str:
        """Question and answer on one line: `question 3 of the coder: Which unit? - metres`."""
        given = f"left to the {self.role}, which assumes: {self.assumption}" if self.declined else self.answer
        who = f" ({name})" if (name := name_of(self.by)) else ""
        line = f"question {self.number} of the {self.role}: {self.text} - {given or 'not answered'}{who}"
        return " ".join(line.split())


@dataclass(frozen=True)
class PhaseRecord:
    """A phase as a whole: judged by reviewers, closed by the architect's summary, approved by the user.

    `reviews` are all verdicts on it, in order; the first `void` ones count no more. `overruled` says why the user goes
    on in spite of a rejection, by stage; `notes` are the user's words for the reviewers. `approved_by` names what
    approved it in the user's place; empty: the user did, and `approver` is who that was. `overruled_by` is who
    overruled a stage.
    """

    summary: str = ""
    decisions: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    closed: bool = False
    approved: bool = False
    approved_by: str = ""
    approver: str = ""
    reviews: tuple[PhaseReviewed, ...] = ()
    void: int = 0
    overruled: Map[str, str] = field(default_factory=Map)
    overruled_by: Map[str, str] = field(default_factory=Map)
    notes: tuple[str, ...] = ()

    def verdicts(self, stage: PhaseStage) -> tuple[PhaseReviewed, ...]:
        """The verdicts that count at a stage."""
        return tuple(each for each in self.reviews[self.void :] if each.stage == stage)

    def round(self, stage: PhaseStage) -> int:
        """How often the phase is judged at a stage with the verdicts that count, or with the next one; from 1."""
        before = max((each.round for each in self.reviews if each.stage == stage), default=0)
        return before if self.verdicts(stage) else before + 1

    def tally(self, stage: PhaseStage) -> Tally:
        """How many of them approve and reject; a majority approves, and what cannot be read approves nothing."""
        return tally_of(self.verdicts(stage))

    def newest(self, stage: PhaseStage) -> tuple[PhaseReviewed, ...]:
        """The verdicts of the last round at a stage, whether they still count or not."""
        given = [each for each in self.reviews if each.stage == stage]
        return tuple(each for each in given if each.round == given[-1].round)

    @property
    def renewed(self) -> PhaseRecord:
        """The record of the phase when it is open again: what was said of it as a whole counts no more."""
        return PhaseRecord(reviews=self.reviews, void=len(self.reviews), notes=self.notes)


def tally_of(given: Sequence[PhaseReviewed]) -> Tally:
    """The verdicts, counted."""
    failed = sum(each.failed for each in given)
    approved = sum(each.review.approved for each in given)
    return Tally(approve=approved, reject=len(given) - approved - failed, failed=failed)


@dataclass(frozen=True)
class Rules:
    """The rules of `config.toml` that decide what comes next, as the newest run recorded them."""

    max_rejections: int = 2
    critic_rounds: int = 2
    budget_usd: float | None = None
    budget_tokens: int | None = None
    adversarial: str = "off"
    """Which tasks get adversarial tests: `auto` (security-sensitive ones, and MEDIUM ones up), `always` or `off`."""
    budget_seconds: float | None = None
    budgets: Map[str, Allowance] = field(default_factory=Map)
    """By level: `run`, `phase`, `task`."""
    review_tests: bool = False
    """Whether the reviewer looks at the test engineer's files."""
    validators: int = 0
    """Reviewers that judge each phase after its last task; 0: none."""
    phase_gate: bool = False
    """Whether the critic judges each phase before its first task."""
    phase_tests: bool = False
    """Whether tasks run some suites of several, so that all suites of a phase run after its last task."""
    architect_overrides_budget: bool = False
    """Whether the architect weighs what the quality budget alone is against."""
    decline: bool = False
    """Whether the questions of agents are declined: nobody is there to answer."""


@dataclass(frozen=True)
class Guidance:
    """An answer of a subject matter expert. `phase` is 0 and `task` empty where it was asked outside of tasks.

    Without a question it is standing guidance: a fact that somebody wrote down for all who work in the domain.
    """

    domain: str
    question: str
    answer: str
    phase: int
    task: str
    time: str

    @property
    def stands(self) -> bool:
        """Whether it is standing guidance, and no answer to a question."""
        return not self.question


@dataclass(frozen=True)
class Override:
    """A rejection that the user overruled, or the architect where the user lets it."""

    task: str
    stage: Stage
    reason: str
    time: str
    by: str = USER

    @property
    def told(self) -> str:
        """`gates: lint: it is fine`; what the architect overruled says so before the reason, where no reason can."""
        return f"{self.stage}{'' if is_person(self.by) else f', by {actor_in_words(self.by)}'}: {self.reason}"


@dataclass(frozen=True)
class Lease:
    """Whose turn it is in a fleet: the worker with the highest epoch so far, and its version; epoch 0: nobody's yet."""

    epoch: int = 0
    worker: str = ""
    version: str = ""


@dataclass(frozen=True)
class State:
    """Everything that is known at ledger position `seq`. Immutable; `fold` returns the next one.

    `tree` is the tree that the last step left in the work tree while a task is unfinished, else empty. `open` is the id
    of the task with a running attempt, else empty; `last` that of the task that was delegated last. `goals` counts the
    goals set so far: evidence of earlier ones is archived; `memory` keeps every closed phase by goal and number, across
    goals. `running` says that a run took up the work and has not said since that it paused. `usage_seq` is the position
    of the last `usage_recorded`, `step_seq` that of the last event that ended a step or was the user's, at `step_time`;
    `step_deaths` are the positions at which a run found that the one before had died in the present step. `guards` and
    `turns` are those outside of tasks, `guards` of the newest run only; `self_coding` counts the architect's refused
    writes in the newest run. `qa_skipped` counts tasks completed without a reviewer's or a test engineer's own
    approval; it goes back to 0 when both have been seen on a task since. `sandbox` is what confines commands in the
    newest run. `known_red` are tests that fail in the newest commit because the user overruled them. `usage_in_run` is
    that of the newest run, `usage_by_phase` that of this goal, with planning as phase 0; `experience` is what the
    newest completed tasks took, across goals. `plan_approved_by` names what approved the plan in the user's place;
    empty: the user did, and `plan_approver` is who that was. `plan_debate` is how the criticism of the saved plan was
    weighed, `debates` counts all that were, across goals; `debate_heads` is the SHA-256 of the newest line of each
    debate for this goal. `lease` is who works on it in a fleet, `reserved` what may be used beyond what is on record,
    and `forfeited` what workers that are gone had reserved.
    """

    seq: int = 0
    time: str = ""
    initialised: bool = False
    base_branch: str = ""
    goal: str = ""
    spec: str = ""
    source: str = ""
    goals: int = 0
    questions: tuple[Question, ...] = ()
    planning: Planning = Planning.NONE
    planning_problems: tuple[str, ...] = ()
    plan: Plan | None = None
    plan_reviews: tuple[Review, ...] = ()
    critic_rounds: int = 0
    revision: str = ""
    branch: str = ""
    base: str = ""
    tasks: Map[str, TaskRecord] = field(default_factory=Map)
    phases: Map[int, PhaseRecord] = field(default_factory=Map)
    memory: Map[tuple[int, int], PhaseRecord] = field(default_factory=Map)
    open: str = ""
    last: str = ""
    tree: str = ""
    overrides: tuple[Override, ...] = ()
    rules: Rules = field(default_factory=Rules)
    running: bool = False
    pause: RunPaused | None = None
    recovery: Recovery = Recovery.NONE
    usage: Usage = UNUSED
    usage_seq: int = 0
    step_seq: int = 0
    step_time: str = ""
    step_deaths: tuple[int, ...] = ()
    usage_by_role: Map[str, Usage] = field(default_factory=Map)
    usage_by_phase: Map[int, Usage] = field(default_factory=Map)
    usage_in_run: Usage = UNUSED
    experience: tuple[tuple[Complexity, Usage], ...] = ()
    guards: tuple[GuardNote, ...] = ()
    turns: tuple[Turn, ...] = ()
    self_coding: int = 0
    guidance: tuple[Guidance, ...] = ()
    estimates: Map[int, PhaseEstimated] = field(default_factory=Map)
    qa_skipped: int = 0
    sandbox: str = ""
    known_red: tuple[str, ...] = ()
    plan_approved_by: str = ""
    plan_approver: str = ""
    plan_debate: DebateWeighed | None = None
    debate_heads: Map[str, str] = field(default_factory=Map)
    debates: DebateCount = field(default_factory=DebateCount)
    lease: Lease = field(default_factory=Lease)
    reserved: Usage = UNUSED
    forfeited: Usage = UNUSED

    def asked_about(self, task_id: str) -> tuple[Question, ...]:
        """What agents asked the user about a task, in order."""
        return tuple(question for question in self.questions if question.task == task_id)

    def task(self, task_id: str) -> TaskRecord:
        """The record of a task, an empty one when nothing has happened to it yet."""
        return self.tasks.get(task_id) or _UNTOUCHED

    def phase(self, number: int) -> PhaseRecord:
        """The record of a phase's checkpoint."""
        return self.phases.get(number) or PhaseRecord()

    @property
    def current_phase(self) -> int:
        """The first phase that is not approved yet; 0 without a plan, one past the last when all are approved."""
        if self.plan is None:
            return 0
        last = len(self.phases)  # phases begin in order: the records are those of the phases 1 to `last`
        return next((number for number in range(1, last + 1) if not self.phase(number).approved), last + 1)

    @property
    def finished(self) -> bool:
        """Whether there is a plan and every phase of it is approved."""
        return (
            self.plan is not None and self.planning is Planning.APPROVED and self.current_phase > len(self.plan.phases)
        )

    def phase_settled(self, number: int) -> bool:
        """Whether there is such a phase and every task of it is complete or skipped."""
        if self.plan is None or not 0 < number <= len(self.plan.phases):
            return False
        return all(self.task(task.id).settled for task in self.plan.phase(number).tasks)


def current(state: State) -> tuple[Task, TaskRecord, Attempt]:
    """The task with the running attempt."""
    record = state.task(state.open)
    if state.plan is None or record.running is None:
        raise ValueError("no attempt is running")
    return state.plan.tasks[state.open], record, record.running

"""The record of the present goal from its first event to now, or of one phase: what a report and a pull request tell.

It is made of the ledger alone: what agents said is here as their words, what was measured as numbers and hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swarmgate.domain.actor import actor_in_words, decider, is_person, name_of
from swarmgate.domain.base import Frozen
from swarmgate.domain.events import event as ev
from swarmgate.domain.evidence.report import Claim, Standing, recorded
from swarmgate.domain.evidence.summary import tests_in_words
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Criterion, TestRun
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.spending import cost
from swarmgate.domain.state.plan_view import RELATED, PhaseStatus, phase_status
from swarmgate.domain.state.state import Outcome, State, TaskRecord, TaskStatus
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.timeline import AttemptTime, attempt_times
from swarmgate.errors import UsageError
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.views.describe import verdict_in_words
from swarmgate.project import Project

_Passed = tuple[dict[tuple[str, int], ev.GatesRun], dict[tuple[str, int], TestRun]]
"""What the gates said of each attempt, and its newest test run."""

OUR_WORDS = ("status", "standing", "outcome")
"""Fields of a record that hold words of swarmgate's: a key that is one of them (`present`) is not masked there."""


class Rejected(Frozen):
    """One rejection: of which attempt, by whom, why."""

    task: str
    attempt: int
    stage: str
    by: tuple[str, ...]
    """The judge; of the gates, each that rejected."""
    reason: str


class Overruled(Frozen):
    """A rejection that was overruled; `subject` is the task or the phase."""

    subject: str
    stage: str
    reason: str
    by: str
    time: str

    @property
    def who(self) -> str:
        """Who overruled it, in words."""
        return actor_in_words(self.by)


class GoalTask(Frozen):
    """A task: `note` says why it is blocked, skipped or to be done again, `proof` what let its last attempt pass."""

    id: str
    title: str
    phase: int
    status: TaskStatus
    attempts: int
    commit: str = ""
    note: str = ""
    proof: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    usage: dict[str, Usage]
    """By role."""

    @property
    def used(self) -> Usage:
        """Of all roles."""
        return sum(self.usage.values(), Usage())


class GoalPhase(Frozen):
    """A phase with its checkpoint; `approved` is when, `by` who or which setting did; both empty while nobody has.

    `verdicts` are those on the phase as a whole, a line each.
    """

    number: int
    name: str
    status: PhaseStatus
    summary: str = ""
    decisions: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    approved: str = ""
    by: str = ""

    @property
    def approver(self) -> str:
        """Who approved it, in words."""
        return actor_in_words(self.by) if is_person(self.by) else f"{self.by}, attended by nobody"


class GoalEvidence(Frozen):
    """The SHA-256 of a file of evidence, as the ledger has it, and what became of the file; None: nobody looked."""

    task: str
    attempt: int
    file: str
    sha256: str
    standing: Standing | None = None


class GoalRecord(Frozen):
    """All of it. `phase` is 0 where it is about the whole goal; `seq`, `head` and `time` are of the newest entry.

    `other` is the usage outside of these tasks by role: planning, checkpoints and councils, of a phase its checkpoint.
    `plan_by` names what approved the plan in the user's place, `plan_approver` the person who did, where they are known
    by name; `asked` are the questions to the user with the answers;
    `abandoned` says why the user ended the goal before it was done.
    """

    goal: str
    title: str
    branch: str
    base: str
    phase: int
    seq: int
    head: str
    time: str
    finished: bool
    abandoned: str = ""
    plan_by: str = ""
    plan_approver: str = ""
    asked: tuple[str, ...] = ()
    phases: tuple[GoalPhase, ...] = ()
    tasks: tuple[GoalTask, ...] = ()
    times: tuple[AttemptTime, ...] = ()
    rejections: tuple[Rejected, ...] = ()
    overruled: tuple[Overruled, ...] = ()
    evidence: tuple[GoalEvidence, ...] = ()
    known_red: tuple[str, ...] = ()
    other: dict[str, Usage]

    @property
    def used(self) -> Usage:
        """Of all that is told."""
        return sum((*(each.used for each in self.tasks), *self.other.values()), Usage())

    @property
    def unseen(self) -> tuple[str, ...]:
        """What was approved without a person, in words."""
        plan = [f"the plan: {self.plan_by}"] if self.plan_by else []
        return (
            *plan,
            *(f"phase {each.number}: {each.by}" for each in self.phases if each.approved and not is_person(each.by)),
        )

    def count(self, status: TaskStatus) -> int:
        """How many of the tasks have a status."""
        return sum(each.status is status for each in self.tasks)


def read_goal(project: Project, *, phase: int = 0) -> GoalRecord:
    """The record of the newest goal, with a look at every file of evidence.

    Raises:
        UsageError: as `goal_record`.
        LedgerError: the ledger cannot be read.
    """
    ledger = project.ledger()
    record = goal_record(ledger.state, [entry for entry, _ in ledger.entries()], ledger.head, phase=phase)
    store = EvidenceStore(project.folder)

    def seen(each: GoalEvidence) -> GoalEvidence:
        found = store.inspect(each.task, each.attempt, each.file, each.sha256)
        return each.model_copy(update={"standing": found.standing})

    return record.model_copy(update={"evidence": tuple(map(seen, record.evidence))})


def goal_record(state: State, entries: Sequence[ev.Entry], head: str, *, phase: int = 0) -> GoalRecord:
    """The record; of a goal that was abandoned, as it stood then.

    Args:
        state: the fold.
        entries: all that it was made of.
        head: the hash of the newest.
        phase: only its tasks; 0: all.

    Raises:
        UsageError: there is no plan, or it has no such phase.
    """
    newest, abandoned = entries[-1:], ""
    if not state.goal:
        entries, abandoned = _before_the_end(entries)
        state = fold(State(), entries)
    plan = state.plan
    if plan is None:
        raise UsageError(
            "There is no plan yet, so there is nothing to tell.", hint='swarm plan "GOAL": say what is wanted'
        )
    if not 0 <= phase <= len(plan.phases):
        raise UsageError(f"The plan has no phase {phase}.", hint=f"It has {len(plan.phases)}. See: swarm status")
    since = max((entry.seq for entry in entries if isinstance(entry.event, ev.GoalSet)), default=1)
    story = [entry for entry in entries if entry.seq >= since]
    tasks = {each.id: each for number, of in plan.numbered if phase in (0, number) for each in of.tasks}
    usage = _usage((each for each in cost.recorded(entries) if each.goal == state.goals), phase)
    claims = recorded(entries)
    passed = _gates(story), claims.runs
    numbers = [phase] if phase else [number for number, _ in plan.numbered]
    return GoalRecord(
        goal=state.goal,
        title=plan.title,
        branch=state.branch,
        base=state.base_branch,
        phase=phase,
        seq=newest[0].seq,
        head=head,
        time=newest[0].time,
        finished=state.finished,
        abandoned=abandoned,
        plan_by=state.plan_approved_by,
        plan_approver=name_of(state.plan_approver),
        asked=tuple(_asked(state, tasks, planning=not phase)),
        phases=tuple(_phase(state, number, story) for number in numbers),
        tasks=tuple(_task(state, each, passed, usage.get(each.id, {})) for each in tasks.values()),
        times=tuple(each for each in attempt_times(story, state) if each.task in tasks),
        rejections=tuple(_rejections(state, tasks)),
        overruled=tuple(_overruled(story, tasks, numbers)),
        evidence=tuple(_evidence(claims.claims.values(), {*tasks, *(f"phase-{number}" for number in numbers)})),
        known_red=state.known_red,
        other=usage.get("", {}),
    )


def _before_the_end(entries: Sequence[ev.Entry]) -> tuple[Sequence[ev.Entry], str]:
    """What came before the user abandoned the newest goal, and why that was."""
    for number, entry in reversed(list(enumerate(entries))):
        if isinstance(entry.event, ev.GoalAbandoned):
            return entries[:number], entry.event.reason
    return entries, ""


def _usage(charges: Iterable[cost.Charge], phase: int) -> dict[str, dict[str, Usage]]:
    """By task and role; the task is empty outside of tasks, which of a phase is what was charged to it alone."""
    found: dict[str, dict[str, Usage]] = {}
    for each in charges:
        if each.task or not phase or (each.phase == phase and not each.council):
            roles = found.setdefault(each.task, {})
            roles[each.role] = roles.get(each.role, Usage()) + each.usage
    return found


def _asked(state: State, tasks: Iterable[str], *, planning: bool) -> Iterator[str]:
    """The questions to the user with the answers: of planning, where that is told, and of agents at work on tasks."""
    wanted = frozenset(tasks)
    for each in state.questions:
        if each.task in wanted or (planning and not each.task):
            yield f"task {each.task}, {each.in_words}" if each.task else each.in_words


def _phase(state: State, number: int, story: Iterable[ev.Entry]) -> GoalPhase:
    record = state.phase(number)
    approvals = [each for each in story if isinstance(each.event, ev.PhaseApproved) and each.event.phase == number]
    approval = approvals[-1] if approvals and record.approved else None
    return GoalPhase(
        number=number,
        name=state.plan.phase(number).name if state.plan else "",
        status=phase_status(state, number),
        summary=record.summary,
        decisions=record.decisions,
        lessons=record.lessons,
        approved=approval.time if approval else "",
        by=record.approved_by or (approval.actor if approval else ""),
        verdicts=tuple(map(verdict_in_words, record.reviews)),
    )


def _task(state: State, task: Task, passed: _Passed, usage: dict[str, Usage]) -> GoalTask:
    record = state.task(task.id)
    last, complete = record.last, record.status is TaskStatus.COMPLETE
    mapped = last.tests_review.criteria if complete and last and last.tests_review else ()
    return GoalTask(
        id=task.id,
        title=task.title,
        phase=state.plan.phase_numbers[task.id] if state.plan else 0,
        status=record.status,
        attempts=len(record.attempts),
        commit=record.commit if complete else "",
        note=_note(record),
        proof=tuple(_proof(state, task.id, *passed)) if complete else (),
        files=tuple(dict.fromkeys((*last.files, *last.tests, *last.attacks))) if last else (),
        criteria=mapped or tuple(Criterion(criterion=text) for text in task.acceptance),
        usage=usage,
    )


def _note(record: TaskRecord) -> str:
    """Why a task is blocked, skipped, or to be done again."""
    last = record.last
    if record.status is TaskStatus.PENDING and last and last.outcome is Outcome.UNDONE:
        return f"undone: {last.reason}"
    if record.status is TaskStatus.IN_PROGRESS and last and last.commit:
        return f"opened again: {last.reason}"
    return record.reason if record.status in (TaskStatus.BLOCKED, TaskStatus.SKIPPED) else ""


def _gates(story: Iterable[ev.Entry]) -> dict[tuple[str, int], ev.GatesRun]:
    """The newest judgement of the gates on each attempt."""
    events = (entry.event for entry in story)
    return {(each.task, each.attempt): each for each in events if isinstance(each, ev.GatesRun)}


def _proof(
    state: State, task: str, gates: dict[tuple[str, int], ev.GatesRun], runs: dict[tuple[str, int], TestRun]
) -> Iterator[str]:
    """What let the last attempt pass, a few words each."""
    last = state.task(task).last
    if last is None:
        return
    if judged := gates.get((task, last.number)):
        passed = sum(status is GateStatus.PASS for status in judged.statuses.values())
        overruled = f", overruled: {', '.join(judged.overridden)}" if judged.overridden else ""
        yield f"gates: {passed} passed{overruled}"
    for name, review in (
        ("review", last.review),
        ("security review", last.security_review),
        ("test engineer", last.tests_review),
        ("review of tests", last.second_review),
    ):
        if review is not None:
            yield f"{name} {review.verdict}"
    if run := runs.get((task, last.number)):
        yield f"tests: {tests_in_words(run)}"
    if last.mutants is not None:
        yield f"mutants: {last.mutants.text}"
    if last.related:
        yield RELATED


def _rejections(state: State, tasks: Iterable[str]) -> Iterator[Rejected]:
    """The rejected attempts in the order in which they ended; what the tests of a phase opened again is one, too."""
    attempts = [(each.ended, task, each) for task in tasks for each in state.task(task).attempts]
    for _, task, each in sorted(attempts, key=lambda found: (found[0], found[2].seq)):
        if each.outcome is Outcome.REJECTED:
            yield Rejected(
                task=task,
                attempt=each.number,
                stage=each.stage,
                by=tuple(sorted(each.stage.parts)),
                reason=each.reason,
            )


def _overruled(story: Iterable[ev.Entry], tasks: Iterable[str], phases: Sequence[int]) -> Iterator[Overruled]:
    wanted = frozenset(tasks)
    for entry in story:
        match event := entry.event:
            case ev.RejectionOverridden() if event.task in wanted:
                by = decider(event.by, entry.actor)
                yield _overrule(f"task {event.task}", event.stage, event.reason, by, entry.time)
            case ev.PhaseOverridden() if event.phase in phases:
                yield _overrule(f"phase {event.phase}", event.stage, event.reason, entry.actor, entry.time)


def _overrule(subject: str, stage: str, reason: str, by: str, time: str) -> Overruled:
    return Overruled(subject=subject, stage=stage, reason=reason, by=by, time=time)


def _evidence(claims: Iterable[Claim], subjects: set[str]) -> Iterator[GoalEvidence]:
    for each in sorted(claims, key=lambda claim: claim.seq):
        if each.sha256 and each.task in subjects:
            yield GoalEvidence(task=each.task, attempt=each.attempt, file=each.file, sha256=each.sha256)

"""Compares the evidence that the ledger requires of each attempt with what exists, and reports what is missing.

What is due is decided from the events alone: a step that was recorded left its evidence behind, and a step that the
attempt never reached left none. So of an attempt that the gates rejected no review is due.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import (
    AdversarialTestsWritten,
    AttemptRejected,
    ChangeCaptured,
    DebateWeighed,
    Entry,
    Event,
    EvidenceKept,
    GatesRun,
    GoalSet,
    GuardActed,
    PhaseReviewed,
    ReviewGiven,
    RunStarted,
    SecurityReviewGiven,
    TaskDelegated,
    TestsReviewed,
    TestsRun,
    WorkStarted,
)
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.review.stage import NOBODY, Judge, Stage
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskStatus

_SBOM_GATE = "sbom_generate"
_MUTATION = "mutation"
"""The rule of the guard's notes that say that mutants were tried."""


class Kind(StrEnum):
    """The pieces of evidence that an attempt can leave, in the order in which they come about."""

    DIFF = "diff"
    GATES = "gates"
    DEBATE = "debate"
    REVIEW = "review"
    SECURITY = "security"
    ADVERSARIAL = "adversarial"
    TESTS_REVIEW = "tests_review"
    FINAL_GATES = "final_gates"
    SBOM = "sbom"
    TESTS = "tests"
    BEFORE = "tests_before"
    BASE = "tests_base"
    MUTATION = "mutation"


FILES: dict[Kind, str] = {
    Kind.DIFF: "change.patch",
    Kind.GATES: "gates.json",
    Kind.DEBATE: "debate.json",
    Kind.REVIEW: "review.json",
    Kind.SECURITY: "security_review.json",
    Kind.ADVERSARIAL: "adversarial.json",
    Kind.TESTS_REVIEW: "tests_review.json",
    Kind.FINAL_GATES: "final-gates.json",
    Kind.SBOM: "sbom.cdx.json",
    Kind.TESTS: "tests.json",
    Kind.BEFORE: "tests-before.json",
    Kind.BASE: "tests-base.json",
    Kind.MUTATION: "mutation.json",
}
"""The file of each kind."""

_KINDS_BY_FILE = {name: kind for kind, name in FILES.items()}

RECORDED = 2
"""From this `RunStarted.record` on, the SHA-256 of every file of evidence is on record."""


class Standing(StrEnum):
    """The result of looking for one piece of evidence."""

    PRESENT = "present"
    MISSING = "missing"
    CHANGED = "changed"
    """It is there, and not what the ledger recorded."""
    NOT_DUE = "not due"
    ARCHIVED = "archived"
    """It was pruned, and the archive holds it as it was recorded."""


class Piece(Frozen):
    """One piece of evidence.

    `path` is relative to the repository, of an archived piece that of its archive; empty where none is due. `recorded`
    says that the ledger holds its SHA-256: what else is only there, and nothing proves that it is as it was.
    """

    kind: Kind
    standing: Standing
    path: str = ""
    recorded: bool = True
    problem: str = ""


class AttemptEvidence(Frozen):
    """The evidence of one attempt: a piece of every kind, in the order of `Kind`."""

    number: int
    outcome: Outcome
    stage: Stage = NOBODY
    pieces: tuple[Piece, ...] = ()


class TaskEvidence(Frozen):
    """The evidence of one task. `blockers`: what keeps it from being complete or proven; a sentence each.

    `proven`: nothing that is due is missing or changed. `summary` is its story in lines, where it was asked for.
    """

    task: str
    title: str
    phase: int
    status: TaskStatus
    proven: bool
    blockers: tuple[str, ...] = ()
    attempts: tuple[AttemptEvidence, ...] = ()
    summary: tuple[str, ...] = ()


class PhaseEvidence(Frozen):
    """The file of one verdict on a whole phase: `verdict` names it, `validation 1.2`; the rest as of a `Piece`."""

    phase: int
    verdict: str
    standing: Standing
    path: str = ""
    problem: str = ""


class EvidenceReport(Frozen):
    """`swarm evidence`, of the tasks that were asked for. `earlier`: where the evidence of earlier goals is.

    `phases` are the verdicts on whole phases, where all tasks were asked for.

    `complete`: there are tasks, each of them is complete, and all of its evidence is there as it was recorded.
    `proven`: no piece that is due is missing or changed; of tasks that are not begun none is due.
    """

    goal: int
    complete: bool
    proven: bool
    tasks: tuple[TaskEvidence, ...] = ()
    phases: tuple[PhaseEvidence, ...] = ()
    earlier: tuple[str, ...] = ()


class PrunedTask(Frozen):
    """A task whose evidence goes: of which goal, how many files and bytes, and the time of the last event about it."""

    goal: int
    task: str
    files: int
    size: int
    last: str


class Pruned(Frozen):
    """`swarm evidence prune`: what went, or with `check` what would go; sizes in bytes.

    `archive` is where it lies now, relative to the repository; empty where nothing went. `before` and `left` are the
    size of all evidence; `over` says which bound does not hold even so, and why; `skipped` are links and other things
    that are no files: they stay where they are.
    """

    check: bool
    tasks: tuple[PrunedTask, ...] = ()
    files: int = 0
    size: int = 0
    before: int = 0
    left: int = 0
    archive: str = ""
    over: str = ""
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of evidence that has to be there, by the event at `seq`; `sha256` is empty where that names none.

    `kind` is the name of its file where it is none of `Kind`.
    """

    task: str
    attempt: int
    kind: Kind | str
    sha256: str
    seq: int

    @property
    def file(self) -> str:
        """The name of its file."""
        return FILES[self.kind] if isinstance(self.kind, Kind) else self.kind


@dataclass(slots=True)
class Recorded:
    """The evidence claims of the ledger for one goal.

    Attributes:
        goal: its number, from 1.
        started: work on it began, so that evidence of the goals before lies in the history.
        claims: the newest about each piece.
        runs: the newest test run of an attempt.
        bare: attempts that began before all evidence had its SHA-256 on record.
    """

    goal: int = 0
    started: bool = False
    claims: dict[tuple[str, int, Kind | str], Claim] = field(default_factory=dict)
    runs: dict[tuple[str, int], TestRun] = field(default_factory=dict)
    bare: set[tuple[str, int]] = field(default_factory=set)
    _components: set[tuple[str, int]] = field(default_factory=set)

    def add(self, entry: Entry, *, hashed: bool) -> None:
        """Takes an event in; `hashed`: it stands where the SHA-256 of every file is on record."""
        event = entry.event
        match event:
            case WorkStarted():
                self.started = True
            case TaskDelegated() if not hashed:
                self.bare.add((event.task, event.attempt))
            case GatesRun() if event.statuses.get(_SBOM_GATE, GateStatus.SKIP) is not GateStatus.SKIP:
                self._components.add((event.task, event.attempt))
            case TestsRun():
                self.runs[event.task, event.attempt] = event.run
                if (event.task, event.attempt) in self._components:
                    self._claim(Claim(event.task, event.attempt, Kind.SBOM, "", entry.seq))
            case _:
                pass
        for task, attempt, kind, digest in _claims(event):
            self._claim(Claim(task, attempt, kind, digest, entry.seq))

    def _claim(self, claim: Claim) -> None:
        key = claim.task, claim.attempt, claim.kind
        if claim.sha256 or key not in self.claims:
            self.claims[key] = claim


def recorded(entries: Iterable[Entry]) -> Recorded:
    """The evidence claims of the ledger for the newest goal."""
    return recorded_by_goal(entries)[-1]


def recorded_by_goal(entries: Iterable[Entry]) -> list[Recorded]:
    """What the ledger says of the evidence of each goal, in order; before the first stands what was before any goal."""
    found, hashed = [Recorded()], False
    for entry in entries:
        if isinstance(entry.event, GoalSet):
            found.append(Recorded(goal=found[-1].goal + 1))
        if isinstance(entry.event, RunStarted):
            hashed = hashed or entry.event.record >= RECORDED
        found[-1].add(entry, hashed=hashed)
    return found


Written = Mapping[tuple[str, int, str], str]
"""SHA-256 of files of evidence by task, attempt and name."""


def unnamed_evidence(written: Written, events: Iterable[Event]) -> list[EvidenceKept]:
    """Puts on record what a step wrote and its own events do not name."""
    claims = (Claim(*claim, seq=0) for event in events for claim in _claims(event))
    named = {(claim.task, claim.attempt, claim.file): claim.sha256 for claim in claims}
    found: dict[tuple[str, int], dict[str, str]] = {}
    for (task, attempt, name), digest in written.items():
        if named.get((task, attempt, name)) != digest:
            found.setdefault((task, attempt), {})[name] = digest
    return [EvidenceKept(task=task, attempt=attempt, files=files) for (task, attempt), files in found.items()]


_KINDS: dict[type, Kind] = {
    ChangeCaptured: Kind.DIFF,
    GatesRun: Kind.GATES,
    ReviewGiven: Kind.REVIEW,
    SecurityReviewGiven: Kind.SECURITY,
    AdversarialTestsWritten: Kind.ADVERSARIAL,
    TestsReviewed: Kind.TESTS_REVIEW,
    TestsRun: Kind.TESTS,
}


def _claims(event: Event) -> Iterator[tuple[str, int, Kind | str, str]]:
    """Task, attempt, kind and SHA-256 of each piece that an event says was written."""
    match event:
        case DebateWeighed(evidence=digest) if digest:  # only a debate that was held leaves a file
            yield event.task, event.attempt, Kind.DEBATE, digest
        case (
            ChangeCaptured()
            | GatesRun()
            | ReviewGiven()
            | SecurityReviewGiven()
            | AdversarialTestsWritten()
            | TestsReviewed()
        ):
            yield event.task, event.attempt, _KINDS[type(event)], event.evidence
        case TestsRun():
            yield event.task, event.attempt, Kind.TESTS, event.evidence
            yield event.task, event.attempt, Kind.FINAL_GATES, event.gates_evidence
            if event.proof is not None:
                yield event.task, event.attempt, Kind.BEFORE, ""
        case GuardActed(note=note) if note.rule == _MUTATION and event.task and note.attempt:
            yield event.task, note.attempt, Kind.MUTATION, ""
        case AttemptRejected() if event.stage.judge is Judge.MUTATION:
            yield event.task, event.attempt, Kind.MUTATION, ""
        case PhaseReviewed():
            yield f"phase-{event.phase}", event.round, f"{event.stage}-{event.number}.json", event.evidence
        case EvidenceKept():
            for name, digest in event.files.items():
                yield event.task, event.attempt, _KINDS_BY_FILE.get(name, name), digest
        case _:
            return


Pieces = Mapping[int, tuple[Piece, ...]]
"""What was found of the attempts of one task, by their numbers."""


def task_evidence(state: State, task_id: str, pieces: Pieces) -> TaskEvidence:
    """The row of one task of the plan.

    Args:
        state: the fold, with a plan that has the task.
        task_id: its id.
        pieces: what was found.
    """
    if state.plan is None:
        raise ValueError("a state without a plan has no tasks")
    task, record = state.plan.tasks[task_id], state.task(task_id)
    attempts = tuple(
        AttemptEvidence(number=each.number, outcome=each.outcome, stage=each.stage, pieces=pieces.get(each.number, ()))
        for each in record.attempts
    )
    broken = tuple(
        f"attempt {attempt.number}: {piece.problem}"
        for attempt in attempts
        for piece in attempt.pieces
        if piece.standing in (Standing.MISSING, Standing.CHANGED)
    )
    return TaskEvidence(
        task=task.id,
        title=task.title,
        phase=state.plan.phase_numbers[task.id],
        status=record.status,
        proven=not broken,
        blockers=(*broken, *_unfinished(state, task_id)),
        attempts=attempts,
    )


def _unfinished(state: State, task_id: str) -> Iterator[str]:
    """What keeps a task from being complete, by the state alone."""
    record = state.task(task_id)
    match record.status:
        case TaskStatus.COMPLETE:
            return
        case TaskStatus.SKIPPED:
            yield f"given up: {record.reason}"
        case TaskStatus.BLOCKED:
            yield f"blocked: {record.reason}"
        case _ if record.running:
            yield f"attempt {record.running.number} goes on; still due: {', '.join(still_due(record.running))}"
        case _ if record.last:
            last = record.last
            stage = f" ({last.stage})" if last.stage else ""
            yield f"attempt {last.number}: {last.outcome}{stage}: {last.reason}"
        case _:
            waits = (
                [other for other in state.plan.tasks[task_id].depends if not state.task(other).settled]
                if state.plan
                else []
            )
            yield f"no attempt yet{', it waits for ' + ', '.join(waits) if waits else ''}"


def still_due(attempt: Attempt) -> tuple[str, ...]:
    """What a running attempt has before it, in order."""
    found = [] if attempt.captured else [Kind.DIFF.value]
    if attempt.state is TaskState.CODER_DELEGATED:
        found.append(Kind.GATES)
    if attempt.state in (TaskState.CODER_DELEGATED, TaskState.PRE_CHECK_PASSED):
        found += [] if attempt.reviewed else [Kind.REVIEW]
        found += [Kind.SECURITY] if attempt.sensitive and attempt.security_review is None else []
    if attempt.state is not TaskState.TESTS_RUN:
        found += [Kind.TESTS, Kind.FINAL_GATES]
    return (*found, "commit")

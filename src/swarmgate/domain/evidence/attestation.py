"""The in-toto statement about a completed task's commit: what the ledger says of the task, and nothing else.

The statement is a pure function of the ledger's lines up to the one that the commit's `Swarm-Ledger` trailer names. The
commit's `Swarm-Attestation` trailer is the SHA-256 of its predicate, so a statement that was altered does not fit the
commit, and whoever signed the commit signed the statement. Form: in-toto Attestation Framework, Statement v1
(https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import (
    AdversarialTestsWritten,
    Entry,
    GatesRun,
    ReviewGiven,
    SecurityReviewGiven,
    TestsReviewed,
    TestsRun,
    TestsWritten,
)
from swarmgate.domain.evidence.report import recorded
from swarmgate.domain.state.state import Attempt, State, TaskRecord, current

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:swarmgate:attestation:task:v1"
"""The predicate of this file. Another form of it gets another number, and this one stays readable."""

NOTES_REF = "refs/notes/swarm-attestations"
"""Where the statements stand, each as the note of its commit."""

ATTESTATION_TRAILER = "Swarm-Attestation"
"""The trailer of a commit that holds the SHA-256 of its predicate, in hex."""
LEDGER_TRAILER = "Swarm-Ledger"
"""The trailer that holds number and hash of the ledger's line that a commit stands on."""

_Judged = ReviewGiven | SecurityReviewGiven | TestsWritten | AdversarialTestsWritten | TestsReviewed
_STAGES: dict[type[_Judged], str] = {
    ReviewGiven: "review",
    SecurityReviewGiven: "security_review",
    TestsWritten: "test",
    AdversarialTestsWritten: "adversarial_test",
    TestsReviewed: "review_tests",
}
"""What a verdict was given on, by its event."""


class LedgerLine(Frozen):
    """A line of the ledger: its number, and its hash, which fixes all lines before it."""

    seq: int
    sha256: str


class TaskNamed(Frozen):
    """The task as the plan had it."""

    id: str
    title: str
    phase: int
    acceptance: tuple[str, ...]


class GatesPassed(Frozen):
    """How each gate ended over the change, and what the user had overruled of them."""

    passed: bool
    statuses: dict[str, str]
    overridden: tuple[str, ...] = ()


class VerdictGiven(Frozen):
    """The verdict of a role in an attempt; `model` is empty where it is not on record."""

    attempt: int
    stage: str
    verdict: str
    findings: int
    model: str


class TestsPassed(Frozen):
    """swarmgate's own run of the tests over the tree; counts are None where the runner names none.

    `proven` says whether the new tests failed before the change; None where there was nothing to prove.
    """

    __test__ = False  # pytest: not a test class

    command: str
    passed: bool
    exit_code: int | None
    tests_passed: int | None
    tests_failed: int | None
    tests_skipped: int | None
    related: bool
    proven: bool | None


class Overruled(Frozen):
    """A rejection that somebody overruled: `by` as the ledger names them, `time` in UTC (ISO 8601)."""

    stage: str
    reason: str
    by: str
    time: str


class Predicate(Frozen):
    """What the ledger says of a completed task.

    `base` is the commit that the change was made on, `tree` the tree of the project that passed. `models` are those
    that spoke, by role. `evidence` has the SHA-256 of each file below `.swarm/evidence/<task>/`, of all attempts.
    """

    ledger: LedgerLine
    goal: str
    goal_number: int
    task: TaskNamed
    attempt: int
    kind: str
    base: str
    tree: str
    files: tuple[str, ...]
    models: dict[str, tuple[str, ...]]
    gates: GatesPassed | None
    verdicts: tuple[VerdictGiven, ...]
    tests: TestsPassed | None
    overrides: tuple[Overruled, ...]
    evidence: dict[str, str]

    @property
    def sha256(self) -> str:
        """The SHA-256, in hex, of its JSON with sorted keys and without blanks."""
        return hashlib.sha256(_compact(self.model_dump(mode="json"))).hexdigest()


class GitCommit(Frozen):
    """The digest of a commit: its id, as in-toto's digest sets name it."""

    model_config = ConfigDict(populate_by_name=True)

    id: str = Field(alias="gitCommit")


class Subject(Frozen):
    """What a statement is about: a commit of git."""

    name: Literal["commit"] = "commit"
    digest: GitCommit


class Statement(Frozen):
    """An in-toto statement whose predicate is ours."""

    model_config = ConfigDict(populate_by_name=True)

    statement_type: Literal["https://in-toto.io/Statement/v1"] = Field(STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject]
    predicate_type: Literal["urn:swarmgate:attestation:task:v1"] = Field(PREDICATE_TYPE, alias="predicateType")
    predicate: Predicate

    @property
    def commit(self) -> str:
        """The id of the commit that it is about."""
        return self.subject[0].digest.id

    def text(self) -> str:
        """The one form in which it is written: a note that reads otherwise was altered."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"


def statement_of(predicate: Predicate, commit: str) -> Statement:
    """The statement about a commit by its id."""
    return Statement(subject=(Subject(digest=GitCommit(id=commit)),), predicate=predicate)


def predicate_of(state: State, head: str, entries: Iterable[Entry]) -> Predicate:
    """The predicate of the running attempt, whose tests have passed.

    Args:
        state: the fold at the line that the commit stands on.
        head: the hash of that line.
        entries: the ledger's, at least from the task's first attempt up to that line.

    Raises:
        ValueError: no attempt is running.
    """
    task, record, attempt = current(state)
    if state.plan is None:
        raise ValueError("there is no plan")
    own = [entry for entry in entries if getattr(entry.event, "task", "") == task.id and entry.seq <= state.seq]
    return Predicate(
        ledger=LedgerLine(seq=state.seq, sha256=head),
        goal=state.goal,
        goal_number=state.goals,
        task=TaskNamed(
            id=task.id, title=task.title, phase=state.plan.phase_numbers[task.id], acceptance=task.acceptance
        ),
        attempt=attempt.number,
        kind=attempt.kind,
        base=attempt.base,
        tree=attempt.tree,
        files=attempt.files,
        models=_models(record),
        gates=_gates(own, attempt),
        verdicts=_verdicts(own),
        tests=_tests(own, attempt),
        overrides=tuple(
            Overruled(stage=each.stage, reason=each.reason, by=each.by, time=each.time)
            for _, each in sorted(record.overrides.items())
        ),
        evidence=_evidence(own),
    )


def first_line(state: State) -> int:
    """The line from which on the predicate of the running attempt needs entries."""
    _, record, _ = current(state)
    return min(attempt.seq for attempt in record.attempts)


def differences(stated: Predicate, recorded_one: Predicate) -> tuple[str, ...]:
    """The names of the fields in which a statement differs from what the ledger says, with a dot between levels."""
    return tuple(_differing(stated.model_dump(mode="json"), recorded_one.model_dump(mode="json")))


def _differing(one: Any, other: Any, place: str = "") -> Iterable[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            yield from _differing(one.get(key), other.get(key), f"{place}.{key}" if place else str(key))
    elif one != other:
        yield place


def _compact(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _verdicts(own: Iterable[Entry]) -> tuple[VerdictGiven, ...]:
    return tuple(_verdict(entry.event) for entry in own if isinstance(entry.event, _Judged))


def _verdict(event: _Judged) -> VerdictGiven:
    return VerdictGiven(
        attempt=event.attempt,
        stage=_STAGES[type(event)],
        verdict=event.review.verdict,
        findings=len(event.review.findings),
        model=event.review.model,
    )


def _models(record: TaskRecord) -> dict[str, tuple[str, ...]]:
    """The models that spoke in the turns of the task, by role."""
    found: dict[str, set[str]] = {}
    for turn in record.turns:
        if turn.model:
            found.setdefault(turn.role, set()).add(turn.model)
    return {role: tuple(sorted(models)) for role, models in sorted(found.items())}


def _gates(own: Iterable[Entry], attempt: Attempt) -> GatesPassed | None:
    runs = [e.event for e in own if isinstance(e.event, GatesRun) and e.event.attempt == attempt.number]
    if not runs:
        return None
    last = runs[-1]
    return GatesPassed(passed=last.passed, statuses=dict(sorted(last.statuses.items())), overridden=last.overridden)


def _tests(own: Iterable[Entry], attempt: Attempt) -> TestsPassed | None:
    runs = [e.event for e in own if isinstance(e.event, TestsRun) and e.event.attempt == attempt.number]
    if not runs:
        return None
    last = runs[-1]
    return TestsPassed(
        command=last.run.command,
        passed=last.passed,
        exit_code=last.run.exit_code,
        tests_passed=last.run.passed,
        tests_failed=last.run.failed,
        tests_skipped=last.run.skipped,
        related=last.run.related,
        proven=None if last.proof is None else last.proof.able,
    )


def _evidence(own: Iterable[Entry]) -> dict[str, str]:
    claims = recorded(own).claims.values()
    found = {f"attempt-{each.attempt}/{each.file}": each.sha256 for each in claims if each.sha256}
    return dict(sorted(found.items()))

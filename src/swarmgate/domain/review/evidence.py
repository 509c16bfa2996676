"""Records of review verdicts, and of test runs that swarmgate measured itself."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge, Stage


class Verdict(StrEnum):
    """What a critic, a reviewer or a test engineer decided. There is no third value: no verdict is a rejection."""

    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


class Remark(Frozen):
    """One finding of a role, as its `submit_verdict` call states it."""

    severity: Severity
    message: Text
    file: Line = ""
    line: int | None = None
    quote: Text = ""
    suggestion: Text = ""


def telling(stage: Stage, remarks: tuple[Remark, ...]) -> tuple[Remark, ...]:
    """The remarks of a rejection without those that only say of a gate in its stage how much it found.

    They are all there is of a gate that told no finding, and stay where nothing else does.
    """
    if stage.judge is not Judge.GATES:
        return remarks
    heads = tuple(f"[{gate}] " for gate in stage.names)
    return tuple(each for each in remarks if each.file or not each.message.startswith(heads)) or remarks


class Criterion(Frozen):
    """The test engineer's map from one acceptance criterion to the tests that show it."""

    criterion: Line
    tests: tuple[Line, ...] = ()


class Review(Frozen):
    """A verdict with its reasons; `model` is the model that gave it.

    `dropped` are findings that quoted nothing that stands in the change or in the file: they count for nothing.
    `dissent` is what the losing side of a debate still holds; `debate` is the id of its record, where one was held.
    """

    verdict: Verdict
    summary: Text
    findings: tuple[Remark, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    dropped: tuple[Remark, ...] = ()
    dissent: tuple[Text, ...] = ()
    debate: str = ""
    model: str = ""

    @property
    def approved(self) -> bool:
        """True for APPROVED alone."""
        return self.verdict is Verdict.APPROVED


class Canary(Frozen):
    """Tests of swarmgate's own with random names, run with the project's: a runner that tells the truth fails some.

    `failed` must fail and were reported as failed, `passed` must pass and did. `apart`: they had a run of their own.
    `missing` is why there were none.
    """

    failed: int = 0
    passed: int = 0
    apart: bool = False
    missing: Line = ""


class TestRun(Frozen):
    """One run of the project's tests by swarmgate.

    `exit_code` is None when the command was ended at its time limit or could not be started. Counts are None when the
    output names none. `failures` are the names of failed tests; `output` keeps head and tail. `names` are the tests
    that ran, `skips` those that were skipped, where the runner names each: they stand in the evidence, not in events.
    `canary` are swarmgate's own tests among them, which are in none of the counts; None where none were due.
    `suite` is the name of the suite, where a project has several; `parts` are the runs that this one is made of.
    `related` is True where only the tests ran that are related to a change.
    """

    __test__ = False  # pytest: not a test class

    command: str
    exit_code: int | None
    seconds: float = 0.0
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    failures: tuple[str, ...] = ()
    output: str = ""
    problem: str = ""
    names: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    canary: Canary | None = None
    suite: Line = ""
    parts: tuple[TestRun, ...] = ()
    related: bool = False

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the suites that ran."""
        return tuple(each.suite for each in (self.parts or (self,)) if each.suite)

    @property
    def ran(self) -> int:
        """How many tests ran to a result, 0 when unknown."""
        return (self.passed or 0) + (self.failed or 0)

    @property
    def green(self) -> bool:
        """Exit code 0, at least one test ran, none failed. "No test ran" is not a pass."""
        return self.exit_code == 0 and not self.problem and (self.passed or 0) > 0 and not self.failed

    @property
    def reason(self) -> str:
        """Why it is not green, in one line; empty when it is."""
        if self.green:
            return ""
        if self.parts:
            return "; ".join(each.reason for each in self.parts if not each.green) or self.problem
        return f"suite {self.suite}: {self._reason}" if self.suite else self._reason

    @property
    def _reason(self) -> str:
        if self.problem:
            return self.problem
        if self.failed:
            names = ", ".join(self.failures[:3])
            return f"{self.failed} of {self.ran} tests failed{': ' + names if names else ''}"
        if not self.ran:
            last = next((line for line in reversed(self.output.splitlines()) if line.strip()), "no output")
            return f"no test ran (`{self.command}`, exit code {self.exit_code}): {last.strip()}"
        return f"`{self.command}` ended with exit code {self.exit_code}"


class Mutants(Frozen):
    """Small faults that were put into the changed lines one at a time: `tested` of `total`, of which `survived`.

    A mutant survives where no test fails over it.
    """

    total: int = 0
    tested: int = 0
    survived: int = 0

    @property
    def rate(self) -> float:
        """The share that was noticed; 1 where there was nothing to notice."""
        return 1 - self.survived / self.tested if self.tested else 1.0

    @property
    def text(self) -> str:
        """In one line."""
        if not self.tested:
            return "no mutant was tested"
        more = f", of {self.total} that there are" if self.tested < self.total else ""
        noticed = self.tested - self.survived
        return f"the tests noticed {noticed} of {self.tested} mutants ({self.rate:.0%}){more}"


class Proof(Frozen):
    """What proves a change: its new tests fail without it, and with other bodies; a passing test runs what it changed.

    `tests` are the new test files, `run` their run against the tree before the change, `able` whether at least one
    failed there. Of a refactoring there are none, and `run` is that of the tests of before over the new code.
    `unnoticed` says which replaced bodies no new test noticed, `unrun` which changed parts no passing test runs,
    `outdated` which tests of before fail in their old form. `others` are the other runs, by what was run: they stand in
    the evidence, not in events.
    """

    tests: tuple[str, ...]
    run: TestRun
    able: bool
    unnoticed: tuple[Line, ...] = ()
    unrun: tuple[Line, ...] = ()
    outdated: tuple[Line, ...] = ()
    others: dict[str, TestRun] = Field(default_factory=dict)

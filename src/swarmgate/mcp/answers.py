"""What the tools answer: the house's own records, and small ones where no record says it alone."""

from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from swarmgate.council.debate.model import Outcome
from swarmgate.council.decision.model import DecisionOutcome
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.finding import Finding, GateReport, GateStatus, Standing, Unchecked
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.failures import FailureGroup
from swarmgate.engine.reports.outcome import RunOutcome
from swarmgate.engine.reports.status import HistoryLine

R = TypeVar("R")


class Answer(Frozen, Generic[R]):
    """What every tool answers: a page of its result."""

    result: R = Field(description="The result. Where `cut` says so, long texts and lists in it are cut.")
    next: str = Field("", description="Give it as `after` for the next page; empty: this is the last one.")
    cut: str = Field("", description="Where all of it can be read, if something was cut; empty: nothing was.")


class GateLine(Frozen):
    """What one gate did, without its findings, which are counted."""

    gate: str
    status: GateStatus
    blocks: bool
    reason: str
    findings: int
    fixed: tuple[str, ...]
    unchecked: tuple[Unchecked, ...]
    seconds: float


class Found(Frozen):
    """A finding, of which gate, and what it means for the change."""

    gate: str
    standing: Standing
    finding: Finding


class Judged(Frozen):
    """What the gates said: the verdict, each gate, and the findings, those that block first; exit code as of `run`."""

    about: str
    verdict: str
    exit_code: int
    gates: tuple[GateLine, ...]
    findings: tuple[Found, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, report: GateReport, about: str, exit_code: int) -> "Judged":
        """Makes it of the report of a run."""
        found = [
            Found(gate=result.gate, standing=result.standing(each), finding=each)
            for result in report.results
            for each in result.findings
        ]
        order = list(Standing)
        found.sort(key=lambda each: (order.index(each.standing), -each.finding.severity.rank))
        same = GateLine.model_fields.keys() - {"findings"}
        gates = tuple(
            GateLine(findings=len(each.findings), **{name: getattr(each, name) for name in same})
            for each in report.results
        )
        return cls(
            about=about,
            verdict=report.verdict,
            exit_code=exit_code,
            gates=gates,
            findings=tuple(found),
            notes=report.notes,
        )


class CommandJudged(Frozen):
    """Whether a command line of an agent would be run, and why not: what `swarm guard explain --json` says."""

    command: str
    root: str
    allowed: bool
    allowed_by: str
    runs: bool
    commands: tuple[dict[str, Any], ...]
    reasons: tuple[dict[str, Any], ...]
    sandbox: dict[str, Any]


class Failures(Frozen):
    """Rejections of all tasks, grouped by what they have in common."""

    groups: tuple[FailureGroup, ...]


class History(Frozen):
    """Recorded events in words, in order."""

    lines: tuple[HistoryLine, ...]


class CheckLine(Frozen):
    """One check of the audit; it passed where `problems` is empty."""

    name: str
    looked_at: str
    problems: tuple[str, ...]
    warnings: tuple[str, ...]


class Verified(Frozen):
    """The audit of ledger, plan files, evidence and git."""

    passed: bool
    checks: tuple[CheckLine, ...]


class Debated(Frozen):
    """How a debate ended, why, and what the side that lost still holds. All of it: swarm debate show ID."""

    outcome: Outcome
    reasons: tuple[str, ...]
    dissent: tuple[str, ...]


class Discussed(Frozen):
    """How a discussion ended; no conclusion while it is not over. All of it: swarm discuss show ID."""

    id: str
    status: str
    why: str
    conclusion: Conclusion | None
    usage: Usage
    seconds: float


class Decided(Frozen):
    """How a decision ended. All of it: swarm decide show ID."""

    outcome: DecisionOutcome


class Worked(Frozen):
    """Where a plan or a run ended, and what the person said when it was asked about that here.

    `exit_code` is that of `swarm plan` and `swarm run`: 0 done, 1 a task is blocked, 3 it is a person's turn.
    """

    outcome: RunOutcome
    exit_code: int
    person: Literal["not asked", "approved", "left"] = "not asked"

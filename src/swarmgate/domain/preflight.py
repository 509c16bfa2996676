"""The preflight report: whether a phase can begin, as a list of checks that cost no tokens."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from swarmgate.domain.base import Frozen, Line, Text


class PreflightStatus(StrEnum):
    """The result of one check."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    SKIP = "skip"
    """There was nothing to look at; `detail` says why. Never a stand-in for a check that broke: that one failed."""


class PreflightCheck(Frozen):
    """One check.

    `detail` is what was looked at, or why nothing was; `problem` what is wrong and `hint` what to do about it.
    `blocks`: where it fails, the phase does not begin. `seconds` is until its answer was there; checks that are made
    together have one time.
    """

    name: str
    status: PreflightStatus
    detail: Line = ""
    problem: Text = ""
    hint: Text = ""
    seconds: float = 0.0
    blocks: bool = True

    @property
    def stops(self) -> bool:
        """Whether the phase cannot begin because of it."""
        return self.blocks and self.status is PreflightStatus.FAIL


class PreflightReport(Frozen):
    """All checks before one phase, in the order in which one would mend what they find.

    `passed`: none of them stops the phase. `tree` is the tree of the files that were looked at, `seq` the ledger's
    position, `time` when it began (UTC, ISO 8601), `seconds` how long it all took: less than the times of the checks
    together, since most run at once. `note` is what the user should know of the phase itself.
    """

    phase: int
    checks: tuple[PreflightCheck, ...]
    passed: bool
    seconds: float = 0.0
    tree: str = ""
    seq: int = 0
    time: str = ""
    note: Line = ""

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that stop the phase."""
        return tuple(check.name for check in self.checks if check.stops)

    @property
    def skipped(self) -> tuple[str, ...]:
        """The names of the checks that had nothing to look at."""
        return tuple(check.name for check in self.checks if check.status is PreflightStatus.SKIP)

    @property
    def problems(self) -> tuple[str, ...]:
        """What stops the phase, one text for each check, beginning with its name."""
        return tuple(f"{check.name}: {check.problem}" for check in self.checks if check.stops)


class Reach(Frozen):
    """How an endpoint answered when it was looked at: `answered` in words, empty where it did not; `problem`, `hint`.

    A hint without a problem is a doubt: it may be another endpoint than the one that is meant. `seconds` is how long
    that took. No token was spent.
    """

    provider: str
    base_url: str
    answered: str = ""
    problem: str = ""
    hint: str = ""
    seconds: float = 0.0


def report_of(
    phase: int, checks: Sequence[PreflightCheck], *, seconds: float, tree: str, seq: int, time: str
) -> PreflightReport:
    """The report of these checks. One without a single check passes nothing."""
    passed = bool(checks) and not any(check.stops for check in checks)
    return PreflightReport(
        phase=phase, checks=tuple(checks), passed=passed, seconds=seconds, tree=tree, seq=seq, time=time
    )

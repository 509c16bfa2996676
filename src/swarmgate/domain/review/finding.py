"""Gate findings and gate results: a failed gate and a broken tool are two different values."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from swarmgate.domain.base import Frozen


class Severity(StrEnum):
    """How bad a finding is, in rising order (`rank`)."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for info up to 4 for critical."""
        return list(Severity).index(self)


class Finding(Frozen):
    """One thing that a gate found.

    `line` and `column` count from 1; 0 means the whole file. `fingerprint` identifies the finding across revisions
    (rule, path, normalised line, occurrence). `new` is False for what stood in the base revision already: reported, and
    never blocking. `cwe` is `CWE-89` where known. A secret's value never stands in `message`; a masked prefix does.
    `accepted` is the reason that the project's baseline gives for living with it: counted, and never blocking.
    `also` names other gates that found the same weakness at the same place and do not repeat it. `code` is the line as
    it stands in the judged tree, cut where it is very long, and before a secret. `subject` is what the finding is about
    where its line does not tell: a dotted name, the hash of a secret. Findings are compared by it.
    """

    rule: str
    path: str
    line: int = 0
    column: int = 0
    severity: Severity = Severity.MEDIUM
    message: str
    suggestion: str = ""
    cwe: str = ""
    fingerprint: str = ""
    new: bool = True
    accepted: str = ""
    also: tuple[str, ...] = ()
    subject: str = ""
    code: str = ""

    @property
    def counts(self) -> bool:
        """Whether the change has to answer for it: introduced by it, and not accepted."""
        return self.new and not self.accepted

    @property
    def place(self) -> str:
        """`path:line:column`, as far as known."""
        return ":".join([self.path, *(str(n) for n in (self.line, self.column) if n)])


NOT_SELECTED = "not selected"
"""The reason of a SKIP where the user asked for other gates: text for people leaves such a result out."""


class Standing(StrEnum):
    """What a finding means for the change: each has exactly one of these, so that their counts add up."""

    BLOCKS = "blocks"
    INFORMS = "informs"
    ACCEPTED = "accepted"
    OLD = "old"


class Unchecked(Frozen):
    """Something that a gate is there to check, and did not: `what` as `[gates] require` names it, and `why`.

    `asked` is False where the project does not ask for it either: that is told only where it is required.
    """

    what: str
    why: str
    asked: bool = True


class GateStatus(StrEnum):
    """The four results of a gate. Nothing scanned is SKIP, a missing or crashed tool is ERROR; neither is a pass."""

    PASS = "PASS"  # noqa: S105 - a status, not a password
    FAIL = "FAIL"
    SKIP = "SKIP"
    ERROR = "ERROR"


class GateResult(Frozen):
    """What one gate did: status, reason (for all but PASS), findings, and what it looked at.

    Findings from `blocks_from` on, of those that count, are what a FAIL is about. `rules`: how many rules ran; 0 where
    that means nothing. `missing`: an ERROR because a tool is not there or too old; `killed`: one because somebody ended
    the tool, each time that it was run: that says nothing of the change. `fixed` are the files that a fixing gate
    changed, `patch` is what it changed, in unified form and bounded. `cached`: it was answered from the cache, and
    `seconds` is what that took. `unchecked`: what it left undone, whatever its status.
    """

    gate: str
    status: GateStatus
    required: bool = True
    blocks_from: Severity = Severity.MEDIUM
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    files: int = 0
    rules: int = 0
    seconds: float = 0.0
    tool: str = ""
    missing: bool = False
    killed: bool = False
    fixed: tuple[str, ...] = ()
    cached: bool = False
    patch: str = ""
    unchecked: tuple[Unchecked, ...] = ()

    @property
    def blocks(self) -> bool:
        """FAIL blocks; ERROR blocks where the gate is required; PASS and SKIP never do."""
        return self.status is GateStatus.FAIL or (self.status is GateStatus.ERROR and self.required)

    @property
    def new_findings(self) -> tuple[Finding, ...]:
        """The findings that the change introduced and nobody accepted."""
        return tuple(finding for finding in self.findings if finding.counts)

    @property
    def blocking_findings(self) -> tuple[Finding, ...]:
        """Those of the new findings that are severe enough to block."""
        return tuple(each for each in self.findings if self.standing(each) is Standing.BLOCKS)

    def standing(self, finding: Finding) -> Standing:
        """The standing of one of the findings."""
        if finding.accepted:
            return Standing.ACCEPTED
        if not finding.new:
            return Standing.OLD
        return Standing.BLOCKS if finding.severity.rank >= self.blocks_from.rank else Standing.INFORMS


class GateReport(Frozen):
    """The results of one pipeline run over one tree, in pipeline order.

    `notes` concern no gate alone: the change edits what gates are judged by, accepted findings have expired.
    """

    tree: str
    results: tuple[GateResult, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no result blocks and at least one gate looked at something."""
        return not self.blocking and any(result.status is GateStatus.PASS for result in self.results)

    @property
    def verdict(self) -> str:
        """`passed`, `rejected`, or `nothing judged` where every gate was skipped."""
        if self.blocking:
            return "rejected"
        return "passed" if self.passed else "nothing judged"

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What was asked for and not checked: what gates left undone, and optional ones that broke.

        A gate that blocks for just that says so itself.
        """
        messages = [
            each
            for result in self.results
            for each in result.unchecked
            if each.asked and not (result.status is GateStatus.ERROR and each.why in result.reason)
        ]
        broken = [each for each in self.results if each.status is GateStatus.ERROR and not each.blocks]
        messages += [Unchecked(what=each.gate, why=each.reason) for each in broken]
        return tuple(dict.fromkeys(messages))

    @property
    def counts(self) -> Mapping[Standing, int]:
        """How many findings there are of each standing."""
        return Counter(result.standing(finding) for result in self.results for finding in result.findings)

    @property
    def summary(self) -> str:
        """The verdict in one line, with its reason and with what was not checked."""
        verdict = f"{self.verdict}: {self.reason}" if self.reason else self.verdict
        whys: dict[str, list[str]] = {}
        for each in self.unchecked:
            whys.setdefault(each.why, []).append(each.what)
        missed = ", ".join(f"{', '.join(dict.fromkeys(whats))} ({why})" for why, whats in whys.items())
        return f"{verdict}; not checked: {missed}" if missed else verdict

    @property
    def blocking(self) -> tuple[GateResult, ...]:
        """The results that block."""
        return tuple(result for result in self.results if result.blocks)

    @property
    def reason(self) -> str:
        """One line for plan.md: the worst of all findings that block with its place, else why the first gate blocks."""
        failed = (result for result in self.results if result.status is GateStatus.FAIL)
        found = [each for result in failed for each in result.blocking_findings]
        if found:
            worst = max(found, key=lambda each: each.severity.rank)
            return f"{worst.place} {worst.rule}: {worst.message}"
        if self.blocking:
            return self.blocking[0].reason
        return "" if self.passed else "no gate looked at anything"

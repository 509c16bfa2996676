"""The report as text."""

from __future__ import annotations

from swarmgate.domain.finding import Finding, GateReport, GateResult, GateStatus, Severity
from swarmgate.gates.report import lines

NEW = Finding(rule="R", path="a\n\x1b[31m.py", line=2, severity=Severity.HIGH, message="bad", suggestion="mend")
OLD = Finding(rule="R", path="b.py", line=1, message="old", new=False)


def test_gates_then_findings_then_verdict() -> None:
    results = (
        GateResult(gate="lint_fix", status=GateStatus.PASS, files=2, seconds=0.0123, fixed=("a.py",)),
        GateResult(gate="lint", status=GateStatus.FAIL, reason="1 new", findings=(OLD, NEW), files=2),
        GateResult(gate="x", status=GateStatus.SKIP, reason="nothing", required=False),
    )
    assert lines(GateReport(tree="0123456789abcdef", results=results, seconds=0.5)) == [
        "PASS   lint_fix  2 files, 0 new, 0 old, 12 ms  fixed 1: a.py",
        "FAIL   lint      2 files, 1 new, 1 old, 0 ms  1 new",
        "SKIP   x         0 files, 0 new, 0 old, 0 ms  nothing  optional",
        "",
        "lint: a\\n\\x1b[31m.py:2: high R: bad -> mend",
        "lint: b.py:1: medium R: old (before the change)",
        "",
        "rejected: a\\n\\x1b[31m.py:2 bad (500 ms, tree 0123456789ab)",
    ]


def test_passed() -> None:
    report = GateReport(tree="0" * 40, results=(GateResult(gate="d", status=GateStatus.PASS, files=1),))
    assert lines(report)[-1] == "passed (0 ms, tree 000000000000)"

"""A gate report as lines for people: one line a gate, then what was found. Pure text, no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.domain.finding import Finding, GateReport, GateResult


def lines(report: GateReport) -> list[str]:
    """The whole report: gates in pipeline order, new findings before old ones, and the verdict last."""
    width = max((len(result.gate) for result in report.results), default=0)
    text = [_gate(result, width) for result in report.results]
    for result in report.results:
        ranked = sorted(result.findings, key=lambda finding: not finding.new)
        text += ["", *(f"{result.gate}: {_finding(finding)}" for finding in ranked)] if ranked else []
    verdict = "passed" if report.passed else f"rejected: {report.reason}"
    return [*text, "", _flat(f"{verdict} ({report.seconds * 1000:.0f} ms, tree {report.tree[:12]})")]


def _gate(result: GateResult, width: int) -> str:
    new = len(result.new_findings)
    counts = f"{result.files} files, {new} new, {len(result.findings) - new} old"
    parts = [f"{result.status:<5}  {result.gate:<{width}}  {counts}, {result.seconds * 1000:.0f} ms"]
    parts += [f"fixed {len(result.fixed)}: {', '.join(result.fixed)}"] if result.fixed else []
    parts += [result.reason] if result.reason else []
    parts += ["optional"] if not result.required else []
    return _flat("  ".join(parts))


def _finding(finding: Finding) -> str:
    age = "" if finding.new else " (before the change)"
    mend = f" -> {finding.suggestion}" if finding.suggestion else ""
    return _flat(f"{finding.place}: {finding.severity} {finding.rule}: {finding.message}{age}{mend}")


def _flat(text: str) -> str:
    # A file name may hold a line break or an escape sequence: neither may reach the terminal.
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)

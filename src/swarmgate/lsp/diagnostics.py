"""Turns findings of gates into diagnostics of an editor."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from swarmgate.domain.review.finding import Finding, GateReport, Severity, Standing
from swarmgate.domain.text.printable import printable

_SHOWN = (Standing.BLOCKS, Standing.INFORMS)
"""What was there before, or is accepted, is not shown."""


def diagnostics(report: GateReport, path: str, lines: Sequence[str]) -> list[types.Diagnostic]:
    """What a change has to answer for in one file, and what broke while it was looked at.

    Args:
        report: of the gates.
        path: of the file, as findings name it.
        lines: of its text as the editor has it.
    """
    return [
        _diagnostic(result.gate, each, result.standing(each), lines)
        for result in report.results
        for each in result.findings
        if each.path == path and result.standing(each) in _SHOWN
    ]


def _diagnostic(gate: str, finding: Finding, standing: Standing, lines: Sequence[str]) -> types.Diagnostic:
    text = f"{finding.message}\n{finding.suggestion}" if finding.suggestion else finding.message
    return types.Diagnostic(
        range=_range(finding, lines),
        message=printable(text),
        severity=_severity(finding, standing),
        code=finding.rule,
        source=f"swarmgate {gate}",
    )


def _severity(finding: Finding, standing: Standing) -> types.DiagnosticSeverity:
    if standing is Standing.BLOCKS:
        return types.DiagnosticSeverity.Error
    worse = finding.severity.rank >= Severity.MEDIUM.rank
    return types.DiagnosticSeverity.Warning if worse else types.DiagnosticSeverity.Information


def _range(finding: Finding, lines: Sequence[str]) -> types.Range:
    """From where it is to the end of its line; what is about the whole file stands on the first line."""
    number = min(max(finding.line - 1, 0), max(len(lines) - 1, 0))
    line = lines[number].rstrip("\r\n") if lines else ""
    begins = min(max(finding.column - 1, 0), len(line))
    start = types.Position(number, _units(line[:begins]))
    return types.Range(start=start, end=types.Position(number, _units(line)))


def _units(text: str) -> int:
    """Of UTF-16, in which the protocol counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

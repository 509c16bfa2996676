"""Workflow commands, which GitHub Actions shows as annotations beside the lines of a pull request.

Escapes: https://github.com/actions/toolkit, packages/core/src/command.ts. Only what the change introduced is annotated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.finding import GateStatus, Severity
from swarmgate.gates.plain import flat

if TYPE_CHECKING:
    from swarmgate.domain.finding import Finding, GateReport, GateResult

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(report: GateReport, about: str) -> str:
    """A command for each new finding, broken gate and note, and the verdict as a plain line."""
    lines = [_finding(finding, result) for result in report.results for finding in result.new_findings]
    for result in report.results:
        if result.blocks and (result.status is GateStatus.ERROR or not result.blocking_findings):
            lines.append(_command("error", result.reason, title=f"{result.gate}: {result.status}"))
        elif result.status is GateStatus.ERROR:
            lines.append(_command("warning", result.reason, title=f"{result.gate}: {result.status}"))
    lines += [_command("warning", note, title="gates") for note in report.notes]
    verdict = f"{report.verdict}: {report.reason}" if report.reason else report.verdict
    return "\n".join([*lines, _escaped(f"swarm gates: {verdict} ({about})", _DATA)])


def _finding(finding: Finding, result: GateResult) -> str:
    mend = f" -> {finding.suggestion}" if finding.suggestion else ""
    place: dict[str, str | int] = {"file": finding.path} if finding.path else {}
    place |= {"line": finding.line} if finding.line else {}
    place |= {"col": finding.column} if finding.line and finding.column else {}
    title = f"{result.gate}: {finding.rule}"
    return _command(_level(finding, result), f"{finding.message}{mend}", **place, title=title)


def _level(finding: Finding, result: GateResult) -> str:
    if result.blocks and finding in result.blocking_findings:
        return "error"
    return "warning" if finding.severity.rank >= Severity.MEDIUM.rank else "notice"


def _command(name: str, message: str, **properties: str | int) -> str:
    listed = ",".join(f"{key}={_escaped(str(value), _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {listed}::{_escaped(message, _DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return flat("".join(table.get(char, char) for char in text))

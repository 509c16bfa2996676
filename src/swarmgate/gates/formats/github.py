"""Renders a gate report as GitHub Actions workflow commands (annotations in a pull request).

Escapes: https://github.com/actions/toolkit, packages/core/src/command.ts. Only what the change introduced is annotated.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import GateStatus, Severity, Standing
from swarmgate.gates.formats.escaping import flat
from swarmgate.gates.formats.text import counted

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding, GateReport, GateResult

_ORDER = ("error", "warning", "notice")
"""GitHub shows ten annotations of a level for a step: the worst have to come first."""

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(report: GateReport, about: str) -> str:
    """The new findings in a group a file, those that block first; then broken gates and notes; the verdict plainly."""
    found = [(result, finding) for result in report.results for finding in result.new_findings]
    files: dict[str, list[tuple[GateResult, Finding]]] = {}
    for each in sorted(found, key=_worst_first):
        files.setdefault(each[1].path, []).append(each)
    lines = []
    for path, here in files.items():
        counts = counted(Counter(result.standing(finding) for result, finding in here))
        lines.append(f"::group::{_escaped(path or 'the change as a whole', _DATA)}: {counts}")
        lines += [_finding(result, finding) for result, finding in here]
        lines.append("::endgroup::")
    for result in report.results:
        if result.blocks and (result.status is GateStatus.ERROR or not result.blocking_findings):
            lines.append(_command("error", result.reason, title=f"{result.gate}: {result.status}"))
        elif result.status is GateStatus.ERROR:
            lines.append(_command("warning", result.reason, title=f"{result.gate}: {result.status}"))
        unchecked = (each for each in result.unchecked if each.asked)
        lines += [_command("warning", f"{each.what}: {each.why}", title="not checked") for each in unchecked]
    lines += [_command("warning", note, title="gates") for note in report.notes]
    return "\n".join([*lines, _escaped(f"swarm gates: {report.summary} ({about})", _DATA)])


def _worst_first(each: tuple[GateResult, Finding]) -> tuple[int, int, str, int]:
    finding = each[1]
    return _ORDER.index(_level(*each)), -finding.severity.rank, finding.path, finding.line


def _finding(result: GateResult, finding: Finding) -> str:
    mend = f" -> {finding.suggestion}" if finding.suggestion else ""
    place: dict[str, str | int] = {"file": finding.path} if finding.path else {}
    place |= {"line": finding.line} if finding.line else {}
    place |= {"col": finding.column} if finding.line and finding.column else {}
    title = f"{result.gate}: {finding.rule}"
    return _command(_level(result, finding), f"{finding.message}{mend}", **place, title=title)


def _level(result: GateResult, finding: Finding) -> str:
    if result.blocks and result.standing(finding) is Standing.BLOCKS:
        return "error"
    return "warning" if finding.severity.rank >= Severity.MEDIUM.rank else "notice"


def _command(name: str, message: str, **properties: str | int) -> str:
    listed = ",".join(f"{key}={_escaped(str(value), _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {listed}::{_escaped(message, _DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return flat("".join(table.get(char, char) for char in text))

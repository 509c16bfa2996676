"""A gate report as lines for people: one line a gate, then what blocks, then what informs. Pure text, no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.finding import NOT_SELECTED
from swarmgate.gates.plain import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.finding import Finding, GateReport, GateResult

PATCH_LINES = 60
"""Of what was fixed, so many lines are shown; the report as JSON has more."""

_INFORMING = 10
"""Of the new findings that do not block, so many are shown, the worst first; the count of the others is told."""


def lines(report: GateReport, about: str = "") -> list[str]:
    """The whole report: gates in pipeline order, what blocks before what informs, and the verdict last.

    Gates that were not selected are left out, and of findings that stood there before the change only the count is
    told: the report as JSON has both.

    Args:
        report: what the gates said.
        about: what was judged; told first where it is known.
    """
    shown = [result for result in report.results if result.reason != NOT_SELECTED]
    width = max((len(result.gate) for result in shown), default=0)
    text = [f"judged: {flat(about)}", ""] if about else []
    text += [_gate(result, width) for result in shown]
    for result in shown:
        text += _patch(result)
    for result in shown:
        blocking = [f"{result.gate}: {_finding(finding)}" for finding in result.blocking_findings]
        text += ["", *blocking] if blocking else []
    text += _informing(shown)
    text += ["", *(f"note: {flat(note)}" for note in report.notes)] if report.notes else []
    reason = f": {report.reason}" if report.reason else ""
    return [*text, "", flat(f"{report.verdict}{reason} ({report.seconds * 1000:.0f} ms, tree {report.tree[:12]})")]


def _gate(result: GateResult, width: int) -> str:
    new = len(result.new_findings)
    lived_with = sum(bool(finding.accepted) for finding in result.findings)
    counts = f"{result.files} files, {new} new, {len(result.findings) - new - lived_with} old"
    parts = [f"{result.status:<5}  {result.gate:<{width}}  {counts}, {result.seconds * 1000:.0f} ms"]
    parts += [f"fixed {len(result.fixed)}: {', '.join(result.fixed)}"] if result.fixed else []
    parts += ["cached"] if result.cached else []
    parts += [result.reason] if result.reason else []
    parts += ["optional"] if not result.required else []
    return flat("  ".join(parts))


def _patch(result: GateResult) -> list[str]:
    patch = [line for line in result.patch.splitlines() if not line.startswith(("diff --git ", "index "))]
    shown = patch[:PATCH_LINES]
    more = len(patch) - len(shown)
    rest = [f"[... {more} more lines; all of it: --format json ...]"] if more else []
    return ["", f"{result.gate} changed:", *(flat(line.expandtabs(4)) for line in shown), *rest] if shown else []


def _informing(results: Sequence[GateResult]) -> list[str]:
    mild = [
        (result.gate, finding)
        for result in results
        for finding in result.new_findings
        if finding not in result.blocking_findings
    ]
    mild.sort(key=lambda each: -each[1].severity.rank)
    text = [f"{gate}: {_finding(finding)}" for gate, finding in mild[:_INFORMING]]
    more = len(mild) - len(text)
    text += [f"and {more} more that inform: --format json lists them"] if more else []
    old = sum(not finding.new and not finding.accepted for result in results for finding in result.findings)
    text += [f"{old} that stood there before the change: --format json lists them"] if old else []
    return ["", *text] if text else []


def _finding(finding: Finding) -> str:
    mend = f" -> {finding.suggestion}" if finding.suggestion else ""
    seen = f" [also seen by {', '.join(finding.also)}]" if finding.also else ""
    return flat(f"{finding.place}: {finding.severity} {finding.rule}: {finding.message}{mend}{seen}")

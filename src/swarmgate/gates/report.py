"""A gate report as lines for people: one line a gate, then what was found. Pure text, no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.domain.finding import Finding, GateReport, GateResult

PATCH_LINES = 60
"""Of what was fixed, so many lines are shown; the report as JSON has more."""

_HUSHED = 3
"""Of findings that stood there before the change, so many are shown for each gate; the count of the others is told."""


def lines(report: GateReport, about: str = "") -> list[str]:
    """The whole report: gates in pipeline order, new findings before old ones, and the verdict last.

    Args:
        report: what the gates said.
        about: what was judged; told first where it is known.
    """
    width = max((len(result.gate) for result in report.results), default=0)
    text = [f"judged: {_flat(about)}", ""] if about else []
    text += [_gate(result, width) for result in report.results]
    for result in report.results:
        text += _patch(result)
    for result in report.results:
        text += _findings(result)
    text += ["", *(f"note: {_flat(note)}" for note in report.notes)] if report.notes else []
    reason = f": {report.reason}" if report.reason else ""
    return [*text, "", _flat(f"{report.verdict}{reason} ({report.seconds * 1000:.0f} ms, tree {report.tree[:12]})")]


def _gate(result: GateResult, width: int) -> str:
    new = len(result.new_findings)
    lived_with = sum(bool(finding.accepted) for finding in result.findings)
    counts = f"{result.files} files, {new} new, {len(result.findings) - new - lived_with} old"
    parts = [f"{result.status:<5}  {result.gate:<{width}}  {counts}, {result.seconds * 1000:.0f} ms"]
    parts += [f"fixed {len(result.fixed)}: {', '.join(result.fixed)}"] if result.fixed else []
    parts += ["cached"] if result.cached else []
    parts += [result.reason] if result.reason else []
    parts += ["optional"] if not result.required else []
    return _flat("  ".join(parts))


def _patch(result: GateResult) -> list[str]:
    patch = [line for line in result.patch.splitlines() if not line.startswith(("diff --git ", "index "))]
    shown = patch[:PATCH_LINES]
    more = len(patch) - len(shown)
    rest = [f"[... {more} more lines; all of it: --format json ...]"] if more else []
    return ["", f"{result.gate} changed:", *(_flat(line.expandtabs(4)) for line in shown), *rest] if shown else []


def _findings(result: GateResult) -> list[str]:
    new = list(result.new_findings)
    old = [finding for finding in result.findings if not finding.counts and not finding.accepted]
    shown = [*new, *(old if len(old) <= _HUSHED + 1 else old[:_HUSHED])]
    text = [f"{result.gate}: {_finding(finding)}" for finding in shown]
    more = len(new) + len(old) - len(shown)
    text += [f"{result.gate}: {more} more that stood there before the change"] if more else []
    return ["", *text] if text else []


def _finding(finding: Finding) -> str:
    age = "" if finding.new else " (before the change)"
    mend = f" -> {finding.suggestion}" if finding.suggestion else ""
    seen = f" [also seen by {', '.join(finding.also)}]" if finding.also else ""
    return _flat(f"{finding.place}: {finding.severity} {finding.rule}: {finding.message}{age}{mend}{seen}")


def _flat(text: str) -> str:
    # A file name may hold a line break or an escape sequence: neither may reach the terminal.
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)

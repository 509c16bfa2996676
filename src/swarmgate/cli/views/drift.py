"""`swarm drift`: shows where plans, briefs, answers and dependencies contradict recorded decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.automation.drift.report import DriftReport, Signal


def command(repo: Repo = None, json: Json = False) -> None:
    """Compare the decisions on record with what came after them. Calls no model and changes nothing.

    Shows contradictions, requirements that no task covers and decisions that nothing touches: at most 5, best first.
    Exit code 1 where something is contradicted or not covered; decisions that nothing touches are for information.

    Example: swarm drift
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.drift()
        terminal.result(report, _lines(report))
        raise typer.Exit(1 if report.drifted else 0)


def _lines(report: DriftReport) -> list[str]:
    lines: list[str] = []
    for number, signal in enumerate(report.signals, start=1):
        lines += [*_signal(number, signal), ""]
    if report.left_out:
        lines += [f"{report.left_out} more; these are the best.", ""]
    elif not report.drifted:
        lines.append("No drift found." if not report.signals else "No drift found; the above is for information.")
    return [*lines, *_compared(report), *report.notes]


def _signal(number: int, signal: Signal) -> list[str]:
    lines = [
        f"{number}. {signal.kind.value}: {signal.why}",
        f"   {signal.decision or 'requirement'}: {signal.text}",
        f"      at {signal.place}",
    ]
    if signal.other:
        kind = signal.other_kind.value if signal.other_kind else "other"
        lines += [f"   {kind}: {signal.other}", f"      at {signal.other_place}"]
    return [*lines, f"   -> {signal.advice}"]


def _compared(report: DriftReport) -> list[str]:
    n = report.compared
    counts = {
        "text of the plan": ("texts of the plan", n.plan),
        "brief": ("briefs", n.briefs),
        "answer": ("answers", n.answers),
        "dependency": ("dependencies", n.dependencies),
        "requirement": ("requirements", n.requirements),
    }
    totals = ", ".join(f"{count} {one if count == 1 else many}" for one, (many, count) in counts.items())
    closed = f" ({n.superseded} more are closed)" if n.superseded else ""
    return [f"Compared: {n.decisions} open decision{'' if n.decisions == 1 else 's'}{closed} with {totals}."]

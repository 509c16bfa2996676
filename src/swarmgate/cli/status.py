"""`swarm status`: where the work stands and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.engine.reports import StatusReport


def command(repo: Repo = None, json: Json = False) -> None:
    """Show where the work stands: phases, the running task, tokens and cost, and what you can do next.

    Example: swarm status
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).status()
        terminal.result(report, _lines(report))


def _lines(report: StatusReport) -> list[str]:
    lines = [report.title or report.goal or "No plan yet."]
    if report.branch:
        lines.append(f"  branch: {report.branch}")
    for phase in report.phases:
        counts = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in phase.tasks.items())
        lines.append(f"  Phase {phase.number}: {phase.name} - {phase.status} ({counts})")
    if report.task:
        lines.append(f"  now: task {report.task}, attempt {report.attempt}, {report.state}")
    if report.working:
        lines.append(f"  at work: {report.working}{', next step: ' + report.step if report.step else ''}")
    if report.waiting and not report.working:
        lines.append(f"  waiting for you: {report.waiting.replace('_', ' ')}")
    if report.paused:
        lines.append(f"  paused: {report.paused}")
    lines.append(f"  used: {_used(report)}")
    if report.actions:
        lines += ["Next:", *(f"  {action}" for action in report.actions)]
    return lines


def _used(report: StatusReport) -> str:
    usage = report.usage
    cost = "cost unknown (a price is missing)" if usage.usd is None else f"${usage.usd:.4f}"
    limits = [
        *([f"${report.budget_usd:.2f}"] if report.budget_usd is not None else []),
        *([f"{report.budget_tokens:,} tokens"] if report.budget_tokens is not None else []),
    ]
    return f"{usage.tokens:,} tokens, {cost}" + (f" of {' and '.join(limits)}" if limits else "")

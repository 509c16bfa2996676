"""`swarm preflight`: checks whether the phase can begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.preflight import PreflightCheck, PreflightReport


def command(
    phase: Annotated[
        int | None, typer.Option("--phase", metavar="N", help="The phase to look at; by default the one to begin next.")
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Check whether a phase can begin.

    It looks at tree, branch, plan, evidence, tools, models, budget, disk, lint, secrets, tests.

    No model is called. Exit code 1 when something stops the phase; what had nothing to look at is skipped, with the
    reason.

    Example: swarm preflight --phase 2
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.preflight(phase=phase)
        terminal.result(report, _lines(report))
        raise typer.Exit(0 if report.passed else 1)


def _lines(report: PreflightReport) -> list[str]:
    from swarmgate.terminal.columns import columns

    rows = [[_mark(check), check.name, f"{check.seconds:.2f} s", check.detail] for check in report.checks]
    lines = []
    for check, line in zip(report.checks, columns(rows), strict=True):
        lines.append(line)
        lines += [f"      {each}" for each in check.problem.splitlines()]
        lines += [f"      -> {check.hint}"] if check.hint else []
    lines += [f"note: {report.note}"] if report.note else []
    headline = f"Nothing stops phase {report.phase}" if report.note else f"Phase {report.phase} can begin"
    lines.append(f"{headline} ({report.seconds:.1f} s)." if report.passed else _stopped(report))
    return lines


def _mark(check: PreflightCheck) -> str:
    if check.status == "fail":
        return "FAIL" if check.blocks else "warn"
    return "ok" if check.status == "pass" else "skip"


def _stopped(report: PreflightReport) -> str:
    return f"Phase {report.phase} cannot begin: {', '.join(report.failed)} ({report.seconds:.1f} s)."

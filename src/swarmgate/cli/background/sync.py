"""`swarm sync`: records hand edits of the plan in the ledger now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.automation.plan_sync.report import SyncReport


def command(
    check: Annotated[
        bool, typer.Option("--check", help="Only look: exit code 1 where a file is not what the ledger says.")
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Take hand edits of plan.md and plan.json into the plan. Both files are brought up to date.

    Exit code 1 when an edit was refused: it is kept in the quarantine, and the message has its line.

    Example: swarm sync --check
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.sync(check=check)
        terminal.result(report, _lines(report, check=check))
        raise typer.Exit(1 if report.refused or (check and not report.in_step) else 0)


def _lines(report: SyncReport, *, check: bool) -> list[str]:
    if report.in_step:
        return ["plan.md and plan.json are what the ledger says."]
    lines = [f"{name} was edited; the edit waits: {report.working} takes it in." for name in report.waiting]
    lines += [f"somebody is writing {name}: save and close it, then run: swarm sync" for name in report.busy]
    taken, written = ("would be taken in", "would be written again") if check else ("was taken in", "was written again")
    lines += [f"the edit of {name} {taken}" for name in report.amended]
    lines += [f"{name} was missing or out of date and {written}" for name in report.restored]
    if report.interrupted:
        lines.append(f"the attempt at task {report.interrupted} ended: the definition of its task was changed")
    for refused in report.refused:
        lines.append(f"the edit of {refused.source} cannot stand:")
        lines += [f"  - {problem}" for problem in refused.problems]
        if refused.kept:
            lines.append(f"  it is kept in {refused.kept}; {refused.source} is as the ledger says again")
    return lines

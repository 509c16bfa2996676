"""`swarm verify`: checks that ledger, plan files, evidence and commits agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.events.event import LedgerAdopted, LedgerRestored
    from swarmgate.ledger.check import Check


def command(
    restore: Annotated[
        bool, typer.Option("--restore", help="First bring back what the ledger lost by a stash, checkout or reset.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="First go on with the ledger that is there, though other lines were on record."),
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Compare the ledger's chain with plan, evidence and git.

    Changes nothing without --restore or --adopt. Exit code 1 when something does not fit.

    Example: swarm verify
    """
    with boundary(json) as terminal:
        from dataclasses import asdict

        from swarmgate.engine.swarm import Swarm
        from swarmgate.errors import UsageError

        if restore and adopt:
            raise UsageError("The lost lines either come back or stay away.", hint="Give one of --restore and --adopt.")
        swarm = Swarm(repo)
        restored = swarm.restore() if restore else None
        adopted = swarm.adopt() if adopt else None
        checks = swarm.verify()
        good = all(check.passed for check in checks)
        result = {"passed": good, "checks": [asdict(check) for check in checks]}
        if restore or adopt:
            event = restored or adopted
            result["restored" if restore else "adopted"] = event.model_dump(mode="json") if event else None
        terminal.result(result, [*(_repaired(restored or adopted) if restore or adopt else []), *_lines(checks)])
        raise typer.Exit(0 if good else 1)


def _repaired(event: LedgerRestored | LedgerAdopted | None) -> list[str]:
    if event is None:
        return ["The ledger has lost nothing."]
    if event.type == "ledger_adopted":
        return [f"The work goes on with the ledger as it is. The {event.seq} lines on record besides: {event.kept}."]
    stored = f"; what stood there is kept in {event.kept}" if event.kept else ""
    return [f"The ledger ended at line {event.lost}, and was brought back up to line {event.seq}{stored}."]


def _lines(checks: Sequence[Check]) -> list[str]:
    lines = []
    for check in checks:
        lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.looked_at}")
        lines += [f"      {problem}" for problem in check.problems]
        lines += [f"      note: {warning}" for warning in check.warnings]
    return lines

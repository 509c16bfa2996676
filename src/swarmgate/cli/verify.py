"""`swarm verify`: does everything fit?"""

from __future__ import annotations

import typer

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Walk the ledger's chain and compare it with the plan files, the evidence and git. Changes nothing.

    Exit code 1 when something does not fit; the first line that does not is named.

    Example: swarm verify
    """
    with boundary(json) as terminal:
        from dataclasses import asdict

        from swarmgate.engine.swarm import Swarm

        checks = Swarm(repo).verify()
        lines = []
        for check in checks:
            lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.looked_at}")
            lines += [f"      {problem}" for problem in check.problems]
        good = all(check.passed for check in checks)
        terminal.result({"passed": good, "checks": [asdict(check) for check in checks]}, lines)
        raise typer.Exit(0 if good else 1)

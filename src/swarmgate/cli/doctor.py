"""`swarm doctor`: is everything there that the work needs?"""

from __future__ import annotations

import typer

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Check git, settings, keys, gates' tools, the test command and the ledger. Spends no tokens, changes nothing.

    Exit code 6 when something is missing.

    Example: swarm doctor
    """
    with boundary(json) as terminal:
        from dataclasses import asdict

        from swarmgate.engine.swarm import Swarm

        checks = Swarm(repo).doctor()
        lines = []
        for check in checks:
            lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.looked_at}")
            lines += [f"      {problem}" for problem in check.problems]
        good = all(check.passed for check in checks)
        terminal.result({"passed": good, "checks": [asdict(check) for check in checks]}, lines)
        raise typer.Exit(0 if good else 6)

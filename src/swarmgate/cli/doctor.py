"""`swarm doctor`: is everything there that the work needs, and what can the models do?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import Terminal, boundary

Models = Annotated[
    bool, typer.Option("--models", help="Ask each configured model what it can; costs a few hundred tokens a model.")
]


def command(repo: Repo = None, models: Models = False, json: Json = False) -> None:
    """Check git, settings, keys, gates' tools, the test command and the ledger. Spends no tokens, changes nothing.

    Exit code 6 when something is missing; with --models, 5 when a model cannot be asked.

    Example: swarm doctor
    """
    with boundary(json) as terminal:
        if models:
            _models(repo, terminal)
        from dataclasses import asdict

        from swarmgate.engine.swarm import Swarm

        checks = Swarm(repo).doctor()
        lines = []
        for check in checks:
            lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.looked_at}")
            lines += [f"      {problem}" for problem in check.problems]
            lines += [f"WARN  {check.name}: {warning}" for warning in check.warnings]
        good = all(check.passed for check in checks)
        terminal.result({"passed": good, "checks": [asdict(check) for check in checks]}, lines)
        raise typer.Exit(0 if good else 6)


def _models(repo: Path | None, terminal: Terminal) -> None:
    """The probe of every model, in place of the checks."""
    import asyncio

    from swarmgate.engine.swarm import Swarm

    terminal.note("asking each model what it can; this spends a few hundred tokens a model")
    report = asyncio.run(Swarm(repo).probe_models())
    terminal.result(report, report.lines())
    raise typer.Exit(report.exit_code)

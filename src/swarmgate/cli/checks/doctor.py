"""`swarm doctor`: checks settings, models, tools and environment, and repairs settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import Terminal, boundary

Models = Annotated[
    bool,
    typer.Option("--models", help="In place of the checks: ask each model what it can, for a few hundred tokens each."),
]
Fix = Annotated[
    bool, typer.Option("--fix", help="Show what can be mended in the settings, keep the old files, and mend it.")
]
Dry = Annotated[bool, typer.Option("--check", help="With --fix: show what would be mended, and change nothing.")]


def command(
    repo: Repo = None, models: Models = False, fix: Fix = False, check: Dry = False, json: Json = False
) -> None:
    """Check settings, models, tools, tests and the ledger. Spends no tokens.

    It changes nothing without --fix. Exit code 6 when something is missing; with --models, 5 when a model cannot be
    asked.

    Example: swarm doctor --fix
    """
    with boundary(json) as terminal:
        _require_fitting(models=models, fix=fix, check=check)
        if models:
            _models(repo, terminal)
        from swarmgate.engine.swarm import Swarm

        found = Swarm(repo).automation.doctor(fix=fix and not check, tell=lambda diff: _print_diff(terminal, diff))
        diff = found.diff.splitlines() if check else []
        terminal.result(found.as_json(), [*found.lines(), *diff, *([found.outcome(dry=check)] if fix else ())])
        raise typer.Exit(0 if found.passed else 6)


def _require_fitting(*, models: bool, fix: bool, check: bool) -> None:
    from swarmgate.errors import UsageError

    if check and not fix:
        raise UsageError("--check goes with --fix: without it nothing is changed anyway", hint="swarm doctor")
    if models and fix:
        raise UsageError("--models and --fix do not go together", hint="Leave one of them out.")


def _print_diff(terminal: Terminal, diff: str) -> None:
    """The diff, before anything is written; as JSON it is in the result."""
    if not terminal.as_json:
        terminal.result(None, diff.splitlines())


def _models(repo: Path | None, terminal: Terminal) -> None:
    """The probe of every model, in place of the checks."""
    import asyncio

    from swarmgate.engine.swarm import Swarm

    terminal.note("asking each model what it can; this spends a few hundred tokens a model")
    report = asyncio.run(Swarm(repo).probe_models())
    terminal.result(report, report.lines())
    raise typer.Exit(report.exit_code)

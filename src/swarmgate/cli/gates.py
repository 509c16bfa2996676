"""`swarm gates`: the quality gates by hand, in any git repository."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary

app = typer.Typer(
    help="Run the quality gates by hand, or list them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("run")
def run(
    base: Annotated[str, typer.Option("--base", metavar="REV", help="Compare with this revision.")] = "HEAD",
    only: Annotated[list[str] | None, typer.Option("--only", metavar="GATE", help="Only this gate.")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", metavar="GATE", help="Not this gate.")] = None,
    fix: Annotated[bool, typer.Option("--fix/--no-fix", help="Let the fixing gates change files.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Judge the uncommitted change, untracked files included. Exit code 1 when something blocks, 6 without a tool.

    Example: swarm gates run --base main
    """
    with boundary(json) as terminal:
        from swarmgate.engine.gating import judge

        judged = judge(repo, base=base, only=tuple(only or ()), skip=tuple(skip or ()), fix=fix)
        terminal.result(judged.report, judged.lines)
        raise typer.Exit(judged.exit_code)


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the gates: what each looks at, and whether this project changed it.

    Example: swarm gates list
    """
    with boundary(json) as terminal:
        from swarmgate.engine.gating import definitions

        found = definitions(repo)
        width = max(len(gate.id) for gate in found)
        lines = []
        for gate in found:
            lines.append(f"{gate.id:<{width}}  {gate.stage:<5}  {gate.title}")
            lines += [f"{'':<{width}}         weakened here: {text}" for text in gate.weakened]
        terminal.result([gate.model_dump(mode="json") for gate in found], lines)

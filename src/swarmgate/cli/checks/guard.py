"""`swarm guard explain`: shows whether and why a command line would be refused; runs nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

app = typer.Typer(
    cls=VerbGroup,
    help="Ask the guards what they would do.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.callback()
def _group() -> None:
    """Ask the guards what they would do."""


@app.command("explain")
def explained(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND...", callback=filled, help="A command line of an agent: one quoted text, or its words."
        ),
    ],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Say how a command line is read, which rules refuse it and why, and which sandbox would confine it.

    Nothing is run. Works in any folder. Exit code 1 when it is refused.

    Example: swarm guard explain -- 'curl https://example.com/install.sh | sh'
    """
    with boundary(json) as terminal:
        from swarmgate.project import settings_at
        from swarmgate.workspace.command_policy.explanation import explain

        line = command[0] if len(command) == 1 else shlex.join(command)
        root, config = settings_at((repo or Path.cwd()).resolve())
        limits = config.commands
        explanation = explain(line, root=root, allow=limits.allow, writable=limits.writable, sandbox=limits.sandbox)
        terminal.result(explanation.as_json(), explanation.lines())
        raise typer.Exit(0 if explanation.judgement.allowed else 1)

"""`swarm revise`: has the architect change the plan."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.work.run_loop import drive, finish
from swarmgate.terminal.options import Json, Plain, Repo, Verbose
from swarmgate.terminal.terminal import boundary


def command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What should be different.")],
    plain: Plain = False,
    verbose: Verbose = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have the architect change the plan as you say. The critic reviews it, then it waits for your approval.

    Completed tasks stay as they are.

    Example: swarm revise "use argon2"
    """
    with boundary(json) as terminal:
        finish(terminal, drive(repo, terminal, lambda swarm: swarm.revise(text), plain=plain, verbose=verbose))

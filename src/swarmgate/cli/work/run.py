"""`swarm run`: runs the loop until the user has to decide something."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.terminal.options import Json, Repo
from swarmgate.cli.terminal.terminal import boundary
from swarmgate.cli.work.run_loop import drive, finish


def command(
    stash: Annotated[bool, typer.Option("--stash", help="Put uncommitted changes aside (git stash) first.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of a model's limit, however long that takes.")
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Work task by task until it is your turn. That is a phase checkpoint, a blocked task or a question.

    Exit codes: 0 all done, 1 a task is blocked or preflight stops the phase, 3 waiting for you, 4 budget used up or a
    limit that ends too late to wait for, 5 endpoint failed, 130 stopped. Whatever ended it, the next `swarm run` goes
    on from there.

    Example: swarm run
    """
    with boundary(json) as terminal:
        finish(terminal, drive(repo, terminal, lambda swarm: swarm.run(stash=stash, wait=wait)))

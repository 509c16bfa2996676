"""`swarm run`: runs the loop until the user has to decide something."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.terminal.options import Json, Repo
from swarmgate.cli.terminal.terminal import boundary
from swarmgate.cli.work.run_loop import answered, drive, finish

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from swarmgate.engine.reports.outcome import RunOutcome
    from swarmgate.engine.swarm import Swarm


def command(
    stash: Annotated[bool, typer.Option("--stash", help="Put uncommitted changes aside (git stash) first.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of a model's limit, however long that takes.")
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Work task by task until it is your turn: a phase checkpoint, a blocked task, a question.

    What an agent asks ([ask]) is asked here on a terminal; elsewhere the run ends, and goes on after `swarm answer`.

    Exit codes: 0 all done, 1 a task is blocked or preflight stops the phase, 3 waiting for you, 4 budget used up or a
    limit that ends too late to wait for, 5 endpoint failed, 130 stopped. Whatever ended it, the next `swarm run` goes
    on from there.

    Example: swarm run
    """
    with boundary(json) as terminal:
        attended = sys.stdin.isatty() and not terminal.as_json

        def work(swarm: Swarm) -> Coroutine[Any, Any, RunOutcome]:
            return swarm.run(stash=stash, wait=wait, attended=attended)

        outcome = drive(repo, terminal, work)
        while attended and outcome.questions and answered(repo, terminal, outcome):
            outcome = drive(repo, terminal, work)
        finish(terminal, outcome)

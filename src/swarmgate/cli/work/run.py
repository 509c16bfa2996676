"""`swarm run`: runs the loop until the user has to decide something."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.cli.work.checkpoint import ASKED_ABOUT, asked_at, proceed
from swarmgate.cli.work.run_loop import answered, drive, finish
from swarmgate.domain.state.unattended import Until
from swarmgate.terminal.options import Json, Plain, Repo, Verbose
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.engine.reports.outcome import RunOutcome


def command(
    stash: Annotated[bool, typer.Option("--stash", help="Put uncommitted changes aside (git stash) first.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of a model's limit, however long that takes.")
    ] = False,
    until: Annotated[
        Until | None,
        typer.Option(
            help="Go on unattended: to the end of the phase, to where somebody has to decide, or over the plan too."
        ),
    ] = None,
    plain: Plain = False,
    verbose: Verbose = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Work task by task until it is your turn. That is a phase checkpoint, a blocked task or a question.

    Where a plan or a phase waits, you are asked at a terminal: approve, revise or stop; so you are where an agent asks
    ([ask]). With --until nobody is; what an agent asks is answered with `swarm answer`.

    Exit codes: 0 all done, 1 a task is blocked or preflight stops the phase, 3 waiting for you, 4 budget used up or a
    limit that ends too late to wait for, 5 endpoint failed, 130 stopped. Whatever ended it, the next `swarm run` goes
    on from there.

    Example: swarm run
    """
    with boundary(json) as terminal:
        shown = partial(drive, repo, terminal, plain=plain, verbose=verbose)
        attended = until is None and sys.stdin.isatty() and not terminal.as_json

        def run() -> RunOutcome:
            work = partial(shown, lambda swarm: swarm.run(stash=stash, wait=wait, until=until, attended=attended))
            outcome = work()
            while attended and outcome.questions and answered(repo, terminal, outcome):
                outcome = work()
            return outcome

        outcome, asked = run(), until is None and asked_at(terminal)
        if asked:
            outcome = proceed(repo, terminal, outcome, run=run, drive=shown)
        finish(terminal, outcome, seen=asked and outcome.waiting in ASKED_ABOUT)

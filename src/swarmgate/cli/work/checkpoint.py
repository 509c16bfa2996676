"""Asks at the terminal what comes next where a plan or a phase waits: approve it, have it revised, or stop here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from swarmgate.cli.work.run_loop import Drive, page
from swarmgate.domain.next_step import Waiting, waiting_for
from swarmgate.errors import IllegalMove
from swarmgate.terminal.terminal import Terminal

if TYPE_CHECKING:
    from swarmgate.engine.reports.outcome import RunOutcome


ASKED_ABOUT = (Waiting.PLAN_APPROVAL, Waiting.PHASE_APPROVAL)
"""What can be decided here."""


class Choice(StrEnum):
    """What the user wants done with what waits."""

    APPROVE = "approve"
    REVISE = "revise"
    STOP = "stop"


def asked_at(terminal: Terminal) -> bool:
    """Whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not terminal.as_json


def proceed(
    repo: Path | None, terminal: Terminal, outcome: RunOutcome, *, run: Callable[[], RunOutcome], drive: Drive
) -> RunOutcome:
    """Asks about each plan and phase that waits, and does as the user says, until something else is due, or he stops.

    Args:
        repo: the project.
        terminal: where it is shown and asked.
        outcome: what a run ended with.
        run: goes on with the work.
        drive: does other work with live progress.

    Raises:
        IllegalMove: somebody else decided meanwhile.
    """
    from swarmgate.engine.swarm import Swarm

    while outcome.waiting in ASKED_ABOUT:
        if outcome.waiting is Waiting.PLAN_APPROVAL:
            terminal.note(Swarm(repo).folder.plan_md.read_text("utf-8"))
        terminal.note("\n".join(page(outcome)))
        choice, text = _chosen()
        if choice is Choice.STOP:
            break
        state = Swarm(repo).state
        if (waiting_for(state), state.current_phase) != (outcome.waiting, outcome.phase):
            raise IllegalMove("Somebody else decided meanwhile.", hint="See what waits now with: swarm status")
        if choice is Choice.REVISE:
            outcome = drive(methodcaller("revise", text))
        else:
            terminal.note(f"Approved: {', '.join(Swarm(repo).approve())}.")
            outcome = run()
    return outcome


def _chosen() -> tuple[Choice, str]:
    """What the user types, and what should be different; the end of the input, or Ctrl-C, is a stop."""
    try:
        while True:
            typed = typer.prompt("Approve, revise or stop? [a/r/s]", prompt_suffix=" ", err=True).strip().lower()
            choice = next((each for each in Choice if typed and each.startswith(typed)), None)
            if choice is Choice.REVISE:
                return choice, typer.prompt("What should be different?", prompt_suffix=" ", err=True)
            if choice is not None:
                return choice, ""
    except typer.Abort:
        typer.echo("", err=True)
        return Choice.STOP, ""

"""`swarm demo`: runs the whole loop on a small real project in half a minute, or a debate in two seconds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from swarmgate.cli.work.run_loop import drive
from swarmgate.terminal.options import Json
from swarmgate.terminal.terminal import Terminal, boundary
from swarmgate.workspace.process import temporary


def command(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve the plan and every phase without asking.")] = False,
    debate: Annotated[
        bool, typer.Option("--debate", help="Show a debate instead: three voices on a design, with nothing to approve.")
    ] = False,
    live: Annotated[bool, typer.Option("--live", help="Use the models of your own settings, not the script.")] = False,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to make the project; else a temporary folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the whole loop on a small project with scripted models.

    The models are scripted (unless --live); git, gates, pytest and commits are real. The project stays for you to see.

    Example: swarm demo --yes
    """
    with boundary(json) as terminal:
        from swarmgate.engine.demo.setup import GOAL, stage

        place = (folder or temporary.persistent("swarm-demo")).resolve()
        terminal.note(f"The demo's project: {place}")
        if debate:
            _debate(terminal, place, live=live)
            return
        with stage(place, live=live):
            outcome = drive(place, terminal, lambda swarm: swarm.plan(GOAL))
            while _approved(terminal, place, outcome.waiting, yes=yes):
                outcome = drive(place, terminal, lambda swarm: swarm.run())
            _finish(terminal, place, outcome.waiting)


def _debate(terminal: Terminal, place: Path, *, live: bool) -> None:
    """Runs the demo's debate, and prints its result and how to read it again."""
    from swarmgate.cli.council.run_session import run_session
    from swarmgate.engine.demo import debate
    from swarmgate.engine.demo.setup import stage
    from swarmgate.engine.swarm import Swarm

    with stage(place, live=live, script=debate.SCRIPT):
        terminal.note(f"The question: {debate.QUESTION}\n")
        outcome = run_session(place, terminal, lambda swarm: debate.debate(swarm.council, live=live), resume_command="")
    ended, verdict = Swarm(place).council.debate_verdict(outcome.id)
    result = {**ended, "project": str(place)}
    show = f"swarm debate show {outcome.id}"
    lines = ["", *verdict, "", "Read who said what:"]
    terminal.result(result, [*lines, f"  cd {place}", f"  {show}", f"  {show} --html debate.html"])


def _approved(terminal: Terminal, place: Path, waiting: str, *, yes: bool) -> bool:
    """Asks for what is due and approves it; False when nothing is, or the user said no."""
    from swarmgate.domain.next_step import Waiting
    from swarmgate.engine.swarm import Swarm

    what = {Waiting.PLAN_APPROVAL: "the plan", Waiting.PHASE_APPROVAL: "this phase"}.get(Waiting(waiting))
    if what is None:
        return False
    plan = (place / ".swarm" / "plan.md").read_text(encoding="utf-8")
    terminal.note("\n" + (plan if what == "the plan" else _failures(plan)))
    if at := Swarm(place).status().checkpoint:
        terminal.note("\n".join((f"Phase {at.phase} complete.", *at.lines)))
    if not yes and not (sys.stdin.isatty() and typer.confirm(f"Approve {what}?", default=True, err=True)):
        return False
    Swarm(place).approve()
    terminal.note(f"Approved: {what}.\n")
    return True


def _failures(plan: str) -> str:
    """The tasks of plan.md with their attempts: the failure history."""
    lines = [line for line in plan.splitlines() if re.match(r"(# |## |- \[|  - Attempt )", line)]
    return "\n".join(["plan.md, failure history:", *lines]) + "\n"


def _finish(terminal: Terminal, place: Path, waiting: str) -> None:
    from swarmgate.domain.next_step import Waiting
    from swarmgate.engine.reports.outcome import EXIT_CODES
    from swarmgate.engine.swarm import Swarm

    state = Waiting(waiting)
    status = Swarm(place).status()
    headline = {
        Waiting.NOTHING: "Done: every phase is complete and approved.",
        Waiting.PLAN_APPROVAL: "The plan was not approved, and the script is over. To see it all: swarm demo --yes",
        Waiting.PHASE_APPROVAL: "The phase was not approved, and the script is over. To see it all: swarm demo --yes",
    }.get(state, f"The demo ended early: {state}.")
    commands = (f"cd {place}", "git log --stat", "swarm show 1.2", "swarm history", "swarm verify")
    terminal.result(
        {"project": str(place), "waiting": state, "status": status.model_dump(mode="json")},
        [headline, "Look around:", *(f"  {command}" for command in commands)],
    )
    raise typer.Exit(EXIT_CODES[state])

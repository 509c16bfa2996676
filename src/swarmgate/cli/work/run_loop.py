"""Runs the loop for a verb: signal handling, live progress, and the exit code."""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from swarmgate.errors import IllegalMove
from swarmgate.terminal.terminal import Terminal

if TYPE_CHECKING:
    from swarmgate.engine.reports.outcome import RunOutcome
    from swarmgate.engine.swarm import Swarm


class Drive(Protocol):
    """Runs work with live progress."""

    def __call__(self, work: Callable[[Swarm], Coroutine[Any, Any, RunOutcome]], /) -> RunOutcome:
        """What the work ended with."""


def drive(
    repo: Path | None,
    terminal: Terminal,
    work: Callable[[Swarm], Coroutine[Any, Any, RunOutcome]],
    *,
    plain: bool = False,
    verbose: bool = False,
) -> RunOutcome:
    """Runs `work` with live progress. Ctrl-C asks for a safe point; a second one ends it at once."""
    import asyncio
    import gc

    gc.enable()
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.progress import listener

    with listener(as_json=terminal.as_json, plain=plain, verbose=verbose) as listen:
        swarm = Swarm(repo, listener=listen)
        try:
            return asyncio.run(_with_signals(swarm, work(swarm)))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


async def _with_signals(swarm: Swarm, work: Coroutine[Any, Any, RunOutcome]) -> RunOutcome:
    import asyncio

    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    asked = False

    def on_interrupt() -> None:
        nonlocal asked
        if asked:
            task.cancel()
            return
        asked = True
        swarm.interrupt()
        swarm.notice("stopping at the next safe point; Ctrl-C again stops at once")

    loop.add_signal_handler(signal.SIGINT, on_interrupt)
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await task
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)


def answered(repo: Path | None, terminal: Terminal, outcome: RunOutcome) -> bool:
    """Asks the user what is open, here; False where they would not say, and nothing is on record.

    Somebody else may answer meanwhile, by `swarm answer`: theirs counts then.
    """
    from swarmgate.engine.swarm import Swarm

    swarm = Swarm(repo)
    for number, text in outcome.questions:
        options = outcome.asked.options if outcome.asked else ()
        for line in outcome.asked.lines if outcome.asked else (f"{number}. {text}",):
            terminal.note(line)
        choices = "".join(f"{each}, " for each in range(1, len(options) + 1))
        try:
            said = typer.prompt(
                f"Your answer ({choices}your own words, or - to leave it to the agent)", err=True
            ).strip()
        except typer.Abort:
            said = ""
        if not said:
            return False
        option = int(said) if said.isdecimal() and 0 < int(said) <= len(options) else 0
        declined = said == "-"
        try:
            swarm.answer(number, "" if option or declined else said, option=option, decline=declined)
        except IllegalMove as error:
            terminal.note(error.message)
        else:
            what = "left to the agent" if declined else options[option - 1] if option else said
            terminal.note(f"Question {number}: {what}")
    return True


def finish(terminal: Terminal, outcome: RunOutcome, *, seen: bool = False) -> None:
    """Prints where the work stands and leaves with its exit code; `seen`: the user saw the page of it already."""
    from swarmgate.engine.reports.outcome import EXIT_CODES

    lines = [] if seen else page(outcome)
    terminal.result(outcome, [*lines, "Next:", *(f"  {action}" for action in outcome.actions)])
    raise typer.Exit(EXIT_CODES[outcome.waiting])


def page(outcome: RunOutcome) -> list[str]:
    """Where the work stands."""
    from swarmgate.domain.next_step import Waiting

    headline = {
        Waiting.GOAL: "There is no plan yet.",
        Waiting.ANSWERS: "The architect needs answers:",
        Waiting.PLAN_APPROVAL: "The plan waits for your approval: .swarm/plan.md",
        Waiting.PLANNING_FAILED: f"Planning failed: {outcome.reason}",
        Waiting.BLOCKED_TASK: f"Task {outcome.task} is blocked: {outcome.reason}",
        Waiting.PHASE_REJECTED: f"Phase {outcome.phase} is rejected as a whole ({outcome.reason}):",
        Waiting.PHASE_APPROVAL: f"Phase {outcome.phase} is done and waits for your approval: "
        f".swarm/history/phase-{outcome.phase}.md",
        Waiting.NOTHING: "Every phase is complete and approved.",
    }[outcome.waiting]
    lines = [headline, *(f"  {number}. {text}" for number, text in outcome.questions)]
    lines = list(outcome.asked.lines) if outcome.asked else lines
    if outcome.objections:
        lines += [f"The {outcome.judge} still objects:", *(f"  - {text}" for text in outcome.objections)]
    lines += [f"  {text}" for text in outcome.verdicts]
    if outcome.unseen:
        lines.append(nobody_looked(outcome.unseen))
    if outcome.reason and outcome.waiting in (Waiting.PLAN_APPROVAL, Waiting.PHASE_APPROVAL):
        lines.append(f"It waits for you: {outcome.reason}.")
    return [*lines, "", *outcome.checkpoint.page] if outcome.checkpoint else lines


def nobody_looked(phases: Sequence[int]) -> str:
    """Says which phases were approved in the user's place, and where they can be read."""
    noun, pages = ("phases", "their pages") if len(phases) > 1 else ("phase", "its page")
    return f"Nobody looked at {noun} {', '.join(map(str, phases))}: .swarm/history/ has {pages}."

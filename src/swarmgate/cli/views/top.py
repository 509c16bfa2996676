"""`swarm top`: shows what a run in another process does right now."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from swarmgate.terminal.options import Json, Plain, Repo, Verbose
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.progress import Progress
    from swarmgate.engine.reports.status import StatusReport
    from swarmgate.engine.swarm import Swarm

_EVERY_S = 0.2
"""Seconds between two looks."""


def command(plain: Plain = False, verbose: Verbose = False, repo: Repo = None, json: Json = False) -> None:
    """Show what the run in another process does.

    Its task, its words, edits and commands, as `swarm run` shows them there; it ends with that run.

    It only looks: Ctrl-C ends it (exit code 130), and the run goes on. With --json it looks once.

    Example: swarm top
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        swarm = Swarm(repo)
        if json:
            terminal.result({"run": swarm.live()})
            return
        try:
            watched = _follow(swarm, plain=plain, verbose=verbose)
        except KeyboardInterrupt:
            terminal.note("The run goes on. End it with: swarm stop")
            raise typer.Exit(130) from None
        status = swarm.status()
        ended = [_ended(status)] if watched else ["Nothing is running."]
        terminal.result(None, [*ended, "Next:", *(f"  {action}" for action in status.actions)])


def _follow(swarm: Swarm, *, plain: bool, verbose: bool) -> bool:
    """Shows a run until its process ends; False: there is none."""
    from swarmgate.terminal.progress import listener

    live = swarm.live()
    if live is None:
        return False
    told, ended = 0, False
    shown: Progress | None = None
    with listener(as_json=False, plain=plain, verbose=verbose) as listen:
        while True:
            new = live.since(told)
            if new and live.step is not None and live.step not in new:
                listen(live.step)
            for each in (*new, *([live.now] if live.now and live.now != shown else ())):
                listen(each)
            if ended:
                return True
            told, shown = live.told, live.now
            time.sleep(_EVERY_S)
            ended = swarm.live() is None  # what was told between the last look and the end is shown, too
            live = swarm.live(live.pid) or live


def _ended(status: StatusReport) -> str:
    if status.paused:
        return f"The run ended, paused: {status.paused}"
    return f"The run ended: {(status.waiting or 'it was cut short').replace('_', ' ')}"

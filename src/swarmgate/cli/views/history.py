"""`swarm history`: lists the events of the project in order."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary


def command(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Only what concerns this task.")] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show what happened, in order: every recorded event in words.

    Example: swarm history 1.2
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        lines = Swarm(repo).history(task=task)
        rows = [f"{line.seq:6}  {line.time[:19].replace('T', ' ')}  {line.actor:10}  {line.text}" for line in lines]
        terminal.result([line.model_dump() for line in lines], rows or ["Nothing has happened yet."])

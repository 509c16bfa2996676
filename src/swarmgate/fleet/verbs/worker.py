"""`swarm worker`: works on the goals of a fleet, one after the other."""

from __future__ import annotations

import asyncio
import json as json_text
import sys
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary


def command(
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", metavar="NAME", callback=filled, help="A class of workers that this is of; repeatable."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Its name in leases and lists; by default machine and process.")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits, instead of waiting for more.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Work on the goals of a fleet, one after the other. It makes connections, and takes none.

    On SIGTERM or Ctrl-C it ends at the next safe point, or without one when [fleet] drain_s is nearly over: the step is
    then done again elsewhere. Keys stand in this machine's environment alone.

    Example: swarm worker --queue default --queue node
    """
    with boundary(json) as terminal:
        from swarmgate.fleet.facade import Fleet
        from swarmgate.fleet.work.worker import Worker

        fleet = Fleet(repo)
        settings = fleet.config.fleet

        def tell(word: str, goal: str, more: str) -> None:
            if terminal.as_json:
                line = json_text.dumps({"type": word.replace(" ", "_"), "goal": goal, "detail": more})
                sys.stderr.write(f"{line}\n")
            else:
                terminal.note(f"{word:<10} {goal:<24} {more}".rstrip())

        made = Worker(settings, fleet.sites, queue or [settings.queue], tell=tell, once=once)
        if name:
            made.name = name
        terminal.note(f"{made.name} works for {', '.join(made.queues)}: {', '.join(sorted(fleet.sites))}")
        asyncio.run(made.run())
        terminal.result({"worker": made.name, "ended": True}, [])

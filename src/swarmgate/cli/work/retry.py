"""`swarm retry`: tries a task again."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.terminal.options import Json, Repo, TaskId
from swarmgate.cli.terminal.terminal import boundary


def command(
    task: TaskId,
    note: Annotated[str, typer.Option("--note", help="A hint for the architect and the coder.")] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have a blocked or rejected task tried again, on the tree as it stands.

    Example: swarm retry 1.2 --note "the clock must be injected"
    """
    with boundary(json) as terminal:
        from swarmgate.cli.terminal.progress import listener
        from swarmgate.engine.swarm import Swarm

        with listener(as_json=json) as listen:
            Swarm(repo, listener=listen).retry(task, note=note)
        message = f"Task {task} will be tried again, from the delegation on."
        terminal.result({"retried": task}, [message, "Next: swarm run"])

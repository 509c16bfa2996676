"""`swarm retry`: tries a task again."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, TaskId
from swarmgate.terminal.terminal import boundary


def command(
    task: TaskId,
    note: Annotated[
        str,
        typer.Option("--note", metavar="TEXT", help="A hint for architect and coder, or for the reviewers of a phase."),
    ] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have a blocked or rejected task tried again. It is tried on the tree as it stands.

    With the number of a phase in place of a task: have a phase that was rejected as a whole judged anew.

    Example: swarm retry 1.2 --note "the clock must be injected"
    """
    with boundary(json) as terminal:
        from swarmgate.domain.state.phase_verdict import phase_number
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            Swarm(repo, listener=listen).retry(task, note=note)
        number = phase_number(task)
        message = f"Task {task} will be tried again, from the delegation on."
        message = f"Phase {number} will be judged anew." if number else message
        terminal.result({"retried": task}, [message, "Next: swarm run"])

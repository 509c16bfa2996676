"""`swarm skip`: skips a task."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, TaskId
from swarmgate.terminal.terminal import boundary


def command(
    task: TaskId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it goes on record.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Give a task up. Tasks that depend on it may go on; its uncommitted change is kept in .swarm/quarantine/.

    Example: swarm skip 1.2 --reason "done by hand elsewhere"
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            Swarm(repo, listener=listen).skip(task, reason=reason)
        terminal.result({"skipped": task}, [f"Task {task} is skipped.", "Next: swarm run"])

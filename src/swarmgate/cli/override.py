"""`swarm override`: overrule a rejection."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.options import Json, Repo, TaskId
from swarmgate.cli.terminal import boundary


def command(
    task: TaskId,
    reason: Annotated[str, typer.Option("--reason", help="Why; it goes on record and into context.md.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Overrule the last rejection of a task. The tree is judged again as it stands, by all other stages.

    Secrets, SAST and syntax can never be overridden.

    Example: swarm override 1.2 --reason "the finding is a false alarm: the value is public"
    """
    with boundary(json) as terminal:
        from swarmgate.cli.progress import listener
        from swarmgate.engine.swarm import Swarm

        with listener(as_json=json) as listen:
            stage = Swarm(repo, listener=listen).override(task, reason=reason)
        terminal.result(
            {"task": task, "overridden": stage}, [f"Task {task}: {stage} is overridden.", "Next: swarm run"]
        )

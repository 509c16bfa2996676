"""`swarm override`: overrules a rejection."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.terminal.options import Json, Repo, TaskId
from swarmgate.cli.terminal.terminal import boundary


def command(
    task: TaskId,
    reason: Annotated[str, typer.Option("--reason", help="Why; it goes on record and into context.md.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Overrule the last rejection of a task. The tree is judged again as it stands, by all other stages.

    Secrets, SAST and syntax can never be overridden; where a breaker stopped a role, there is nothing to overrule.

    Example: swarm override 1.2 --reason "the finding is a false alarm: the value is public"
    """
    with boundary(json) as terminal:
        from swarmgate.cli.terminal.progress import listener
        from swarmgate.domain.task.remedies import override_means
        from swarmgate.engine.swarm import Swarm

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            stage = swarm.override(task, reason=reason)
        means = override_means(swarm.state.task(task)).removeprefix("; ")
        lines = [f"Task {task}: {stage} is overridden.", *([f"  {means}"] if means else []), "Next: swarm run"]
        terminal.result({"task": task, "overridden": stage, "means": means}, lines)

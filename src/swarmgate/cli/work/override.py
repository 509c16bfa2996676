"""`swarm override`: overrules a rejection."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, TaskId
from swarmgate.terminal.terminal import boundary


def command(
    task: TaskId,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it goes on record and into context.md.")
    ],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Overrule the last rejection of a task. The tree is judged again as it stands, by all other stages.

    With the number of a phase in place of a task: go on with a phase that its reviewers rejected as a whole.

    Secrets, SAST and syntax can never be overridden; where a breaker stopped a role, there is nothing to overrule.

    Example: swarm override 1.2 --reason "the finding is a false alarm: the value is public"
    """
    with boundary(json) as terminal:
        from swarmgate.domain.state.phase_verdict import phase_number
        from swarmgate.domain.task.remedies import override_means
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            stage = swarm.override(task, reason=reason)
        number = phase_number(task)
        means = "" if number else override_means(swarm.state.task(task)).removeprefix("; ")
        what = f"Phase {number}" if number else f"Task {task}"
        lines = [f"{what}: {stage} is overridden.", *([f"  {means}"] if means else []), "Next: swarm run"]
        terminal.result({"task": task, "overridden": stage, "means": means}, lines)

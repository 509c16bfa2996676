"""`swarm abandon`: ends a goal before its work is done."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary


def command(
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it goes on record.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """End the goal before its work is done; its branch stays.

    What is committed stays on the branch, an unfinished change is kept in .swarm/quarantine/, and the record of it all
    in the ledger. Evidence and phase summaries go to .swarm/history/ when work on the next goal begins.

    Example: swarm abandon --reason "the customer wants something else"
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            goal, base = swarm.state.goal, swarm.state.base_branch
            event = swarm.abandon(reason=reason)
        back = [f"git switch {base}: leave the branch of the abandoned work"] if event.branch and base else []
        actions = [*back, 'swarm plan "GOAL": begin something new']
        lines = ["The goal is abandoned."]
        lines += [f"  branch {event.branch} stays as it is"] if event.branch else []
        lines += [f"  what was not committed is kept in {event.kept}"] if event.kept else []
        result = {"abandoned": goal, **event.model_dump(mode="json", exclude={"type"}), "actions": actions}
        terminal.result(result, [*lines, "Next:", *(f"  {action}" for action in actions)])

"""`swarm approve`: records the user's approval of a plan or a phase."""

from __future__ import annotations

from swarmgate.cli.terminal.options import Json, Repo
from swarmgate.cli.terminal.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Approve what waits for you: the plan, or a phase's checkpoint.

    Example: swarm approve && swarm run
    """
    with boundary(json) as terminal:
        from swarmgate.cli.terminal.progress import listener
        from swarmgate.engine.swarm import Swarm

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            approved = swarm.approve()
        after = swarm.status().actions
        lines = [f"Approved: {', '.join(approved)}.", "Next:", *(f"  {action}" for action in after)]
        terminal.result({"approved": approved, "actions": after}, lines)

"""`swarm approve`: records the user's approval of a plan or a phase."""

from __future__ import annotations

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Approve what waits for you: the plan, or a phase's checkpoint.

    Example: swarm approve && swarm run
    """
    with boundary(json) as terminal:
        from swarmgate.domain.next_step import Waiting
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            approved = swarm.approve()
        after = swarm.status()
        lines = [f"Approved: {', '.join(approved)}."]
        if after.waiting == Waiting.PHASE_REJECTED:
            lines.append(
                f"Phase {swarm.state.current_phase} is still rejected as a whole: the plan has no new task in it."
            )
        lines += ["Next:", *(f"  {action}" for action in after.actions)]
        terminal.result({"approved": approved, "actions": after.actions}, lines)

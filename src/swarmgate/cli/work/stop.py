"""`swarm stop`: stops a run in another process."""

from __future__ import annotations

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Ask the running `swarm run` to stop at its next safe point.

    Example: swarm stop
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        owner = Swarm(repo).stop()
        message = f"Asked {owner} to stop at the next safe point." if owner else "Nothing is running."
        terminal.result({"stopping": owner}, [message, "Go on later with: swarm run"])

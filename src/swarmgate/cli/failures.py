"""`swarm failures`: what keeps being rejected."""

from __future__ import annotations

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Show every rejection, grouped by who rejected and by what the messages have in common.

    Example: swarm failures
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        groups = Swarm(repo).failures()
        lines = []
        for group in groups:
            lines.append(f"{group.count} x ({group.stage}) in {', '.join(group.tasks)}")
            lines += [f"    {text}" for text in group.texts]
            lines += [f"  -> {group.advice}"] if group.advice else []
        terminal.result([group.model_dump(mode="json") for group in groups], lines or ["Nothing was rejected."])

"""Tells what the gates find in a file that was just edited; the warm process looks, which has them loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.agent_hooks.answer import Answer, findings
from swarmgate.agent_hooks.places import top_of
from swarmgate.agent_hooks.warm import client

if TYPE_CHECKING:
    from swarmgate.agent_hooks.request import HookRequest


def answer(request: HookRequest) -> Answer:
    """The answer to a tool that was used: it refuses nothing, the tool has run."""
    root = top_of(request.cwd)
    paths = [each for each in request.paths if each.startswith(f"{root}/")] if root else []
    if not paths:
        return Answer()
    text = client.findings(root, request.session, paths)
    return findings(request.event, text)

"""Remembers what a session starts from, has the warm process up, and tells the model what it is held to."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.agent_hooks.answer import Answer, context
from swarmgate.agent_hooks.places import socket_of, top_of
from swarmgate.agent_hooks.sessions import Sessions
from swarmgate.agent_hooks.warm import start
from swarmgate.errors import SwarmError
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.agent_hooks.request import HookRequest

_TOLD = (
    "swarmgate looks after this session. Its quality gates judge what you change: findings in a file come after you "
    "edit it, and the session ends only when what it changed passes. Mend what they find, do not work around it: no "
    "suppressions, no weakened tests. `swarm gates run --no-fix` judges at any time, `swarm gates explain RULE` says "
    "what a rule wants. Destructive commands are refused; `swarm guard explain -- COMMAND` says why."
)
"""What the model is told when a session starts."""


def answer(request: HookRequest) -> Answer:
    """The answer to a session that starts, or goes on."""
    root = top_of(request.cwd)
    if not root:
        return Answer()
    Sessions(Repository.discover(Path(root), lenient=True)).begin(request.session)
    place = socket_of(root)
    if not Path(place).exists():
        with contextlib.suppress(SwarmError):  # the hook after an edit tells that there is none
            start.started(root, place)
    return context(request.event or "SessionStart", _TOLD)

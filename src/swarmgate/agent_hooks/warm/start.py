"""Starts the warm process of a repository, as `swarm watch --daemon` starts its own: detached, with a log."""

from __future__ import annotations

import json
import os
from pathlib import Path

from swarmgate.agent_hooks import places
from swarmgate.errors import UsageError
from swarmgate.workspace.process import detached
from swarmgate.workspace.programs import trusted

START_S = 15.0
"""Seconds in which it has to listen, on the slowest machine."""


def started(root: str, place: str) -> None:
    """Starts it; it listens when this returns, and ends by itself when nobody asked for half an hour.

    Args:
        root: the repository.
        place: its socket.

    Raises:
        UsageError: it cannot be started; the message says where its log is.
    """
    log = Path(place).with_suffix(".log")
    try:
        places.make_state_folder()
        line = detached.start(
            trusted.module("swarmgate.agent_hooks.warm.process"),
            cwd=Path(root),
            environ=trusted.environment(Path(root), os.environ),
            given=json.dumps({"root": root, "place": place}).encode(),
            errors=log,
            within_s=START_S,
        )
    except OSError as error:
        raise UsageError(f"the warm process cannot be started: {error.strerror or error}") from error
    if not line:
        raise UsageError(f"the warm process did not come up; its log is {log}")

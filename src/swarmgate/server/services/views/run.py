"""Work that the server does or has been asked to do."""

from __future__ import annotations

from typing import Literal

from swarmgate.ledger.files.live_progress import LiveRun
from swarmgate.server.services.views.view import View

RunState = Literal["idle", "queued", "working", "paused", "stopping", "failed"]
"""`idle`: nothing is wanted of it; `queued`: it waits for its turn, or for the end of a limit."""


class WantedView(View):
    """What somebody asked the server to do with a goal."""

    verb: str
    by: str
    """Actor: `user:ada`."""
    asked: str
    """UTC, ISO 8601."""
    paused: bool = False


class RunView(View):
    """How the work on a goal goes."""

    goal: str
    repo: str
    state: RunState
    wanted: WantedView | None = None
    place: int = 0
    """Its place in the queue, from 1; 0: it is not in it."""
    working: str = ""
    """The process that is at work: one of the server's, or one at somebody's terminal."""
    paused_until: str = ""
    """When the limit ends that it waits for (UTC, ISO 8601); empty: it waits for none."""
    problem: str = ""
    """The error that the last run ended with; empty: it ended well, or there was none."""
    code: str = ""
    """The code of that error."""
    seq: int = 0
    live: LiveRun | None = None

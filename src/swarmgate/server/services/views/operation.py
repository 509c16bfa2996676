"""What takes a while, as it stands, and what came of it."""

from __future__ import annotations

from typing import Literal

from swarmgate.server.services.views.goal import PullRequestView
from swarmgate.server.services.views.record import DoctorView, GateRunView, PreflightView
from swarmgate.server.services.views.view import View

Kind = Literal["gates", "doctor", "preflight", "pull_request"]
"""What is done."""
Result = GateRunView | DoctorView | PreflightView | PullRequestView
"""What comes of it, by its kind."""


class OperationView(View):
    """Something that takes a while: what it is, how it stands, and its result where it is over."""

    id: str
    goal: str
    kind: Kind
    state: Literal["working", "complete", "failed"]
    by: str
    """Who began it, as an actor."""
    began: str
    """UTC, ISO 8601."""
    result: Result | None = None
    """None: it is not over, or failed."""
    problem: str = ""
    """Why it failed."""
    hint: str = ""
    """What to do about that."""
    code: str = ""
    """The code of that error."""

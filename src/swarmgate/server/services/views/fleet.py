"""A fleet as a server sees it: the goals that workers elsewhere work on, and those workers."""

from __future__ import annotations

from swarmgate.server.services.views.view import View


class FleetGoalView(View):
    """A goal of the fleet that is not done."""

    goal: str
    """`REPOSITORY:ID`, the repository as the fleet calls it; the id is that of the server where it shows the goal."""
    title: str
    standing: str
    """`due`, `limit`, `endpoint`: a worker goes on by itself; `waiting`, `budget`, `failed`: a person does."""
    tasks: str
    """Settled of all, such as `2/5`; empty: there is no plan yet."""
    job: str = ""
    """`queued` or `working`; empty: it is not in line."""
    at: str = ""
    """From when on it may be worked on (UTC, ISO 8601); empty: at once."""
    queue: str = ""
    priority: int = 0
    worker: str = ""
    until: str = ""
    """When the limit ends that it waits for."""
    why: str = ""
    """The error that its last job ended with."""


class FleetWorkerView(View):
    """A worker of the fleet."""

    name: str
    queues: tuple[str, ...]
    labels: tuple[str, ...]
    version: str
    host: str
    goal: str
    """What it works on; empty: nothing."""
    draining: bool
    silent_s: float
    """Seconds since its last sign of life."""


class FleetView(View):
    """How the fleet of a server stands."""

    configured: bool
    """Whether the server has one."""
    problem: str = ""
    """Why line, workers or remotes cannot be seen; empty: they can."""
    goals: tuple[FleetGoalView, ...] = ()
    workers: tuple[FleetWorkerView, ...] = ()

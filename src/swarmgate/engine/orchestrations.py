"""The facade of the council: orchestrations."""

from __future__ import annotations

from swarmgate.engine.in_project import InProject


class Orchestrations(InProject):
    """Orchestrations of one project; a part of `engine.council.Council`."""

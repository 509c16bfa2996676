"""The facade of the council: decisions by several."""

from __future__ import annotations

from swarmgate.engine.in_project import InProject


class Decisions(InProject):
    """Decisions of one project; a part of `engine.council.Council`."""

"""The facade of the council: discussions."""

from __future__ import annotations

from swarmgate.engine.in_project import InProject


class Discussions(InProject):
    """Discussions of one project; a part of `engine.council.Council`."""

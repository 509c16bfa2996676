"""The facade of the council: critiques."""

from __future__ import annotations

from swarmgate.engine.in_project import InProject


class Critiques(InProject):
    """Critiques of one project; a part of `engine.council.Council`."""

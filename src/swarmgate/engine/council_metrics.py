"""The facade of the council: the metrics of all patterns."""

from __future__ import annotations

from swarmgate.engine.in_project import InProject


class Metrics(InProject):
    """Metrics of one project; a part of `engine.council.Council`."""

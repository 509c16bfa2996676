"""Real programs between swarmgate and a model, or in place of both; on the small project of `tests.project`."""

from __future__ import annotations

from tests.project import _template, project

__all__ = ["_template", "project"]

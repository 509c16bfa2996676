"""The actions run on the small project of `tests.project`."""

from __future__ import annotations

from tests.project import _after, _template, once, project

__all__ = ["_after", "_template", "once", "project"]

"""Fixtures of `swarm eval alone`: the scripted project."""

from __future__ import annotations

from tests.project import _after, _template, once, project

__all__ = ["_after", "_template", "once", "project"]

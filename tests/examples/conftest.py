"""Fixtures of what the examples and the page of the council show."""

from __future__ import annotations

from tests.project import _template, project

__all__ = ["_template", "project"]

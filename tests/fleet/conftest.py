from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.remote import Remote, remote_of
from tests.project import Project, _after, _template, once, project

__all__ = ["_after", "_template", "once", "project"]


@pytest.fixture
def remote(project: Project, tmp_path: Path) -> Remote:
    """A bare remote of a project whose scripted model plans two tasks, and does everything well."""
    return remote_of(project, tmp_path)

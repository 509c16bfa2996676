"""The rooms above the ledger are tested end to end, on the small project of `tests.project`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project import _after, _template, once, project

from swarmgate.ledger.folder import SwarmFolder

__all__ = ["_after", "_template", "once", "project"]


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    """A `.swarm/` with nothing in it but its runtime folder."""
    made = SwarmFolder(tmp_path)
    made.runtime.mkdir(parents=True)
    return made

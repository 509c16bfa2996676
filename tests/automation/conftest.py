"""Fixtures of automation: the small project of `tests.project`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.domain.story import started
from tests.project import _after, _template, once, project

from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

__all__ = ["_after", "_template", "once", "project"]


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    """A `.swarm/` with nothing in it but its runtime folder."""
    made = SwarmFolder(tmp_path)
    made.runtime.mkdir(parents=True)
    return made


def record_start(folder: SwarmFolder) -> None:
    """A plan that is approved, in a new ledger."""
    with Ledger.write(folder) as ledger:
        for event in started():
            ledger.append([event], expect=ledger.state.seq)


@pytest.fixture
def planned_folder(repo: Path) -> SwarmFolder:
    """A `.swarm/` in a repository, with an approved plan on record."""
    made = SwarmFolder(repo)
    made.create()
    record_start(made)
    return made

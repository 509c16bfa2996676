"""A `.swarm/` folder of its own for every test, and a ledger in it that a test can open and fill in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swarmgate.domain.events.event import Event
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

Fill = Callable[..., SwarmFolder]


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    made = SwarmFolder(tmp_path)
    made.runtime.mkdir(parents=True)
    return made


@pytest.fixture
def fill(folder: SwarmFolder) -> Fill:
    """`fill(*events)`: append them, one by one, and give the lock back."""

    def append(*events: Event) -> SwarmFolder:
        with Ledger.write(folder) as ledger:
            for event in events:
                ledger.append([event], expect=ledger.state.seq)
        return folder

    return append


@pytest.fixture
def ledger(folder: SwarmFolder) -> Iterator[Ledger]:
    """The ledger of the folder, open for writing."""
    with contextlib.closing(Ledger.write(folder)) as opened:
        yield opened

from __future__ import annotations

import pytest
from tests.domain.story import started
from tests.ledger.conftest import Fill

from swarmgate.errors import LedgerCorrupt
from swarmgate.ledger import raw_entries
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger


def test_the_newest_are_the_end_of_all(fill: Fill) -> None:
    folder = fill(*started())
    everything = raw_entries.entries(folder)
    assert everything == [entry for entry, _ in Ledger.read(folder).entries()]
    for last in range(len(everything) + 2):
        assert raw_entries.entries(folder, last) == everything[max(0, len(everything) - last) :]


def test_a_line_that_does_not_fit_is_named_and_those_before_are_not_read(fill: Fill) -> None:
    folder = fill(*started())
    lines = folder.ledger.read_bytes().splitlines(keepends=True)
    folder.ledger.write_bytes(b"".join([b"no\n", *lines[1:]]))
    assert len(raw_entries.entries(folder, 1)) == 1
    with pytest.raises(LedgerCorrupt, match="line 1 "):
        raw_entries.entries(folder)
    folder.ledger.write_bytes(b"".join([*lines[:-2], lines[-1]]))
    with pytest.raises(LedgerCorrupt, match=f"line {len(lines) - 1} "):
        raw_entries.entries(folder, 1)


def test_a_ledger_that_is_gone_is_said_and_none_yet_is_none(fill: Fill, folder: SwarmFolder) -> None:
    assert raw_entries.entries(folder) == []
    fill(*started())
    folder.ledger.unlink()
    with pytest.raises(LedgerCorrupt, match="missing or empty"):
        raw_entries.entries(folder, 0)

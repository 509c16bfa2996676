from __future__ import annotations

import hashlib

import pytest

from swarmgate.errors import LedgerWriteFailed
from swarmgate.ledger.evidence.evidence import GATES, PATCH, EvidenceStore
from swarmgate.ledger.files.folder import SwarmFolder


def test_a_piece_proves_what_was_recorded_until_a_byte_changes(folder: SwarmFolder) -> None:
    store = EvidenceStore(folder)
    digest = store.write("1.2", 3, GATES, b'{"passed": true}')
    path = folder.evidence / "1.2/attempt-3/gates.json"
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert store.problem("1.2", 3, GATES, digest) == ""
    path.write_bytes(b'{"passed": null}')
    shown = ".swarm/evidence/1.2/attempt-3/gates.json"
    assert store.problem("1.2", 3, GATES, digest) == f"{shown} was changed after it was recorded"
    path.unlink()
    assert store.problem("1.2", 3, GATES, digest) == f"{shown} cannot be read: No such file or directory"


def test_a_disk_that_refuses_is_named(folder: SwarmFolder) -> None:
    folder.evidence.write_text("in the way")
    with pytest.raises(LedgerWriteFailed, match=r"change.patch could not be written"):
        EvidenceStore(folder).write("1.2", 1, PATCH, b"x")


def test_an_ended_goals_evidence_moves_into_the_history(folder: SwarmFolder) -> None:
    store = EvidenceStore(folder)
    store.archive(1)
    assert not folder.history.exists()
    store.write("1.1", 1, PATCH, b"x")
    folder.history.mkdir()
    (folder.history / "phase-1.md").write_text("# Phase 1")
    store.archive(1)
    assert (folder.history / "goal-1/evidence/1.1/attempt-1/change.patch").read_bytes() == b"x"
    assert (folder.history / "goal-1/phase-1.md").read_text() == "# Phase 1"
    assert not folder.evidence.exists()

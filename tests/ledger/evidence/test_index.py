"""What is found of evidence on the disk: there, missing, changed, archived, and behind a link."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from tests.domain.story import YES, passing, rejection, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.evidence.report import Kind, Piece, Standing, recorded
from swarmgate.ledger.evidence.archive import LARGEST
from swarmgate.ledger.evidence.evidence import MUTATION, PATCH, REVIEW, EvidenceStore
from swarmgate.ledger.evidence.index import EvidenceIndex, earlier_goals, goal_number
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger


@pytest.fixture
def done(folder: SwarmFolder, fill: Fill) -> SwarmFolder:
    """One rejected attempt, with a diff, gates without a hash, and a review."""
    fill(*started())
    store = EvidenceStore(folder)
    _, patch, gates, review, *_ = passing("1.1")
    assert isinstance(review, ev.ReviewGiven)
    fill(
        passing("1.1")[0],
        patch.model_copy(update={"evidence": store.write("1.1", 1, PATCH, b"diff")}),
        gates,
        review.model_copy(update={"evidence": store.write("1.1", 1, REVIEW, b"review"), "review": YES}),
        rejection("1.1", 1, "tests"),
    )
    return folder


def _pieces(folder: SwarmFolder) -> dict[Kind, Piece]:
    ledger = Ledger.read(folder)
    index = EvidenceIndex(folder, ledger.state, recorded(entry for entry, _ in ledger.entries()))
    return {piece.kind: piece for piece in index.pieces("1.1")[1]}


def _place(folder: SwarmFolder, name: str) -> Path:
    return EvidenceStore(folder).place("1.1", 1, name)


def test_what_is_as_it_was_recorded_is_present_and_what_never_came_about_is_not_due(done: SwarmFolder) -> None:
    found = _pieces(done)
    assert found[Kind.DIFF] == Piece(
        kind=Kind.DIFF, standing=Standing.PRESENT, path=".swarm/evidence/1.1/attempt-1/change.patch"
    )
    assert found[Kind.TESTS].standing is Standing.NOT_DUE
    assert list(found) == list(Kind)


def test_a_piece_without_a_hash_is_due_and_says_so_when_it_is_there(done: SwarmFolder) -> None:
    assert _pieces(done)[Kind.GATES].standing is Standing.MISSING
    EvidenceStore(done).write("1.1", 1, "gates.json", b"{}")
    EvidenceStore(done).write("1.1", 1, MUTATION, b"{}")
    found = _pieces(done)
    assert [(found[kind].standing, found[kind].recorded) for kind in (Kind.GATES, Kind.MUTATION)] == [
        (Standing.PRESENT, False),
        (Standing.PRESENT, False),
    ]


def test_a_changed_and_a_missing_piece_are_named_with_their_path(done: SwarmFolder) -> None:
    _place(done, PATCH).write_bytes(b"diff, better")
    _place(done, REVIEW).unlink()
    found = _pieces(done)
    assert (found[Kind.DIFF].standing, found[Kind.REVIEW].standing) == (Standing.CHANGED, Standing.MISSING)
    assert found[Kind.DIFF].problem == ".swarm/evidence/1.1/attempt-1/change.patch was changed after it was recorded"
    assert "review.json cannot be read: No such file" in found[Kind.REVIEW].problem


@pytest.mark.parametrize("level", ["file", "attempt", "task"])
def test_no_link_is_followed_even_to_the_same_bytes(done: SwarmFolder, tmp_path: Path, level: str) -> None:
    file = _place(done, PATCH)
    linked = {"file": file, "attempt": file.parent, "task": file.parent.parent}[level]
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == hashlib.sha256(b"diff").hexdigest()
    assert _pieces(done)[Kind.DIFF].standing is Standing.CHANGED
    assert "link" in EvidenceStore(done).problem("1.1", 1, PATCH, hashlib.sha256(b"diff").hexdigest())


def test_a_pipe_and_a_piece_beyond_reason_are_told_and_never_waited_for(done: SwarmFolder) -> None:
    _place(done, PATCH).unlink()
    os.mkfifo(_place(done, PATCH))
    with _place(done, REVIEW).open("wb") as file:
        file.truncate(LARGEST + 1)
    found = _pieces(done)
    assert [found[kind].standing for kind in (Kind.DIFF, Kind.REVIEW)] == [Standing.CHANGED] * 2
    assert found[Kind.DIFF].problem == ".swarm/evidence/1.1/attempt-1/change.patch is not a regular file"
    assert "longer than" in found[Kind.REVIEW].problem


def test_earlier_goals_are_named_in_order(folder: SwarmFolder) -> None:
    for name in ("goal-10", "goal-2", "goal-x", "goal-", "goal-99999999999"):
        (folder.history / name / "evidence").mkdir(parents=True)
    assert earlier_goals(folder) == (".swarm/history/goal-2/evidence", ".swarm/history/goal-10/evidence")
    assert goal_number("phase-1.md") == 0

"""A journal over files and over SQLite: the same laws, the same errors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.domain.base import Entry, Frozen
from swarmgate.errors import IllegalMove, LedgerCorrupt, StaleWriter
from swarmgate.journal.documents import JOURNAL, opened
from swarmgate.journal.journal import Journal

Kind = Literal["files", "sqlite"]


class Added(Frozen):
    type: Literal["added"] = "added"
    amount: int


def total(state: int, entries: Iterable[Entry[Any]]) -> int:
    for entry in entries:
        if entry.event.amount < 0:
            raise IllegalMove("nothing is taken away")
        state += entry.event.amount
    return state


def journal(swarm: Path, kind: Kind, record: str = "a") -> Journal[int]:
    return Journal(opened(swarm, kind).lines(record), {"added": Added}, total, 0)


@pytest.fixture(params=["files", "sqlite"])
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]  # as the parameters above


@settings(max_examples=20)
@given(batches=st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=5))
def test_what_is_appended_is_read_again_and_followed(
    batches: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    for kind in ("files", "sqlite"):
        swarm = tmp_path_factory.mktemp("p") / ".swarm"
        writer, follower, seen = journal(swarm, kind), journal(swarm, kind), []
        for batch in batches:
            writer.append([Added(amount=each) for each in batch], expect=writer.seq, durable=False)
            seen += [entry.event.amount for entry in follower.follow()]
        flat = [each for batch in batches for each in batch]
        again = journal(swarm, kind)
        assert seen == flat
        assert writer.state == follower.state == again.state == sum(flat)
        assert (writer.seq, writer.head) == (follower.seq, follower.head) == (again.seq, again.head)
        assert [entry.event.amount for entry, _ in again.entries()] == flat


def test_a_writer_that_was_overtaken_writes_nothing(tmp_path: Path, kind: Kind) -> None:
    first, second = journal(tmp_path / ".swarm", kind), journal(tmp_path / ".swarm", kind)
    first.append([Added(amount=1)], expect=0)
    with pytest.raises(StaleWriter):
        second.append([Added(amount=2)], expect=0)
    with pytest.raises(StaleWriter):
        first.append([Added(amount=2)], expect=0)
    assert journal(tmp_path / ".swarm", kind).state == 1


def test_what_the_fold_forbids_leaves_no_trace(tmp_path: Path, kind: Kind) -> None:
    there = journal(tmp_path / ".swarm", kind)
    with pytest.raises(IllegalMove):
        there.append([Added(amount=1), Added(amount=-1)], expect=0)
    assert (there.seq, there.state, journal(tmp_path / ".swarm", kind).seq) == (0, 0, 0)


def test_an_altered_line_is_named_with_its_file(tmp_path: Path) -> None:
    journal(tmp_path / ".swarm", "files").append([Added(amount=each) for each in (1, 2, 3)], expect=0)
    path = tmp_path / ".swarm/discussions/a" / JOURNAL
    path.write_bytes(path.read_bytes().replace(b'"amount":2', b'"amount":5'))
    with pytest.raises(LedgerCorrupt, match=r"\.swarm/discussions/a/journal\.jsonl line 2 does not match"):
        journal(tmp_path / ".swarm", "files")


def test_a_line_that_the_fold_forbids_is_named(tmp_path: Path) -> None:
    lines = opened(tmp_path / ".swarm", "files").lines("a")
    Journal(lines, {"added": Added}, lambda state, _: state, 0).append([Added(amount=-1)], expect=0)
    with pytest.raises(LedgerCorrupt, match="line 1 records what the rules forbid: nothing is taken away"):
        journal(tmp_path / ".swarm", "files")


def test_a_follower_notices_another_file_in_the_place_of_its_own(tmp_path: Path, kind: Kind) -> None:
    follower = journal(tmp_path / ".swarm", kind)
    journal(tmp_path / ".swarm", kind).append([Added(amount=1)], expect=0)
    assert [entry.event.amount for entry in follower.follow()] == [1]
    place = tmp_path / ".swarm" / ("discussions.sqlite3" if kind == "sqlite" else f"discussions/a/{JOURNAL}")
    place.unlink()
    journal(tmp_path / ".swarm", kind).append([Added(amount=2)], expect=0)
    with pytest.raises(LedgerCorrupt):
        follower.follow()

"""Whoever alters a line of a council's record is found out, hashes or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from tests.domain.story import started
from tests.server.redis_server import RedisServer, redis_program, redis_server

from swarmgate.domain.base import Entry, Frozen
from swarmgate.journal.chain import encode
from swarmgate.journal.journal import Journal
from swarmgate.journal.store import opened
from swarmgate.ledger.councils.record_heads import records
from swarmgate.ledger.councils.sessions import Session, settle
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

__all__ = ["redis_program", "redis_server"]


class Said(Frozen):
    type: str
    pattern: str = "toy"
    text: str = ""


def none(state: None, _entries: Iterable[Entry[Any]]) -> None:
    return state


def keep(folder: SwarmFolder, record: str, *types: str, kind: str = "files", text: str = "") -> None:
    lines = opened(folder.path, kind).lines(record)
    journal = Journal(lines, dict.fromkeys(types, Said), none, None)
    journal.append([Said(type=each, text=text) for each in types], expect=0)


def settled(folder: SwarmFolder, record: str) -> None:
    with Session(folder, f"toy-{record}").held():
        pass
    with Ledger.write(folder) as ledger:
        if not ledger.state.seq:
            for event in started():
                ledger.append([event], expect=ledger.state.seq)
        settle(ledger)


def problems(folder: SwarmFolder) -> tuple[str, ...]:
    return records(folder, (entry for entry, _ in Ledger.read(folder).entries())).problems


@pytest.mark.parametrize("kind", ["files", "sqlite"])
def test_a_record_that_is_over_and_its_parts_are_sealed_once(folder: SwarmFolder, kind: str) -> None:
    for name in ("a", "a.part"):
        keep(folder, name, "begun", "completed", kind=kind)
    keep(folder, "a.open", "begun", "stopped", kind=kind)
    keep(folder, "ab", "begun", "completed", kind=kind)
    settled(folder, "a")
    settled(folder, "a")
    events = [entry.event for entry, _ in Ledger.read(folder).entries()]
    assert [each.record for each in events if each.type == "record_sealed"] == ["a", "a.part"]
    assert problems(folder) == ()


def test_a_record_that_was_written_anew_with_its_hashes_is_found_out(folder: SwarmFolder) -> None:
    keep(folder, "a", "begun", "completed")
    settled(folder, "a")
    (folder.discussions / "a/journal.jsonl").unlink()
    keep(folder, "a", "begun", "completed", text="another")
    (problem,) = problems(folder)
    assert problem.startswith(".swarm/discussions/a/journal.jsonl does not end as the ledger has it")


def test_an_altered_line_of_a_record_that_is_open_is_found_out(folder: SwarmFolder) -> None:
    keep(folder, "a", "begun", "stopped", text="one")
    path = folder.discussions / "a/journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"one"', b'"two"', 1))
    assert problems(folder) == (".swarm/discussions/a/journal.jsonl line 1 does not match its own hash.",)


def test_a_record_that_is_gone_is_told_and_no_problem(folder: SwarmFolder) -> None:
    keep(folder, "a", "begun", "completed")
    settled(folder, "a")
    (folder.discussions / "a/journal.jsonl").unlink()
    check = records(folder, (entry for entry, _ in Ledger.read(folder).entries()))
    assert (check.passed, check.warnings) == (True, ("The record a is not there any more.",))


def test_records_in_a_redis_are_sealed_and_one_that_is_away_is_told(
    folder: SwarmFolder, redis_server: RedisServer
) -> None:
    keep(folder, "a", "begun", "completed", kind=redis_server.address)
    settled(folder, "a")
    assert problems(folder) == ()
    redis_server.kill()
    (problem,) = problems(folder)
    assert "redis.sock cannot be used" in problem
    settled(folder, "a")


def test_an_entry_says_the_same_in_every_journal() -> None:
    entry = Entry[Any](seq=1, time="t", actor="a", event=Said(type="begun"))
    assert encode(entry, "0" * 64)[0].startswith(b'{"seq":1,"time":"t","actor":"a","event":{"type":"begun"')

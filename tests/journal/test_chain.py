from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import blocked, entries, started

from swarmgate.domain import base
from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import EVENTS, Entry
from swarmgate.errors import LedgerCorrupt
from swarmgate.journal.chain import GENESIS, encode
from swarmgate.journal.journal import entries_in


def walk(data: bytes) -> Iterator[tuple[base.Entry[Any], str]]:
    return entries_in(data, EVENTS, name="ledger.jsonl")


def _written() -> list[bytes]:
    lines, head = [], GENESIS
    for entry in entries([*started(), *blocked()]):
        line, head = encode(entry, head)
        lines.append(line)
    return lines


LINES = _written()
DATA = b"".join(LINES)


def _broken_at(data: bytes) -> int:
    with pytest.raises(LedgerCorrupt) as caught:
        list(walk(data))
    assert caught.value.exit_code == 1
    assert f"line {caught.value.line} " in caught.value.message
    assert caught.value.hint
    return caught.value.line


def test_a_ledger_is_read_as_it_was_written() -> None:
    assert [entry for entry, _ in walk(DATA)] == list(entries([*started(), *blocked()]))


def test_any_program_can_check_the_chain_without_knowing_the_events() -> None:
    prev = GENESIS
    for number, line in enumerate(LINES, start=1):
        record = json.loads(line)
        body = line[: line.rindex(b',"hash":"')]
        assert list(record) == ["seq", "time", "actor", "event", "prev", "hash"]
        assert (record["seq"], record["prev"]) == (number, prev)
        assert hashlib.sha256(body).hexdigest() == record["hash"]
        prev = record["hash"]


@settings(deadline=None, max_examples=400)
@given(st.integers(0, len(DATA) - 2), st.integers(1, 255))
def test_one_altered_byte_anywhere_is_found_and_its_line_is_named(place: int, mask: int) -> None:
    data = bytearray(DATA)
    data[place] ^= mask
    assert _broken_at(bytes(data)) == DATA[:place].count(b"\n") + 1


@pytest.mark.parametrize("number", range(len(LINES)))
def test_every_byte_of_a_lines_frame_counts(number: int) -> None:
    start = sum(len(line) for line in LINES[:number])
    for offset in range(-150, -1):
        data = bytearray(DATA)
        data[start + len(LINES[number]) + offset] ^= 1
        assert _broken_at(bytes(data)) == number + 1


@pytest.mark.parametrize("number", range(len(LINES) - 1))
def test_a_removed_a_doubled_and_a_swapped_line_are_found(number: int) -> None:
    removed, doubled, swapped = LINES[:], LINES[:], LINES[:]
    del removed[number]
    doubled.insert(number, LINES[number])
    swapped[number : number + 2] = reversed(LINES[number : number + 2])
    assert _broken_at(b"".join(removed)) == number + 1
    assert _broken_at(b"".join(doubled)) == number + 2
    assert _broken_at(b"".join(swapped)) == number + 1


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"null\n", b"\xff\xfe\n", b'{"seq":1}\n'])
def test_a_line_that_is_none_is_found(line: bytes) -> None:
    assert _broken_at(LINES[0] + line) == 2


def test_a_forged_line_with_a_right_hash_does_not_follow_the_line_before() -> None:
    (entry,) = entries([ev.PlanApproved()], 1)
    forged, _ = encode(entry, GENESIS)
    assert _broken_at(LINES[0] + forged) == 2


def test_a_line_that_lies_about_its_number_is_found() -> None:
    (entry,) = entries([ev.GoalSet(goal="x")], 4)
    assert _broken_at(encode(entry, GENESIS)[0]) == 1


def test_an_event_of_a_newer_version_is_refused_with_the_advice_to_upgrade() -> None:
    body = b'{"seq":1,"time":"t","actor":"a","event":{"type":"task_teleported"},"prev":"' + GENESIS.encode() + b'"'
    line = body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'
    with pytest.raises(LedgerCorrupt, match="does not know") as caught:
        list(walk(line))
    assert "a newer one" in caught.value.hint


@pytest.mark.parametrize("place", [b'"time":"t","actor":"a"', b'"seq":"1","time":"t","actor":"a"', b'"seq":1,"time":2'])
def test_a_line_without_its_place_is_refused(place: bytes) -> None:
    body = b"{" + place + b',"event":{"type":"plan_approved"},"prev":"' + GENESIS.encode() + b'"'
    assert _broken_at(body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n') == 1


@given(st.text(st.characters(codec=None)))
def test_whatever_a_model_says_fits_on_a_line(text: str) -> None:
    delegated = ev.TaskDelegated(task="1.1", attempt=1, tree="t", instructions=text)
    line, _ = encode(Entry(seq=1, time="t", actor="a", event=delegated), GENESIS)
    ((entry, _),) = walk(line)
    assert entry.event == delegated
    assert line.count(b"\n") == 1

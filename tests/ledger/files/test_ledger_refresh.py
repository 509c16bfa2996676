"""A ledger that lives long: it reads on, writes now and then, and shares its file with other processes and threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading

import pytest
from tests.domain.story import delegated, passing, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove, LedgerCorrupt, LedgerError, LedgerLocked
from swarmgate.journal import lock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

USED = ev.UsageRecorded(role="coder", usage=Usage(calls=1))

OTHER = """
import sys
from pathlib import Path
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
with Ledger.write(SwarmFolder(Path(sys.argv[1]))) as ledger:
    for _ in range(3):
        ledger.append([UsageRecorded(role="other", usage=Usage(calls=1))], expect=ledger.state.seq)
"""


def _other(folder: SwarmFolder) -> None:
    """Another process appends three lines."""
    subprocess.run([sys.executable, "-c", OTHER, folder.root], check=True)


@pytest.mark.slow
def test_a_reader_reads_on_what_another_process_recorded(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    reader = Ledger.read(folder)
    assert reader.refresh() == ()
    _other(folder)
    entries = reader.refresh()
    assert [(entry.seq, entry.event.type) for entry in entries] == [(n, "usage_recorded") for n in (7, 8, 9)]
    fresh = Ledger.read(folder)
    assert (reader.state, reader.head) == (fresh.state, fresh.head)
    assert reader.refresh() == ()


def test_a_reader_of_no_ledger_finds_the_first_lines(folder: SwarmFolder, fill: Fill) -> None:
    reader = Ledger.read(folder)
    assert reader.refresh() == ()
    fill(*started())
    assert len(reader.refresh()) == 6
    assert reader.state == Ledger.read(folder).state


def test_an_unfinished_line_waits_until_it_is_whole(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    reader = Ledger.read(folder)
    fill(USED, USED)
    whole = folder.ledger.read_bytes()
    first = whole.rstrip(b"\n").rindex(b"\n") + 1
    folder.ledger.write_bytes(whole[: first + 20])
    assert [entry.seq for entry in reader.refresh()] == [7]
    assert reader.torn == whole[first : first + 20]
    folder.ledger.write_bytes(whole)
    assert [entry.seq for entry in reader.refresh()] == [8]
    assert reader.torn == b""


@pytest.mark.slow
def test_writing_reads_on_repairs_and_gives_the_lock_back(
    folder: SwarmFolder, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_BRIEF_S", 0.1)
    fill(*started())
    ledger = Ledger.read(folder)
    _other(folder)
    with folder.ledger.open("ab") as file:
        file.write(b'{"seq":')
    with ledger.writing() as same:
        assert same is ledger
        assert ledger.state.seq == 10
        assert (folder.root / ledger.repaired).read_bytes() == b'{"seq":'
        assert ledger.last(1)[0].type == "ledger_repaired"
        ledger.append([delegated("1.1")], expect=10)
        with pytest.raises(LedgerLocked):
            Ledger.write(folder)
    with pytest.raises(LedgerError, match="for reading only"):
        ledger.append([USED], expect=11)
    _other(folder)
    with ledger.writing():
        assert (ledger.state.seq, ledger.repaired) == (14, "")
    assert Ledger.read(folder).state == ledger.state


def test_writing_within_writing_keeps_the_lock_and_a_writer_keeps_its_own(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as writer:
        with writer.writing(), writer.writing():
            writer.append([USED], expect=0)
        writer.append([USED], expect=1)
    assert Ledger.read(folder).state.seq == 2


def test_writing_is_refused_while_another_process_writes_and_works_afterwards(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    ledger = Ledger.read(folder)
    with Ledger.write(folder) as other:
        with pytest.raises(LedgerLocked), ledger.writing():
            pass
        other.append([USED], expect=6)
    with ledger.writing():
        assert ledger.state.seq == 7


@pytest.mark.parametrize("damage", ["shrunk", "gone", "rewritten", "another", "altered in place"])
def test_a_file_that_does_not_hold_what_was_read_is_corrupt_and_nothing_moves(
    folder: SwarmFolder, fill: Fill, damage: str
) -> None:
    fill(*started())
    reader = Ledger.read(folder)
    before = reader.state
    lines = folder.ledger.read_bytes().splitlines(keepends=True)
    if damage == "shrunk":
        os.truncate(folder.ledger, len(b"".join(lines[:-1])))
    elif damage == "gone":
        folder.ledger.unlink()
    elif damage == "rewritten":
        folder.ledger.unlink()
        folder.plan_md.unlink()
        shutil.rmtree(folder.evidence, ignore_errors=True)
        fill(*[USED] * 40)
    elif damage == "another":
        folder.ledger.rename(folder.ledger.with_suffix(".old"))
        folder.ledger.write_bytes(b"".join([lines[0].replace(b"Add", b"Bad"), *lines[1:]]))
    else:
        with folder.ledger.open("r+b") as file:
            file.seek(-10, os.SEEK_END)
            file.write(b"0000")
    for _ in range(2):
        with pytest.raises(LedgerCorrupt):
            reader.refresh()
        assert reader.state is before


def test_a_copy_in_the_place_of_the_file_is_as_good(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    reader = Ledger.read(folder)
    data = folder.ledger.read_bytes()
    folder.ledger.rename(folder.ledger.with_suffix(".old"))
    folder.ledger.write_bytes(data)
    fill(USED)
    assert [entry.seq for entry in reader.refresh()] == [7]


def test_a_line_that_does_not_follow_is_named_and_the_reader_stays_where_it_was(
    folder: SwarmFolder, fill: Fill
) -> None:
    fill(*started())
    reader = Ledger.read(folder)
    fill(USED)
    data = folder.ledger.read_bytes()
    folder.ledger.write_bytes(data.replace(b'"seq":7', b'"seq":8'))
    with pytest.raises(LedgerCorrupt, match="line 7"):
        reader.refresh()
    folder.ledger.write_bytes(data)
    assert [entry.seq for entry in reader.refresh()] == [7]


def test_two_threads_read_every_entry_once(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    seen: list[int] = []
    reader, stop = Ledger.read(folder), threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.extend(entry.seq for entry in reader.refresh())

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    fill(*[USED] * 50)
    stop.set()
    for thread in threads:
        thread.join()
    seen.extend(entry.seq for entry in reader.refresh())
    assert sorted(seen) == list(range(7, 57))
    assert reader.state == Ledger.read(folder).state


def test_two_threads_that_share_a_ledger_write_in_turn(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    ledger = Ledger.read(folder)
    failed: list[Exception] = []

    def write() -> None:
        try:
            for _ in range(10):
                with ledger.writing():
                    ledger.append([USED], expect=ledger.state.seq)
        except Exception as error:  # noqa: BLE001 - a thread's own errors are lost otherwise
            failed.append(error)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert Ledger.read(folder).state.seq == 36


def test_an_earlier_state_is_the_fold_up_to_there(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(), *passing("1.1"))
    ledger = Ledger.read(folder)
    fill(*passing("1.2"))
    ledger.refresh()
    for seq in (0, 3, 6, 13, 20, 3):
        assert ledger.state_at(seq).seq == seq
    fresh = Ledger.read(folder)
    assert fresh.state_at(13) == ledger.state_at(13)
    assert fresh.state_at(13).task("1.1").commit == "c0ffee"


def test_what_the_laws_forbid_leaves_a_ledger_that_goes_on(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    ledger = Ledger.read(folder)
    with pytest.raises(IllegalMove), ledger.writing():
        ledger.append([ev.PhaseApproved(phase=1)], expect=6)
    with ledger.writing():
        ledger.append([USED], expect=6)

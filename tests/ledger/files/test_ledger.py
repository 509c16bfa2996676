from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.domain.story import delegated, entries, passing, planned, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import State
from swarmgate.errors import (
    IllegalMove,
    LedgerCorrupt,
    LedgerError,
    LedgerWriteFailed,
    StaleWriter,
)
from swarmgate.journal.chain import encode
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

GOAL = ev.GoalSet(goal="x")


def _everything(folder: SwarmFolder) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.path.rglob("*"))
    }


def _script(source: str, folder: SwarmFolder) -> str:
    done = subprocess.run([sys.executable, "-c", source, folder.root], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_was_appended_is_what_a_reader_finds(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as writer:
        writer.append([*started(), *passing("1.1")], expect=0)
    reader = Ledger.read(folder)
    assert [entry.event for entry, _ in reader.entries()] == [*started(), *passing("1.1")]
    assert reader.state.seq == 13
    assert (reader.state, reader.head) == (writer.state, writer.head)


@pytest.mark.parametrize("emptied", [True, False])
@pytest.mark.parametrize("trace", ["plan.md", "evidence"])
def test_a_ledger_that_is_gone_beside_its_work_is_no_new_ledger(
    folder: SwarmFolder, trace: str, *, emptied: bool
) -> None:
    place = folder.path / trace
    place.mkdir() if trace == "evidence" else place.write_text("# Plan\n")
    if emptied:
        folder.ledger.touch()
    for opened in (Ledger.read, Ledger.write):
        with pytest.raises(LedgerCorrupt, match=f"missing or empty, .* there is {trace}") as caught:
            opened(folder)
        assert "backup" in caught.value.hint
    assert folder.ledger.exists() is emptied
    place.rmdir() if trace == "evidence" else place.unlink()
    assert Ledger.read(folder).state == State()


def test_events_of_one_append_are_recorded_together_in_order_by_their_actor(ledger: Ledger) -> None:
    state = ledger.append(planned(), expect=0, actor="user")
    assert state.seq == 3
    assert [(entry.seq, entry.actor) for entry, _ in ledger.entries()] == [(1, "user"), (2, "user"), (3, "user")]
    assert ledger.append([], expect=99) is ledger.state


def test_times_are_utc_to_the_millisecond(folder: SwarmFolder) -> None:
    noon = datetime(2026, 11, 21, 13, 0, 0, 123_456, tzinfo=timezone(timedelta(hours=2)))
    with Ledger.write(folder, clock=lambda: noon) as ledger:
        assert ledger.append([GOAL], expect=0).time == "2026-11-21T11:00:00.123Z"
    assert noon.astimezone(UTC).hour == 11


def test_an_illegal_event_leaves_the_file_and_the_views_byte_identical(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    before = _everything(folder)
    with Ledger.write(folder) as ledger:
        for events in ([ev.PlanApproved()], [delegated("1.1"), ev.PlanApproved()], passing("1.1")[1:]):
            with pytest.raises(IllegalMove):
                ledger.append(events, expect=6)
        assert ledger.state.seq == 6
    after = _everything(folder)
    before.pop(str(folder.lock))
    after.pop(str(folder.lock))
    assert after == before


# --- stale writers ---


@pytest.mark.parametrize("expect", [0, 5, 7])
def test_a_writer_that_decided_on_another_position_is_refused(fill: Fill, expect: int) -> None:
    with Ledger.write(fill(*started())) as ledger, pytest.raises(StaleWriter, match="The ledger is at 6") as caught:
        ledger.append([delegated("1.1")], expect=expect)
    assert caught.value.hint


def test_a_file_that_grew_or_shrank_behind_the_writers_back_is_refused(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    with Ledger.write(folder) as ledger:
        data = folder.ledger.read_bytes()
        (entry,) = entries([delegated("1.1")], 6)
        for changed in (data + encode(entry, ledger.head)[0], data[:-5], b""):
            folder.ledger.write_bytes(changed)
            with pytest.raises(StaleWriter, match="grew since"):
                ledger.append([delegated("1.1")], expect=6)
            assert folder.ledger.read_bytes() == changed


# --- readers ---


def test_a_reader_writes_nothing_and_cannot(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    with folder.ledger.open("ab") as file:
        file.write(b'{"seq":7,"ti')
    before = _everything(folder)
    ledger = Ledger.read(folder)
    with pytest.raises(LedgerError, match="for reading only"):
        ledger.append([delegated("1.1")], expect=6)
    assert list(ledger.entries())
    assert ledger.torn == b'{"seq":7,"ti'
    assert _everything(folder) == before


def test_no_ledger_is_an_empty_one(folder: SwarmFolder) -> None:
    assert Ledger.read(folder).state == State()
    assert not folder.ledger.exists()


def test_a_ledger_that_is_no_file_is_refused(folder: SwarmFolder) -> None:
    folder.ledger.mkdir()
    with pytest.raises(LedgerError, match=r"ledger.jsonl cannot be read: Is a directory"):
        Ledger.read(folder)


def test_a_line_that_the_laws_forbid_is_named(folder: SwarmFolder) -> None:
    lines, head = [], "0" * 64
    for entry in entries([*planned(), *passing("1.1")[:1]]):
        line, head = encode(entry, head)
        lines.append(line)
    folder.ledger.write_bytes(b"".join(lines))
    with pytest.raises(LedgerCorrupt, match="line 4 records what the rules forbid") as caught:
        Ledger.read(folder)
    assert caught.value.line == 4


# --- torn lines ---


@pytest.mark.parametrize("cut", [1, 2, 40, 150])
def test_a_torn_last_line_is_cut_off_into_the_quarantine_and_that_is_recorded(
    folder: SwarmFolder, fill: Fill, cut: int
) -> None:
    fill(*started(), delegated("1.1"))
    whole = folder.ledger.read_bytes()
    folder.ledger.write_bytes(whole[:-cut])
    torn = whole[:-cut].rsplit(b"\n", 1)[1]
    with Ledger.write(folder) as ledger:
        assert ledger.state.seq == 7
        assert ledger.state.open == ""
        event = [entry.event for entry, _ in ledger.entries()][-1]
        ledger.append([delegated("1.1")], expect=7)
    assert isinstance(event, ev.LedgerRepaired)
    assert event.size == len(torn)
    assert (folder.root / event.kept).read_bytes() == torn
    assert Ledger.read(folder).state.open == "1.1"


def test_a_repair_leaves_hand_edits_of_the_plan_files_for_the_reconcile_pass(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    edited = folder.plan_md.read_text().replace("# Parts", "# My parts")
    folder.plan_md.write_text(edited)
    with folder.ledger.open("ab") as file:
        file.write(b"{")
    with Ledger.write(folder):
        assert folder.plan_md.read_text() == edited


def test_two_torn_lines_in_one_second_are_both_kept(folder: SwarmFolder, fill: Fill) -> None:
    fill(GOAL)
    for junk in (b"one", b"two"):
        with folder.ledger.open("ab") as file:
            file.write(junk)
        Ledger.write(folder).close()
    assert sorted(path.read_bytes() for path in folder.quarantine.iterdir()) == [b"one", b"two"]


# --- a disk that refuses ---


_FULL = """
import resource, sys
from pathlib import Path
from swarmgate.domain.events.event import GoalSet
from swarmgate.errors import LedgerWriteFailed
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

folder = SwarmFolder(Path(sys.argv[1]))
with Ledger.write(folder) as ledger:
    before = folder.ledger.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
    try:
        ledger.append([GoalSet(goal="x" * 5000)], expect=1)
    except LedgerWriteFailed as error:
        print(error.message, error.hint, sep="|")
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert folder.ledger.read_bytes() == before
    assert ledger.state.seq == 1
    print(ledger.append([GoalSet(goal="y")], expect=1).seq)
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_file_as_before_and_the_next_append_goes_on(folder: SwarmFolder, fill: Fill) -> None:
    fill(GOAL)
    told, seq = _script(_FULL, folder).splitlines()
    assert "ledger.jsonl could not be written: File too large. Nothing was recorded; the file is as before.|" in told
    assert seq == "2"
    assert Ledger.read(folder).state.goal == "y"


@pytest.fixture
def sealed(fill: Fill) -> Iterator[SwarmFolder]:
    """A project that this process may read and not write, even where the tests run as root."""
    place = Path(tempfile.mkdtemp())
    shutil.copytree(fill(*started()).path, place / ".swarm")
    places = [place, *place.rglob("*")]
    for path in places:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield SwarmFolder(place)
    finally:
        if root:
            os.seteuid(0)
        for path in places:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
        shutil.rmtree(place)


def test_a_read_only_folder_can_be_read_and_says_why_it_cannot_be_written(sealed: SwarmFolder) -> None:
    assert Ledger.read(sealed).state.seq == 6
    before = _everything(sealed)
    with pytest.raises(LedgerWriteFailed, match=r"lock could not be written: Permission denied"):
        Ledger.write(sealed)
    assert _everything(sealed) == before


def test_a_read_only_ledger_file_refuses_the_append(folder: SwarmFolder, fill: Fill, sealed: SwarmFolder) -> None:
    with contextlib.suppress(PermissionError):
        sealed.lock.unlink()
    with pytest.raises(LedgerWriteFailed):
        Ledger.write(sealed)


def test_events_stay_recorded_when_the_views_cannot_be_written(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    folder.plan_md.unlink()
    folder.plan_md.mkdir()
    with Ledger.write(folder) as ledger:
        with pytest.raises(LedgerError, match="The ledger is at 7, but what is derived from it could not be written"):
            ledger.append([delegated("1.1")], expect=6)
        folder.plan_md.rmdir()
        ledger.append(passing("1.1")[1:2], expect=7)
    assert Ledger.read(folder).state.seq == 8
    assert "seq 8" in folder.plan_md.read_text()


# --- kill -9 ---


_KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

folder = SwarmFolder(Path(sys.argv[1]))


def append_for_ever(acknowledge):
    with Ledger.write(folder) as ledger:
        while True:
            seq = ledger.state.seq + 1
            big = "x" * random.randrange(20_000)
            ledger.append([UsageRecorded(role=f"{seq} {big}", usage=Usage(calls=1))], expect=seq - 1)
            os.write(acknowledge, b"%d\\n" % seq)


chance, rounds = random.Random(7), []
for _ in range(20):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        append_for_ever(into)
    os.close(into)
    first = os.read(out, 1)
    time.sleep(chance.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    acknowledged = first
    while more := os.read(out, 65536):
        acknowledged += more
    os.close(out)
    rounds.append(int(acknowledged.split()[-1]))
print(json.dumps(rounds))
"""


@pytest.mark.slow
def test_kill_9_at_random_moments_loses_and_doubles_no_acknowledged_event(folder: SwarmFolder) -> None:
    acknowledged = json.loads(_script(_KILLED, folder))
    with Ledger.write(folder) as ledger:
        assert ledger.taken_over
        recorded = [entry for entry, _ in ledger.entries()]
    assert len(acknowledged) == 20
    assert acknowledged == sorted(set(acknowledged))
    assert len(recorded) >= acknowledged[-1]
    for number, entry in enumerate(recorded, start=1):
        assert entry.seq == number
        if isinstance(entry.event, ev.UsageRecorded):
            assert entry.event.role.split()[0] == str(number)
        else:
            assert isinstance(entry.event, ev.LedgerRepaired)
            assert number not in acknowledged


@pytest.mark.parametrize("what", ["the folder", "the file", "the folder, with a file in its place"])
def test_a_ledger_that_is_taken_away_under_its_writer_is_not_begun_anew(fill: Fill, what: str) -> None:
    folder = fill(*started())
    with Ledger.write(folder) as ledger:
        gone = folder.ledger if what == "the file" else folder.path
        gone.rename(folder.root / "away")
        if what.endswith("its place"):
            folder.path.write_text("x")
        with pytest.raises(LedgerError, match=r"\.swarm(/ledger\.jsonl)? is gone") as caught:
            ledger.append([delegated("1.1")], expect=ledger.state.seq)
        assert "back to where it was, then go on with: swarm run" in caught.value.hint
        assert not gone.is_dir()
        assert not folder.ledger.exists()


def test_traces_of_calls_that_were_made_later_show_that_there_was_a_ledger(folder: SwarmFolder) -> None:
    folder.traces.mkdir()
    (folder.traces / "000000-001-model-call.json").touch()
    assert Ledger.read(folder).state == State()
    (folder.traces / "000014-001-coder-code.json").touch()
    with pytest.raises(LedgerCorrupt, match=r"missing or empty, .* there is traces"):
        Ledger.read(folder)

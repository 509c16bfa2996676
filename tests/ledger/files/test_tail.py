"""Reading on in ledger.jsonl and events.jsonl, whatever happens to the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.story import PLAN, YES, planned, play, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.automation import TriggerFired
from swarmgate.domain.events.event import Entry
from swarmgate.domain.state.state import State
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.rotating_lines import ReadOn, RotatingLines, number_of
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.tail import Polled, Tail

FIRED = TriggerFired(capability="hooks", subject="x")
GOAL = ev.GoalSet(goal="Add parts")


def seen(polled: Polled) -> list[tuple[str, int]]:
    return [(each.happening.source, each.happening.seq) for each in polled.seen]


def add(folder: SwarmFolder, *events: ev.Event) -> None:
    with Ledger.write(folder) as ledger:
        ledger.append(events, expect=ledger.state.seq)


def test_it_begins_at_the_end_and_shows_what_comes_with_the_states_around_it(fill: Fill) -> None:
    folder = fill(*planned())
    AutomationLog(folder).append(FIRED, actor="hooks")
    tail = Tail(folder)
    assert tail.poll() == Polled()
    add(folder, ev.PlanApproved(), ev.RunStarted(pid=1, host="here"))
    AutomationLog(folder).append(FIRED, actor="hooks")
    polled = tail.poll()
    assert seen(polled) == [("ledger", 4), ("ledger", 5), ("automation", 2)]
    states = [play(State(), *planned())]
    states += [play(states[-1], ev.PlanApproved())]
    assert [each.before.planning for each in polled.seen[:2]] == [each.planning for each in states]
    assert [each.before.seq for each in polled.seen] == [3, 4, 5]
    assert [each.after.seq for each in polled.seen] == [4, 5, 5]
    assert polled.seen[0].happening.data == {"type": "plan_approved", "by": ""}
    assert tail.state == Ledger.read(folder).state
    assert tail.poll() == Polled()


def test_it_can_begin_at_the_start(fill: Fill) -> None:
    folder = fill(*planned())
    journal = AutomationLog(folder, limit=500)
    for _ in range(8):
        journal.append(FIRED, actor="hooks")
    tail = Tail(folder, from_start=True)
    assert seen(tail.poll()) == [("ledger", n) for n in (1, 2, 3)] + [("automation", n) for n in range(1, 9)]
    assert tail.poll() == Polled()


@pytest.mark.parametrize("from_start", [True, False])
def test_a_project_may_have_no_file_yet(folder: SwarmFolder, *, from_start: bool) -> None:
    tail = Tail(folder, from_start=from_start)
    assert tail.poll() == Polled()
    add(folder, GOAL)
    AutomationLog(folder).append(FIRED, actor="hooks")
    assert seen(tail.poll()) == [("ledger", 1), ("automation", 1)]


def test_a_line_is_shown_when_it_is_whole(fill: Fill) -> None:
    folder = fill(GOAL)
    tail = Tail(folder)
    add(folder, ev.PlanSaved(plan=PLAN))
    AutomationLog(folder).append(FIRED, actor="hooks")
    whole = {place: place.read_bytes() for place in (folder.ledger, folder.automation_log)}
    for place, data in whole.items():
        place.write_bytes(data[:-20])
    assert tail.poll() == Polled()
    for place, data in whole.items():
        place.write_bytes(data)
    assert seen(tail.poll()) == [("ledger", 2), ("automation", 1)]


def test_an_unreadable_line_is_counted(fill: Fill) -> None:
    folder = fill(GOAL)
    tail = Tail(folder)
    folder.automation_log.write_bytes(b"\x00\xffgarbage\n{}\n")
    AutomationLog(folder).append(FIRED, actor="hooks")
    assert seen(tail.poll()) == [("automation", 1)]
    assert tail.unreadable == 2


# --- the ledger in trouble ---


def test_a_broken_ledger_is_told_once_and_taken_up_again_when_it_is_good(fill: Fill) -> None:
    folder = fill(*planned())
    tail = Tail(folder)
    good = folder.ledger.read_bytes()
    copy = folder.path / "copy"
    copy.write_bytes(good.replace(b"Add parts", b"Sub parts"))
    copy.replace(folder.ledger)
    polled = tail.poll()
    assert "line 1 does not match its own hash" in polled.trouble
    assert tail.trouble == polled.trouble
    for _ in range(3):
        assert tail.poll() == Polled()
        folder.ledger.write_bytes(folder.ledger.read_bytes() + b"more\n")
    assert (tail.poll(), tail.state.seq) == (Polled(), 3)
    folder.ledger.write_bytes(good)
    add(folder, ev.PlanApproved())
    polled = tail.poll()
    assert (seen(polled), polled.trouble, polled.mended) == ([("ledger", 4)], "", True)


def test_events_of_automation_go_on_meanwhile(fill: Fill) -> None:
    folder = fill(*planned())
    tail = Tail(folder)
    folder.ledger.write_bytes(b"no\n")
    tail.poll()
    AutomationLog(folder).append(FIRED, actor="hooks")
    [sight] = tail.poll().seen
    assert (sight.happening.type, sight.after.seq) == ("trigger_fired", 3)


def test_a_ledger_that_was_broken_from_the_beginning_shows_nothing_old(fill: Fill) -> None:
    folder = fill(*planned())
    good = folder.ledger.read_bytes()
    folder.ledger.write_bytes(good[1:])
    tail = Tail(folder)
    assert "line 1" in tail.poll().trouble
    folder.ledger.write_bytes(good)
    polled = tail.poll()
    assert (polled.seen, polled.mended, tail.state.seq) == ((), True, 3)
    add(folder, ev.PlanApproved())
    assert seen(tail.poll()) == [("ledger", 4)]


def test_a_ledger_that_is_gone_is_told_and_its_return_goes_on_where_it_was(fill: Fill) -> None:
    folder = fill(*planned())
    tail = Tail(folder)
    good = folder.ledger.read_bytes()
    folder.ledger.unlink()
    assert tail.poll().trouble.endswith("ledger.jsonl is gone.")
    assert tail.poll() == Polled()
    folder.ledger.write_bytes(good)
    add(folder, ev.PlanApproved())
    polled = tail.poll()
    assert (seen(polled), polled.mended) == ([("ledger", 4)], True)


def test_what_is_recorded_while_the_ledger_is_taken_up_is_shown_once(
    fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(GOAL)
    tail = Tail(folder)
    good, entries, late = folder.ledger.read_bytes(), Ledger.entries, [ev.PlanReviewed(review=YES)]
    folder.ledger.unlink()
    tail.poll()
    folder.ledger.write_bytes(good)
    add(folder, ev.PlanSaved(plan=PLAN))

    def slowly(ledger: Ledger) -> Iterator[tuple[Entry, str]]:
        if late:
            add(folder, late.pop())
        yield from entries(ledger)

    monkeypatch.setattr(Ledger, "entries", slowly)
    assert seen(tail.poll()) == [("ledger", 2)]
    assert seen(tail.poll()) == [("ledger", 3)]
    assert seen(tail.poll()) == []


def test_the_whole_folder_may_go_and_come(fill: Fill) -> None:
    folder = fill(*planned())
    AutomationLog(folder).append(FIRED, actor="hooks")
    tail = Tail(folder)
    shutil.rmtree(folder.path)
    assert tail.poll().trouble
    assert tail.poll() == Polled()
    folder.runtime.mkdir(parents=True)
    add(folder, ev.GoalSet(goal="Another"))
    AutomationLog(folder).append(FIRED, actor="hooks")
    polled = tail.poll()
    assert "was replaced by another" in polled.trouble
    assert (seen(polled), polled.mended) == ([("automation", 1)], True)
    add(folder, ev.PlanSaved(plan=PLAN))
    assert seen(tail.poll()) == [("ledger", 2)]


def test_a_newer_copy_of_the_same_ledger_goes_on(fill: Fill) -> None:
    folder = fill(GOAL)
    tail = Tail(folder)
    add(folder, ev.PlanSaved(plan=PLAN), ev.PlanReviewed(review=YES))
    copy = folder.path / "copy"
    shutil.copyfile(folder.ledger, copy)
    copy.replace(folder.ledger)
    polled = tail.poll()
    assert (seen(polled), polled.trouble) == ([("ledger", 2), ("ledger", 3)], "")


def test_an_older_copy_is_told_and_read_on_from_its_end(fill: Fill) -> None:
    folder = fill(GOAL)
    old = folder.ledger.read_bytes()
    add(folder, ev.PlanSaved(plan=PLAN))
    tail = Tail(folder)
    folder.ledger.write_bytes(old)
    folder.plan_md.unlink()
    folder.plan_json.unlink()
    assert "was replaced by another, or by an older one" in tail.poll().trouble
    add(folder, ev.PlanSaved(plan=PLAN))
    assert seen(tail.poll()) == [("ledger", 2)]


def test_a_journal_that_is_no_file_is_told_once(fill: Fill) -> None:
    folder = fill(GOAL)
    folder.automation_log.mkdir()
    tail = Tail(folder)
    assert "events.jsonl cannot be read" in tail.poll().trouble
    assert tail.poll() == Polled()
    folder.automation_log.rmdir()
    assert tail.poll().mended
    AutomationLog(folder).append(FIRED, actor="hooks")
    assert seen(tail.poll()) == [("automation", 1)]


# --- the journal's rotation ---


@given(st.lists(st.integers(0, 12), max_size=25), st.integers(0, 2))
def test_reading_on_misses_nothing_while_it_rotates(
    tmp_path_factory: pytest.TempPathFactory, batches: list[int], early: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "lines.jsonl"
    lines = RotatingLines(path, limit=200)
    number = 0

    def append(count: int) -> None:
        nonlocal number
        for _ in range(count):
            lines.append(lambda seq: b'{"seq":%d,"pad":"%s"}\n' % (seq, b"x" * 30))
            number += 1

    append(early)
    reader = ReadOn(lines, from_start=False)
    got: list[bytes] = []
    for count in batches:
        append(count)
        got += reader.poll()
    assert [b'{"seq":%d,' % n for n in range(early + 1, number + 1)] == [line.split(b'"pad"')[0] for line in got]


@pytest.mark.parametrize("after", range(4))
def test_a_rotation_in_the_middle_of_a_look_costs_and_doubles_nothing(tmp_path: Path, after: int) -> None:
    """After so many of the places were looked at, lines are added and the files rotate."""

    class Places(tuple[Path, ...]):
        __slots__ = ()

        def __iter__(self) -> Iterator[Path]:
            for number, place in enumerate(super().__iter__()):
                if number == after and turn:
                    turn.clear()
                    add_two()
                yield place

    class Turning(RotatingLines):
        @property
        def places(self) -> tuple[Path, ...]:
            return Places(super().places)

    turn: list[bool] = []
    lines = Turning(tmp_path / "lines.jsonl", limit=60)

    def add_two() -> None:
        for _ in range(2):
            lines.append(lambda seq: b'{"seq":%d,"pad":"%s"}\n' % (seq, b"x" * 30))

    add_two()
    reader, got = ReadOn(lines, from_start=True), []
    for _ in range(3):
        add_two()
        turn.append(True)
        got += [number_of(line) for line in reader.poll()]
        turn.clear()  # it may have found all before it came so far
    got += [number_of(line) for line in reader.poll()]
    assert got == list(range(1, number_of(lines.read()[-1]) + 1))


def test_a_file_that_has_just_begun_anew_is_no_reason_to_tell_anything_twice(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    reader = ReadOn(RotatingLines(path), from_start=False)
    path.write_bytes(b'{"seq":1}\n{"seq":2}\n')
    assert len(reader.poll()) == 2
    path.write_bytes(path.read_bytes() + b'{"seq":3}\n')
    path.rename(tmp_path / "lines.jsonl.1")
    path.touch()
    assert reader.poll() == [b'{"seq":3}\n']
    path.write_bytes(b'{"seq":4}\n')
    assert reader.poll() == [b'{"seq":4}\n']
    path.write_bytes(b"")
    assert reader.poll() == []
    path.write_bytes(b'{"seq":1}\n')
    assert reader.poll() == [b'{"seq":1}\n']


def test_a_journal_that_was_removed_or_replaced_is_read_from_its_start(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder, limit=600)
    for _ in range(9):
        journal.append(FIRED, actor="hooks")
    tail = Tail(folder)
    for place in journal.lines.places:
        place.unlink(missing_ok=True)
    assert tail.poll() == Polled()
    journal.append(FIRED, actor="hooks")
    assert seen(tail.poll()) == [("automation", 1)]
    shutil.rmtree(folder.path)
    folder.path.mkdir()
    for _ in range(3):
        journal.append(TriggerFired(capability="hooks", subject="another"), actor="hooks")
    assert seen(tail.poll()) == [("automation", n) for n in (1, 2, 3)]


def test_polls_hold_nothing_open(fill: Fill) -> None:
    folder = fill(*started())
    tail = Tail(folder)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - on macOS too
    for _ in range(50):
        AutomationLog(folder, limit=500).append(FIRED, actor="hooks")
        tail.poll()
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208 - as above

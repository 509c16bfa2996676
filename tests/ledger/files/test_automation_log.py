"""Automation's events on disk: numbered through rotation, crashes and other processes; the caller never fails."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.project import until

from swarmgate.domain.events.automation import DeadLetter, Happening, HookRan, TriggerFired, WatchStopped
from swarmgate.ledger.files.automation_log import TEXT, AutomationLog, DeadLetters
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.rotating_lines import KEPT, RotatingLines

FIRED = TriggerFired(capability="hooks", subject="x")
WRITER = """
import sys
from pathlib import Path
from swarmgate.domain.events.automation import TriggerFired
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.automation_log import AutomationLog

journal = AutomationLog(SwarmFolder(Path(sys.argv[1])), limit=int(sys.argv[4]))
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    journal.append(TriggerFired(capability=sys.argv[2], subject=f"{number}"), actor=sys.argv[2])
"""


def writer(folder: SwarmFolder, name: str, count: int, limit: int = 5_000_000) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder.root), name, str(count), str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def newest(journal: AutomationLog) -> int:
    return max((each.seq for each in journal.read()), default=0)


def happening(seq: int = 1, kind: str = "task_completed") -> Happening:
    return Happening(source="ledger", seq=seq, time="2026-11-22T00:00:00.000Z", actor="x", data={"type": kind})


def test_an_event_is_one_line_with_its_place(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder, clock=lambda: datetime(2026, 11, 22, 1, 2, 3, 456_000, UTC))
    told = journal.append(FIRED, actor="hooks")
    assert (told.seq, told.time, told.source) == (1, "2026-11-22T01:02:03.456Z", "automation")
    [line] = folder.automation_log.read_bytes().splitlines()
    assert json.loads(line) == told.model_dump()
    assert journal.append(FIRED, actor="hooks").seq == 2
    assert [each.seq for each in AutomationLog(folder).read()] == [1, 2]
    assert [each.seq for each in journal.read(last=1)] == [2]
    assert journal.read(last=0) == ()


def test_there_need_not_be_any(folder: SwarmFolder) -> None:
    assert AutomationLog(folder).read() == ()
    assert DeadLetters(folder).read() == ()


def test_long_and_broken_texts_are_cut(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder)
    journal.append(HookRan(event="x", exit_code=1, output="o" * 9_000), actor="hooks")
    journal.append(HookRan.model_construct(event="\ud800", exit_code=1), actor="hooks")
    first, second = journal.read()
    assert len(first.data["output"]) == TEXT
    assert second.data["event"] == "?"


def test_numbers_count_on_across_rotation_and_the_oldest_go(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder, limit=1_000)
    for _ in range(60):
        journal.append(FIRED, actor="hooks")
    numbers = [each.seq for each in journal.read()]
    assert numbers == list(range(numbers[0], 61))
    assert numbers[0] > 1
    assert len(list(folder.path.glob("events.jsonl*"))) == KEPT + 1
    assert all(place.stat().st_size < 1_300 for place in folder.path.glob("events.jsonl*"))
    folder.automation_log.unlink()
    assert journal.append(FIRED, actor="hooks").seq > 40


@pytest.mark.parametrize("torn", [b'{"source":"automation","seq":2,"ti', b"\x00\xff\x00", b'{"seq": "x"}', b"[]"])
def test_a_torn_or_foreign_line_costs_nothing_but_itself(folder: SwarmFolder, torn: bytes) -> None:
    journal = AutomationLog(folder)
    journal.append(FIRED, actor="hooks")
    with folder.automation_log.open("ab") as file:
        file.write(torn)
    assert journal.append(FIRED, actor="hooks").seq == 2
    assert [each.seq for each in journal.read()] == [1, 2]
    assert journal.unreadable == 1


def test_a_last_line_that_lacks_only_its_end_is_whole_again(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder)
    journal.append(FIRED, actor="hooks")
    folder.automation_log.write_bytes(folder.automation_log.read_bytes()[:-1])
    assert journal.append(FIRED, actor="hooks").seq == 2
    assert [each.seq for each in journal.read()] == [1, 2]


def test_the_newest_number_is_found_behind_long_rubbish(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder)
    journal.append(FIRED, actor="hooks")
    with folder.automation_log.open("ab") as file:
        file.write(b"\x00" * 300_000 + b"\n" + b"x\n" * 10_000)
    assert journal.append(FIRED, actor="hooks").seq == 2


def test_two_processes_lose_nothing(folder: SwarmFolder) -> None:
    both = [writer(folder, name, 1_000, limit=100_000) for name in "ab"]
    assert [process.wait(60) for process in both] == [0, 0]
    found = AutomationLog(folder).read()
    numbers = [each.seq for each in found]
    assert numbers == sorted(set(numbers))
    assert numbers == list(range(numbers[0], 2_001))
    for process in both:
        process.communicate()


def test_two_processes_keep_all_where_there_is_room(folder: SwarmFolder) -> None:
    both = [writer(folder, name, 1_000) for name in "ab"]
    for process in both:
        process.communicate()
    found = AutomationLog(folder).read()
    assert [each.seq for each in found] == list(range(1, 2_001))
    for name in "ab":
        assert [each.data["subject"] for each in found if each.actor == name] == [str(n) for n in range(1_000)]


def test_threads_lose_nothing(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder)

    def work() -> None:
        for _ in range(100):
            journal.append(FIRED, actor="hooks")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.seq for each in journal.read()] == list(range(1, 401))


@pytest.mark.slow
def test_a_kill_in_the_middle_leaves_it_readable(folder: SwarmFolder) -> None:
    chance = random.Random(7)  # noqa: S311 - a test's choices, no secret
    for _ in range(5):
        process = writer(folder, "a", 1_000_000, limit=50_000)
        journal = AutomationLog(folder)
        began = newest(journal)
        until(lambda journal=journal, began=began: newest(journal) > began)  # type: ignore[misc]  # bound by defaults
        time.sleep(chance.random() / 10)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        before = [each.seq for each in journal.read()]
        assert journal.append(FIRED, actor="hooks").seq == before[-1] + 1
        numbers = [each.seq for each in journal.read()]
        assert numbers == list(range(numbers[0], before[-1] + 2))


def test_a_disk_that_refuses_is_told_once_and_fails_nobody(
    folder: SwarmFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.automation_log.mkdir()  # root writes everywhere: what is no file is refused to it too
    journal = AutomationLog(folder)
    assert [journal.append(FIRED, actor="hooks").seq for _ in range(3)] == [0, 0, 0]
    err = capsys.readouterr().err
    assert err.count("events.jsonl cannot be written: Is a directory") == 1
    folder.automation_log.rmdir()
    assert journal.append(FIRED, actor="hooks").seq == 1


def test_a_project_that_was_removed_is_not_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = SwarmFolder(tmp_path)
    assert AutomationLog(folder).append(FIRED, actor="hooks").seq == 0
    DeadLetters(folder).keep("hooks", [happening()], "it failed")
    assert list(tmp_path.iterdir()) == []
    assert "No such file or directory" in capsys.readouterr().err


def test_a_link_is_not_followed(folder: SwarmFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.automation_log.symlink_to(victim)
    assert AutomationLog(folder).append(FIRED, actor="hooks").seq == 0
    assert victim.read_text() == "precious"
    assert "cannot be written" in capsys.readouterr().err


def test_a_lock_that_is_never_given_back_is_not_waited_for_for_ever(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("swarmgate.ledger.files.rotating_lines._PATIENCE_S", 0.05)
    lines = RotatingLines(folder.automation_log)
    with lines._locked():
        assert AutomationLog(folder).append(FIRED, actor="hooks").seq == 0
    assert "cannot be written" in capsys.readouterr().err
    assert AutomationLog(folder).append(FIRED, actor="hooks").seq == 1


def test_no_file_stays_open(folder: SwarmFolder) -> None:
    journal = AutomationLog(folder, limit=1_000)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - on macOS too
    for _ in range(200):
        journal.append(FIRED, actor="hooks")
        journal.read()
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208 - as above


# --- dead letters ---


def test_a_dead_letter_is_kept_whole_and_told(folder: SwarmFolder) -> None:
    folder.runtime.rmdir()
    letters = DeadLetters(folder)
    letters.keep("hooks", [happening(7)], "it failed")
    [letter] = letters.read()
    assert (letter.seq, letter.subscriber, letter.error, letter.event) == (1, "hooks", "it failed", happening(7))
    [told] = AutomationLog(folder).read()
    assert told.data == DeadLetter(subscriber="hooks", event="task_completed", seq=7, error="it failed").model_dump()


def test_many_are_told_once(folder: SwarmFolder) -> None:
    letters = DeadLetters(folder)
    letters.keep("hooks", [happening(number) for number in range(1, 501)], "stopped")
    letters.keep("hooks", [], "stopped")
    letters.keep("hooks", [happening(501)], "stopped", tell=False)
    assert [each.event.seq for each in letters.read()] == list(range(1, 502))
    [told] = AutomationLog(folder).read()
    assert told.data["error"] == "stopped (500 events)"


def test_a_dead_letter_about_a_dead_letter_is_kept_and_not_told(folder: SwarmFolder) -> None:
    letters = DeadLetters(folder)
    letters.keep("hooks", [happening(kind="dead_letter")], "it failed")
    assert len(letters.read()) == 1
    assert AutomationLog(folder).read() == ()


def test_actors_are_named(folder: SwarmFolder) -> None:
    assert AutomationLog(folder).append(WatchStopped(pid=1), actor="watch").actor == "watch"


@pytest.mark.parametrize(
    "line",
    [
        '{"source":"ledger","seq":1,"time":"x","actor":"a","data":{}}',
        '{"source":"ledger","seq":1,"time":"x","actor":"a","data":{"type":"run_started"}}',
        '{"source":"automation","seq":1,"time":"x","actor":"a","data":{"type":5}}',
        '{"source":"automation","seq":1,"time":"x","actor":"a","data":{}}',
    ],
)
def test_what_is_no_event_of_automation_is_left_out_and_counted(folder: SwarmFolder, line: str) -> None:
    journal = AutomationLog(folder)
    folder.automation_log.write_text(line + "\n")
    told = journal.append(FIRED, actor="hooks")
    assert journal.read() == (told,)
    assert journal.unreadable == 1

"""Tests the file in which a run keeps its newest progress: bounded, replaced whole, and only of who is at work."""

from __future__ import annotations

import os
from pathlib import Path

from swarmgate.domain.progress import Progress, silent
from swarmgate.ledger.files.live_progress import LiveProgress, LiveRun, read


def _read(path: Path) -> LiveRun:
    found = read(path, {"pid": os.getpid()})
    assert found is not None
    return found


def test_what_was_told_last_can_be_read_by_another_process(tmp_path: Path) -> None:
    path, heard = tmp_path / "progress.json", list[Progress]()
    tell = LiveProgress(path, heard.append)
    tell(Progress(kind="step", text="the coder works"))
    tell(Progress(kind="tool", text="coder: edit_file", detail="@@\n-a\n+b \x1b[31m\ud800"))
    tell(Progress(kind="answer", text="12 tokens", detail="I think"))
    live = _read(path)
    assert live.told == 2
    assert live.step == live.items[0] == heard[0]
    assert live.items[1].detail == "@@\n-a\n+b \ufffd[31m\ufffd"
    assert live.now == heard[2]
    assert live.since(1) == live.items[1:]
    assert live.since(2) == ()
    tell(Progress(kind="event", text="gates passed"))
    assert _read(path).now is None
    tell(Progress(kind="tests", text="12 of 340 tests"))
    assert _read(path).now == heard[-1]
    assert _read(path).told == 3
    assert read(path, {"pid": os.getpid() + 1}) is None
    assert read(path, {}) is None


def test_it_stays_small_however_long_a_run_is(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    tell = LiveProgress(path, silent)
    for number in range(250):
        tell(Progress(kind="tool", text=f"call {number}", detail="x" * 5_000))
    live = _read(path)
    assert live.told == 250
    assert live.items[-1].text == "call 249"
    assert path.stat().st_size < 110_000
    assert live.since(0) == live.items
    tell(Progress(kind="tool", text="large", detail="y" * 300_000))
    assert [each.text for each in _read(path).items] == ["large"]


def test_a_folder_that_is_gone_ends_nothing_and_is_not_made_anew(tmp_path: Path) -> None:
    heard: list[Progress] = []
    LiveProgress(tmp_path / "gone" / "progress.json", heard.append)(Progress(kind="event", text="it goes on"))
    assert heard
    assert not (tmp_path / "gone").exists()
    assert read(tmp_path / "gone" / "progress.json", {"pid": os.getpid()}) is None


def test_half_a_file_is_no_progress(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text('{"pid": 1, "told"')
    assert read(path, {"pid": 1}) is None

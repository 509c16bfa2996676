from __future__ import annotations

import os
from pathlib import Path

from swarmgate.ledger.files.watch_log import WatchLog, end_of


def test_lines_have_a_time_and_the_end_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "watch.log"
    assert end_of(path) == ()
    log = WatchLog(path)
    for number in range(8):
        log.write(f"line\n{number}")
    assert [line.split(" ", 1)[1] for line in end_of(path, 2)] == ["line 6", "line 7"]
    log.write("later told", time="2026-01-01T00:00:00.000Z")
    assert end_of(path, 1) == ("2026-01-01T00:00:00.000Z later told",)
    WatchLog(path).write("another process")
    assert len(path.read_text().splitlines()) == 10


def test_a_long_log_begins_anew_with_the_streams_that_go_there(tmp_path: Path) -> None:
    path, stream = tmp_path / "watch.log", os.open(os.devnull, os.O_WRONLY)
    log = WatchLog(path, streams=(stream,), limit=200)
    for number in range(12):
        log.write(f"number {number:02} {'x' * 30}")
    os.write(stream, b"by a stream\n")
    os.close(stream)
    assert "by a stream" in path.read_text()
    assert path.stat().st_size < 300
    assert (tmp_path / "watch.log.1").exists()
    assert len(list(tmp_path.iterdir())) == 2

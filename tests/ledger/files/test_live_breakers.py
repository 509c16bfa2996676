"""The counts of the running turn, as another process reads them."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from swarmgate.domain.guard import BreakerCount, LiveTurn
from swarmgate.ledger.files.live_breakers import LiveCounts, read

ME: dict[str, object] = {"pid": os.getpid(), "host": "here"}


def turn(calls: int, began: float = 0.0) -> LiveTurn:
    counts = (
        BreakerCount(breaker="tool_calls", count=calls, limit=200),
        BreakerCount(breaker="wall_time", count=0, limit=1800),
    )
    return LiveTurn(role="coder", step="code", task="1.2", attempt=1, began=began or time.time(), breakers=counts)


def calls_shown(path: Path) -> int:
    shown = read(path, ME)
    return shown.breakers[0].count if shown else -1


async def test_the_first_count_is_shown_at_once_and_the_last_one_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    live = LiveCounts(path)
    for number in range(50):
        live.show(turn(number))
    assert calls_shown(path) == 0
    await asyncio.sleep(0.15)
    assert calls_shown(path) == 49
    assert os.listdir(tmp_path) == ["breakers.json"]  # noqa: PTH208 - and no temporary file


async def test_the_end_of_the_turn_takes_them_away_for_good(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    live = LiveCounts(path)
    live.show(turn(1))
    live.show(turn(2))
    live.show(None)
    assert not path.exists()
    await asyncio.sleep(0.15)
    assert not path.exists()
    live.show(turn(3))
    assert calls_shown(path) == 3


async def test_counts_of_a_process_that_is_gone_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    LiveCounts(path).show(turn(1))
    assert read(path, {}) is None
    assert read(path, {"pid": os.getpid() + 1}) is None
    assert read(path, ME) is not None


async def test_the_wall_time_is_that_of_the_moment_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    LiveCounts(path).show(turn(1, began=time.time() - 100))
    shown = read(path, ME)
    assert shown is not None
    assert 100 <= shown.breakers[1].count <= 102


async def test_the_wall_time_of_a_clock_that_stands_still_is_that_at_which_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    LiveCounts(path).show(turn(1, began=time.time() - 100).model_copy(update={"stands": True}))
    shown = read(path, ME)
    assert shown is not None
    assert shown.breakers[1].count == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": MINE, "turn": {"role": 1}}'])
def test_a_file_that_cannot_be_read_shows_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "breakers.json"
    path.write_text(text.replace("MINE", str(os.getpid())))
    assert read(path, ME) is None


async def test_a_folder_that_takes_no_file_stops_no_work(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "breakers.json"
    live = LiveCounts(path)
    live.show(turn(1))
    assert read(path, ME) is None
    live.show(None)
    path.parent.mkdir()
    live.show(turn(2))
    assert calls_shown(path) == 2


async def test_a_wait_is_shown_at_once_and_gone_with_its_end(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    live = LiveCounts(path)
    live.wait("a/b", "before any turn", "2026-11-22T14:00:05+00:00")  # nothing to show it with
    live.wait("a/b", "", "")
    live.show(turn(1))
    live.wait("a/b", "rate limit of a/b", "2026-11-22T14:00:05+00:00")
    shown = read(path, ME)
    assert shown
    assert (shown.waits, shown.until) == ("rate limit of a/b", "2026-11-22T14:00:05+00:00")
    live.wait("a/b", "", "")
    shown = read(path, ME)
    assert shown
    assert (shown.waits, shown.until) == ("", "")


async def test_the_end_of_one_wait_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "breakers.json"
    live = LiveCounts(path)
    live.show(turn(1))
    live.wait("a/b", "rate limit of a/b", "2026-11-22T14:00:05+00:00")
    live.wait("c/d", "rate limit of c/d", "2026-11-22T15:00:05+00:00")
    live.wait("a/b", "", "")
    shown = read(path, ME)
    assert shown
    assert (shown.waits, shown.until) == ("rate limit of c/d", "2026-11-22T15:00:05+00:00")

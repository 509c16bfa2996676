"""Tests file watching on real files: by events, by polling, with editors' habits, with a folder that goes away."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.project import until

from swarmgate.automation.watch.file_events import FileEvents
from swarmgate.automation.watch.file_watch import FileWatch
from swarmgate.domain.events.automation import Watching

NAMES = ("plan.md", "plan.json", "config.toml")
QUIET_S = 0.1


class Refused(FileEvents):
    """As a system whose watches are used up."""

    def start(self, folder: Path, told: Callable[[str], None], folder_told: Callable[[], None]) -> None:
        del folder, told, folder_told
        raise OSError(errno.ENOSPC, "inotify watch limit reached")


class Deaf(FileEvents):
    """As a network file system: no event ever comes."""

    def start(self, folder: Path, told: Callable[[str], None], folder_told: Callable[[], None]) -> None:
        del told, folder_told
        super().start(folder, lambda _: None, lambda: None)


class Overflowing(FileEvents):
    """As one whose queue ran over: while `deaf` is set, what happens is not told."""

    deaf = threading.Event()

    def start(self, folder: Path, told: Callable[[str], None], folder_told: Callable[[], None]) -> None:
        super().start(folder, lambda name: None if self.deaf.is_set() else told(name), folder_told)


class Heard:
    """A watch on a folder, and what it told."""

    def __init__(self, folder: Path, events: Callable[[], FileEvents] | None, poll_s: float) -> None:
        self.folder = folder
        self.told: list[tuple[float, frozenset[str]]] = []
        self.fell_back: list[str] = []
        self.notices: list[str] = []
        self.returns = 0
        self.watch = FileWatch(
            [folder / name for name in NAMES],
            lambda paths: self.told.append((time.monotonic(), frozenset(path.name for path in paths))),
            debounce_s=QUIET_S,
            poll_s=poll_s,
            fell_back=self.fell_back.append,
            notice=self.notices.append,
            returned=self._returned,
            events=events,
        )

    def _returned(self) -> None:
        self.returns += 1

    @property
    def names(self) -> list[frozenset[str]]:
        return [names for _, names in self.told]

    def hears(self, *names: str) -> None:
        """Waits until these were told, and forgets them."""
        until(lambda: set(names) <= set().union(*self.names), 30)
        self.told.clear()

    def quiet(self, seconds: float = 3 * QUIET_S) -> bool:
        before = len(self.told)
        time.sleep(seconds)
        return len(self.told) == before


@contextmanager
def watching(folder: Path, events: Callable[[], FileEvents] | None = None, poll_s: float = 0.2) -> Iterator[Heard]:
    heard = Heard(folder, events, poll_s)
    heard.watch.start()
    try:
        yield heard
    finally:
        assert heard.watch.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".swarm"
    made.mkdir()
    for name in NAMES:
        (made / name).write_text("old\n")
    return made


@pytest.fixture(params=[None, Refused], ids=["events", "polling"])
def heard(request: pytest.FixtureRequest, folder: Path) -> Iterator[Heard]:
    with watching(folder, request.param) as made:
        yield made


# --- how it watches ---


def test_events_are_tried_and_used_where_they_come(folder: Path) -> None:
    with watching(folder) as heard:
        assert (heard.watch.watching, heard.watch.reason) == (Watching.EVENTS, "")
        assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
        assert heard.quiet()


def test_where_the_system_refuses_it_polls_and_says_why(folder: Path) -> None:
    with watching(folder, Refused) as heard:
        assert heard.watch.watching is Watching.POLLING
        assert "inotify watch limit reached" in heard.watch.reason
        (folder / "plan.md").write_text("new")
        heard.hears("plan.md")


@pytest.mark.slow
def test_where_no_event_comes_it_polls_and_says_why(folder: Path) -> None:
    with watching(folder, Deaf) as heard:
        assert heard.watch.watching is Watching.POLLING
        assert "no file event came" in heard.watch.reason
        (folder / "plan.md").write_text("new")
        heard.hears("plan.md")


def test_where_the_probe_cannot_be_written_it_polls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only disk; root may write wherever modes forbid it, so the probe's name is taken instead."""
    (folder / f".swarmgate-probe-{os.getpid()}.tmp").mkdir()
    with watching(folder) as heard:
        assert heard.watch.watching is Watching.POLLING
        assert "cannot be tried" in heard.watch.reason


@pytest.mark.slow
def test_a_change_that_no_event_told_of_is_found_and_ends_the_trust(folder: Path) -> None:
    Overflowing.deaf.clear()
    with watching(folder, Overflowing, poll_s=0.05) as heard:
        assert heard.watch.watching is Watching.EVENTS
        Overflowing.deaf.set()
        (folder / "plan.md").write_text("lost on the way")
        heard.hears("plan.md")
        (reason,) = heard.fell_back
        assert "plan.md changed and no file event told of it" in reason
        assert (heard.watch.watching, heard.watch.reason) == (Watching.POLLING, reason)
        (folder / "plan.json").write_text("new")
        heard.hears("plan.json")
    Overflowing.deaf.clear()


@pytest.mark.slow
def test_many_events_are_no_reason_to_distrust_them(folder: Path) -> None:
    with watching(folder, poll_s=0.02) as heard:
        ends = time.monotonic() + 1.5
        while time.monotonic() < ends:
            (folder / "plan.md").write_text(str(time.monotonic()))
            time.sleep(0.003)
        assert (heard.fell_back, heard.watch.watching) == ([], Watching.EVENTS)


def test_a_file_whose_event_came_late_is_no_suspect_any_more(folder: Path) -> None:
    """Else the next change would be told by a look before its own event had time to come."""
    plan = folder / "plan.md"
    with watching(folder, Overflowing, poll_s=60) as heard:
        Overflowing.deaf.set()
        plan.write_text("one")
        heard.watch._scan()  # the event of this one may be on the way
        heard.watch._touch({plan})  # there it is
        heard.hears("plan.md")
        plan.write_text("two")
        heard.watch._scan()
        assert heard.fell_back == []
        heard.watch._scan()  # its time is over
        assert len(heard.fell_back) == 1
    Overflowing.deaf.clear()


# --- editors' habits ---


def test_truncate_and_write(heard: Heard) -> None:
    (heard.folder / "plan.md").write_text("new")
    heard.hears("plan.md")


@pytest.mark.slow
def test_write_beside_and_rename(heard: Heard) -> None:
    (heard.folder / ".plan.md.swp").write_text("new")
    (heard.folder / ".plan.md.swp").rename(heard.folder / "plan.md")
    heard.hears("plan.md")
    assert heard.quiet()


def test_rename_to_a_backup_and_write_anew(heard: Heard) -> None:
    (heard.folder / "plan.md").rename(heard.folder / "plan.md~")
    (heard.folder / "plan.md").write_text("new")
    heard.hears("plan.md")


@pytest.mark.slow
def test_backup_files_and_what_lies_deeper_are_ignored(heard: Heard) -> None:
    (heard.folder / "plan.md~").write_text("backup")
    (heard.folder / "4913").write_text("vim tries whether it may write")
    (heard.folder / "4913").unlink()
    (heard.folder / "runtime").mkdir()
    (heard.folder / "runtime/plan.md").write_text("another")
    assert heard.quiet(0.6)


@pytest.mark.slow
def test_deletion_and_creation(heard: Heard) -> None:
    (heard.folder / "plan.json").unlink()
    heard.hears("plan.json")
    (heard.folder / "plan.json").write_text("back")
    heard.hears("plan.json")


def test_a_burst_is_told_once_after_it(folder: Path) -> None:
    with watching(folder) as heard:
        for _ in range(10):
            (folder / "plan.md").write_text(str(time.monotonic()))
        last = time.monotonic()
        heard_at = _first(heard)
        assert QUIET_S * 0.9 <= heard_at - last <= QUIET_S + 0.15
        assert heard.quiet()
        assert len(heard.told) == 1


@pytest.mark.slow
def test_a_hundred_saves_a_second_are_taken_in_while_they_go_on(folder: Path) -> None:
    with watching(folder) as heard:
        began = time.monotonic()
        while time.monotonic() < began + 2:
            (folder / "plan.md").write_text(str(time.monotonic()))
            time.sleep(0.01)
        ended = time.monotonic()
        assert 2 <= len([at for at, _ in heard.told if at < ended]) <= 6
        until(lambda: heard.told[-1][0] > ended, 30)


def _first(heard: Heard) -> float:
    until(lambda: heard.told, 30)
    return heard.told[0][0]


# --- the folder goes away ---


@pytest.mark.slow
def test_a_deleted_folder_is_survived_said_once_and_taken_up_again(heard: Heard) -> None:
    how = heard.watch.watching
    shutil.rmtree(heard.folder)
    until(lambda: heard.watch.lost, 30)
    time.sleep(0.5)
    (gone,) = heard.notices
    assert "is gone" in gone
    heard.told.clear()
    heard.folder.mkdir()
    (heard.folder / "plan.md").write_text("back")
    heard.hears(*NAMES)
    assert heard.notices[1:] == [f"{heard.folder} is back"]
    assert (heard.returns, heard.watch.watching) == (1, how)
    (heard.folder / "plan.md").write_text("newer")
    heard.hears("plan.md")


@pytest.mark.slow
def test_a_replaced_folder_is_noticed(heard: Heard) -> None:
    other = heard.folder.with_name("other")
    shutil.copytree(heard.folder, other)
    heard.folder.rename(heard.folder.with_name("away"))
    other.rename(heard.folder)
    until(lambda: heard.returns, 30)
    heard.hears(*NAMES)
    (heard.folder / "plan.md").write_text("newer")
    heard.hears("plan.md")


def test_a_symbolic_link_in_the_folders_place_is_no_folder(heard: Heard) -> None:
    away = heard.folder.with_name("away")
    heard.folder.rename(away)
    heard.folder.symlink_to(away)
    until(lambda: heard.watch.lost, 30)


def test_it_starts_without_the_folder_and_takes_it_up(tmp_path: Path) -> None:
    with watching(tmp_path / ".swarm") as heard:
        assert heard.watch.lost
        heard.folder.mkdir()
        until(lambda: heard.returns, 30)
        (heard.folder / "plan.md").write_text("new")
        heard.hears("plan.md")
        assert heard.watch.watching is Watching.EVENTS


# --- what it costs ---


def _handles() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_nothing_grows(folder: Path) -> None:
    with watching(folder) as heard:
        threads, handles = threading.active_count(), _handles()
        for number in range(300):
            (folder / "plan.md").write_text(str(number))
        heard.hears("plan.md")
        for _ in range(3):
            shutil.rmtree(folder)
            until(lambda: heard.watch.lost, 30)
            folder.mkdir()
            until(lambda: not heard.watch.lost, 30)
            heard.hears(*NAMES)
        until(lambda: threading.active_count() == threads, 30)
        assert _handles() == handles


def test_a_listener_that_fails_does_not_end_the_watch(folder: Path) -> None:
    calls: list[frozenset[Path]] = []
    notices: list[str] = []

    def changed(paths: frozenset[Path]) -> None:
        calls.append(paths)
        raise RuntimeError("no")

    watch = FileWatch([folder / "plan.md"], changed, debounce_s=0.05, poll_s=0.2, notice=notices.append)
    watch.start()
    for number in (1, 2):
        (folder / "plan.md").write_text(f"new {number}")
        until(lambda: len(calls) == number, 5)  # noqa: B023 - called at once
    assert watch.stop()
    assert notices == ["RuntimeError: no"] * 2


def test_watchdog_says_nothing_on_the_terminal(tmp_path: Path) -> None:
    """Without a handler of its own, Python writes a library's warnings to stderr."""
    for _ in range(3):
        events = FileEvents()
        events.start(tmp_path, lambda _: None, lambda: None)
        events.stop()
    assert [type(each) for each in logging.getLogger("watchdog").handlers] == [logging.NullHandler]

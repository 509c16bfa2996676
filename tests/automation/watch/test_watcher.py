"""Tests the watcher on a real folder: what it starts, survives and reports, and how it ends."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.domain.story import started
from tests.project import until

from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.automation.watch.status_board import StatusBoard
from swarmgate.automation.watch.watcher import Watcher
from swarmgate.config import Automation, Capabilities
from swarmgate.domain.events.automation import AutomationEvent, BreakerState, DriftFound, Happening, PlanSynced
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.state.state import State
from swarmgate.domain.status import LAST_EVENTS, StatusFile
from swarmgate.domain.usage import Usage
from swarmgate.errors import AlreadyWatching, ConfigError, LedgerWriteFailed, NotAProject, UsageError
from swarmgate.journal.lock import WriterLock, live_owner
from swarmgate.ledger.files import status_file
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

BESIDE = "watches this project already, and does the work in the background"
CONFIG = Automation(mode="manual", debounce_s=0.05, poll_s=0.2)


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    made = SwarmFolder(tmp_path)
    made.create()
    with Ledger.write(made) as ledger:
        for event in started():
            ledger.append([event], expect=ledger.state.seq)
    return made


class Echo:
    """A worker that works on every event of the ledger."""

    limit_s: float | None = None

    def __init__(self, name: str = "echo", work: Callable[[str], AutomationEvent | None] = lambda _: None) -> None:
        self.name = name
        self.seen: list[str] = []
        self._work = work

    def subject(self, seen: BusEvent) -> str:
        return f"{seen.happening.type} {seen.happening.seq}" if seen.happening.source == "ledger" else ""

    def work(self, subject: str, seen: BusEvent) -> AutomationEvent | None:
        del seen
        self.seen.append(subject)
        return self._work(subject)


def watcher_at(folder: SwarmFolder, *workers: Worker, **more: object) -> Watcher:
    given = {"config": CONFIG, "place": "watch", "sync": lambda: None, **more}
    return Watcher(folder, workers, **given)  # type: ignore[arg-type]  # a test's shorthand


@contextmanager
def at_work(folder: SwarmFolder, *workers: Worker, **more: object) -> Iterator[Watcher]:
    watcher = watcher_at(folder, *workers, **more)
    watcher.start()
    try:
        yield watcher
    finally:
        assert watcher.stop()


def status(folder: SwarmFolder) -> StatusFile:
    found = status_file.read(folder)
    assert found is not None
    return found


def told(folder: SwarmFolder, kind: str) -> list[Happening]:
    return [each for each in AutomationLog(folder).read() if each.type == kind]


def append(folder: SwarmFolder) -> int:
    """Records an event that changes nothing of the plan; returns its position."""
    with Ledger.write(folder) as ledger:
        used = UsageRecorded(role="coder", task="", usage=Usage(calls=1, prompt_tokens=10, usd=0.5))
        return ledger.append([used], expect=ledger.state.seq).seq


# --- what it does ---


def test_events_of_the_ledger_reach_the_workers(folder: SwarmFolder) -> None:
    echo = Echo(work=lambda subject: DriftFound(signals=(subject,)))
    with at_work(folder, echo):
        seq = append(folder)
        until(lambda: echo.seen == [f"usage_recorded {seq}"], 30)
        until(lambda: told(folder, "drift_found"), 30)
        assert [each.data["workers"] for each in told(folder, "watch_started")] == [["plan_sync", "echo"]]


@pytest.mark.slow
def test_a_change_of_a_plan_file_starts_a_pass_and_one_of_another_does_not(folder: SwarmFolder) -> None:
    passes: list[float] = []

    def sync() -> PlanSynced | None:
        passes.append(time.monotonic())
        return PlanSynced(restored=("plan.md",)) if len(passes) > 1 else None

    with at_work(folder, sync=sync):
        until(lambda: len(passes) == 1)
        (folder.path / "notes.md").write_text("x")
        time.sleep(0.3)
        assert len(passes) == 1
        folder.plan_md.unlink()
        until(lambda: len(passes) == 2)
        until(lambda: told(folder, "plan_synced"))


def test_plan_sync_is_off_where_the_settings_say_so(folder: SwarmFolder) -> None:
    passes: list[int] = []
    off = CONFIG.model_copy(update={"capabilities": Capabilities(plan_sync=False)})
    with at_work(folder, config=off, sync=lambda: passes.append(1)) as watcher:
        folder.plan_md.write_text("edited")
        time.sleep(0.3)
        assert (watcher.on, passes) == ((), [])
        assert [(each.name, each.on) for each in status(folder).workers] == [("plan_sync", False)]


@pytest.mark.slow
def test_a_worker_that_fails_takes_nobody_down(folder: SwarmFolder) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("boom")

    bad, good = Echo("bad", fail), Echo("good")
    with at_work(folder, bad, good):
        append(folder)
        until(lambda: good.seen, 30)
        until(lambda: told(folder, "worker_failed"), 30)
        until(lambda: {each.name: each.failures for each in status(folder).workers}["bad"] >= 1, 30)


# --- status.json ---


@pytest.mark.slow
def test_the_status_tells_how_everything_stands(folder: SwarmFolder) -> None:
    echo = Echo()
    with at_work(folder, echo, describe_event=lambda happening: happening.type.replace("_", " ")):
        first = status(folder)
        assert (first.version, first.place, first.mode, first.watching, first.reason) == (
            1,
            "watch",
            "manual",
            "events",
            "",
        )
        seq = append(folder)
        until(lambda: status(folder).work.seq == seq, 30)
        until(lambda: status(folder).workers[1].last == "usage_recorded", 30)
        until(lambda: not status(folder).workers[1].pending, 30)
        now = status(folder)
        assert [(each.name, each.state, each.pending) for each in now.workers] == [
            ("plan_sync", BreakerState.CLOSED, 0),
            ("echo", BreakerState.CLOSED, 0),
        ]
        assert (now.work.cost.tokens, now.work.cost.usd, now.work.phase, now.work.running) == (10, 0.5, 1, "")
        assert (now.work.step, now.work.task, now.work.waiting) == ("delegate", "1.1", "")
        assert any(each.text == "watch started" for each in now.last_events)
        with Ledger.write(folder):
            until(lambda: status(folder).work.running.startswith("pid "), 30)
        for _ in range(LAST_EVENTS):
            append(folder)
        until(lambda: len(status(folder).last_events) == LAST_EVENTS, 30)
        newest = status(folder).last_events
        assert [each.time for each in newest] == sorted((each.time for each in newest), reverse=True)
    last = status(folder)
    assert last.watching == "stopped"
    assert told(folder, "watch_stopped")


def test_a_run_that_ends_says_that_nobody_works_any_more(folder: SwarmFolder) -> None:
    with Ledger.write(folder), at_work(folder, place="run", sync=None):
        running = status(folder)
        assert f"pid {os.getpid()}" in running.work.running
        assert [(each.name, each.on, each.by) for each in running.workers] == [("plan_sync", True, "the run")]
        its_status = running
    assert status(folder).work == its_status.work.model_copy(update={"running": ""})
    off = CONFIG.model_copy(update={"capabilities": Capabilities(plan_sync=False)})
    with at_work(folder, config=off, place="run", sync=None):
        assert [(each.on, each.by) for each in status(folder).workers] == [(False, "")]


def test_the_newest_event_is_first_however_late_it_was_told(folder: SwarmFolder) -> None:
    board = StatusBoard(
        folder, "watch", describe_event=lambda each: each.type, on_event=lambda *_: None, changed=lambda: None
    )
    for seq, time_ in ((1, "T10"), (2, "T30"), (3, "T20"), (4, "T30")):
        told = Happening(source="ledger", seq=seq, time=time_, actor="x", data={"type": "goal_set"})
        board.handle(BusEvent(told, State(), State()))
    board.write(State(), mode="manual", watching="events", reason="", workers=(), edits_waiting=(), config_problem="")
    assert [each.seq for each in status(folder).last_events] == [4, 2, 3, 1]


@pytest.mark.slow
def test_the_status_is_not_written_more_often_than_twice_a_second(folder: SwarmFolder) -> None:
    with at_work(folder):
        written: set[str] = set()
        ends = time.monotonic() + 1.6
        while time.monotonic() < ends:
            append(folder)
            written.add(status(folder).written_at)
            time.sleep(0.02)
        assert 2 <= len(written) <= 5


# --- one watcher a project ---


class Beating(Watcher):
    """Counts how often its own thread goes round."""

    beats = 0

    def _beat(self) -> None:
        self.beats += 1
        super()._beat()


@pytest.mark.slow
def test_its_thread_waits_between_two_writes_of_the_status(folder: SwarmFolder) -> None:
    watcher = Beating(folder, (Echo(),), config=CONFIG, place="watch", sync=lambda: None)
    watcher.start()
    append(folder)
    until(lambda: status(folder).work.seq == Ledger.read(folder).state.seq, 30)
    assert watcher.beats < 40
    shutil.move(folder.path, folder.root / "away")
    time.sleep(1.2)  # the status is due, and has nowhere to be written to
    before = watcher.beats
    time.sleep(1)
    assert watcher.beats - before < 10
    watcher.stop()


def test_a_second_watcher_is_refused_by_the_pid_of_the_first(folder: SwarmFolder) -> None:
    with at_work(folder), pytest.raises(AlreadyWatching, match=f"pid {os.getpid()}"):
        watcher_at(folder).start()
    with at_work(folder):
        pass


def test_a_run_beside_a_watcher_goes_on_without_a_watcher(folder: SwarmFolder) -> None:
    notices: list[str] = []
    with at_work(folder):
        beside = watcher_at(folder, place="run", notice=notices.append)
        beside.start()
        assert not beside.active
        assert notices == [f"pid {os.getpid()} on {os.uname().nodename} {BESIDE}"]
        assert beside.stop()
        assert status(folder).place == "watch"


def test_a_symbolic_link_is_refused(tmp_path: Path, folder: SwarmFolder) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.swarm").symlink_to(folder.path)
    with pytest.raises(UsageError, match="symbolic link"):
        watcher_at(SwarmFolder(tmp_path / "other")).start()
    with pytest.raises(NotAProject):
        watcher_at(SwarmFolder(tmp_path / "nowhere")).start()


def test_where_the_lock_cannot_be_written_a_watcher_says_so_and_a_run_goes_on(folder: SwarmFolder) -> None:
    """As on a read-only disk; root may write wherever modes forbid it, so a file stands in the folder's place."""
    shutil.rmtree(folder.runtime)
    folder.runtime.write_text("in the way")
    with pytest.raises(LedgerWriteFailed, match=r"watch\.lock could not be written"):
        watcher_at(folder).start()
    notices: list[str] = []
    beside = watcher_at(folder, place="run", notice=notices.append)
    beside.start()
    assert (beside.active, len(notices)) == (False, 1)


# --- what goes away ---


@pytest.mark.slow
def test_the_folder_goes_and_comes_back(folder: SwarmFolder) -> None:
    passes, notices = [], list[str]()
    echo = Echo()
    with at_work(folder, echo, sync=lambda: passes.append(1), notice=notices.append):
        until(lambda: passes)
        away = folder.path.with_name("away")
        folder.path.rename(away)
        until(lambda: any("is gone" in each for each in notices), 30)
        time.sleep(0.7)
        assert not folder.path.exists()  # nothing is made anew
        before = len(passes)
        away.rename(folder.path)
        until(lambda: len(passes) > before, 30)
        seq = append(folder)
        until(lambda: f"usage_recorded {seq}" in echo.seen, 30)
        assert live_owner(folder.watch_lock)
    assert status(folder).watching == "stopped"


@pytest.mark.slow
def test_a_removed_lock_is_taken_anew(folder: SwarmFolder) -> None:
    with at_work(folder):
        shutil.rmtree(folder.runtime)
        append(folder)
        until(lambda: live_owner(folder.watch_lock), 30)
        until(lambda: status_file.read(folder), 30)


@pytest.mark.slow
def test_a_second_watcher_beside_a_removed_lock_ends_the_first_within_two_seconds(folder: SwarmFolder) -> None:
    watcher = watcher_at(folder)
    watcher.start()
    time.sleep(0.6)  # its next sign of life is due in half a minute
    shutil.rmtree(folder.runtime)
    with at_work(folder):
        began = time.monotonic()
        watcher.wait()
        assert time.monotonic() - began < 15
        assert "Another process watches" in watcher.why
        assert watcher.stop()
        assert live_owner(folder.watch_lock)


def test_another_watcher_in_a_new_folder_ends_this_one(folder: SwarmFolder) -> None:
    watcher = watcher_at(folder)
    watcher.start()
    folder.path.rename(folder.path.with_name("away"))
    until(lambda: not live_owner(folder.watch_lock))
    new = SwarmFolder(folder.root / "new")  # its lock is taken before it stands there: who is first is no chance
    new.create()
    with WriterLock(new.watch_lock, place="watch"):
        new.path.rename(folder.path)
        watcher.wait()
        assert "Another process watches" in watcher.why
        assert watcher.stop()


# --- settings ---


@pytest.mark.slow
def test_settings_are_composed_anew(folder: SwarmFolder) -> None:
    composed: dict[str, object] = {"config": CONFIG, "workers": ()}
    echo, notices = Echo(), list[str]()

    def reload() -> tuple[Automation, Sequence[Worker]]:
        if composed["config"] is None:
            raise ConfigError("automation.mode: no such mode")
        return composed["config"], composed["workers"]  # type: ignore[return-value]  # as above

    with at_work(folder, reload=reload, notice=notices.append) as watcher:
        composed["workers"] = (echo,)
        folder.config.write_text("# changed\n")
        until(lambda: watcher.on == ("plan_sync", "echo"), 30)
        assert notices == ["the settings changed; on now: plan_sync, echo"]
        append(folder)
        until(lambda: echo.seen, 30)

        composed["config"] = None
        folder.config.write_text("[automation]\nmode = 'x'\n")
        until(lambda: status(folder).config_problem == "automation.mode: no such mode", 30)
        assert watcher.on == ("plan_sync", "echo")
        (failed,) = told(folder, "worker_failed")
        assert failed.data["worker"] == "watch"

        composed["config"] = CONFIG.model_copy(update={"capabilities": Capabilities(plan_sync=False)})
        composed["workers"] = ()
        folder.config.write_text("# changed again\n")
        until(lambda: watcher.on == (), 30)
        until(lambda: not status(folder).config_problem, 30)
        echo.seen.clear()
        append(folder)
        time.sleep(0.4)
        assert echo.seen == []


# --- the end ---


@pytest.mark.slow
def test_it_stops_within_two_seconds_under_load(folder: SwarmFolder) -> None:
    forever = threading.Event()

    def wait() -> None:
        forever.wait(30)

    stuck = Echo("stuck", lambda _: wait())
    slow = Echo("slow", lambda _: time.sleep(0.2))
    watcher = watcher_at(folder, stuck, slow, sync=wait)
    watcher.start()
    for _ in range(20):
        append(folder)
    until(lambda: stuck.seen and slow.seen, 30)
    began = time.monotonic()
    assert not watcher.stop(2)
    assert time.monotonic() - began < 15
    assert status(folder).watching == "stopped"
    assert not live_owner(folder.watch_lock)
    assert watcher.stop()
    forever.set()


def test_a_stop_request_in_a_file_is_heard(folder: SwarmFolder) -> None:
    with at_work(folder) as watcher:
        folder.watch_stop.touch()
        watcher.wait()
        assert watcher.why == "asked to stop"
    with at_work(folder):
        assert not folder.watch_stop.exists()


def test_no_thread_is_left(folder: SwarmFolder) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        with at_work(folder, Echo()):
            append(folder)
    until(lambda: set(threading.enumerate()) <= before, 30)

"""The worker of plan sync: when it makes a pass, when it waits, and what stops it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.project import until

from swarmgate.automation.bus import breaker
from swarmgate.automation.bus.breaker import FAILURES, SAME_TRIGGERS
from swarmgate.automation.plan_sync import worker
from swarmgate.automation.plan_sync.worker import PlanSync
from swarmgate.domain.events.automation import (
    AutomationEvent,
    BreakerChanged,
    BreakerState,
    PlanSynced,
    SyncDeferred,
    TriggerSuppressed,
    WorkerFailed,
)
from swarmgate.errors import LedgerError
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace

Pass = Callable[[], PlanSynced | SyncDeferred | None]
SYNCED = PlanSynced(amended=("plan.md",))


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    made = SwarmFolder(tmp_path)
    made.runtime.mkdir(parents=True)
    made.plan_md.write_text("<!-- swarm plan: seq 7 -->\nold\n")
    return made


class Passes:
    """Passes that are counted and do as told."""

    def __init__(self, outcome: Pass = lambda: None) -> None:
        self.outcome = outcome
        self.count = 0

    def __call__(self) -> PlanSynced | SyncDeferred | None:
        self.count += 1
        return self.outcome()


@contextmanager
def at_work(folder: SwarmFolder, passes: Pass, call_s: float = 5) -> Iterator[tuple[PlanSync, list[AutomationEvent]]]:
    told: list[AutomationEvent] = []
    sync = PlanSync(folder, passes, told.append, call_s=call_s)
    sync.start()
    try:
        yield sync, told
    finally:
        sync.stop(2)


def _raise(error: Exception) -> PlanSynced | None:
    raise error


def test_it_begins_with_a_pass_and_makes_one_for_each_change(folder: SwarmFolder) -> None:
    passes = Passes()
    with at_work(folder, passes) as (sync, told):
        until(lambda: passes.count == 1)
        sync.poke()
        until(lambda: passes.count == 2)
        time.sleep(0.1)
        assert (passes.count, told) == (2, [])
        passes.outcome = lambda: SYNCED
        sync.poke()
        until(lambda: told == [SYNCED])
        assert sync.snapshot().last == "file_changed"


@pytest.mark.slow
def test_an_edit_waits_for_the_lock_and_is_told_once(folder: SwarmFolder) -> None:
    deferred = SyncDeferred(sources=("plan.md",), reason="pid 7 is at work")
    passes = Passes(lambda: deferred)
    with WriterLock(folder.lock), at_work(folder, passes) as (sync, told):
        until(lambda: told == [deferred])
        assert sync.waiting == ("plan.md",)
        sync.poke()
        until(lambda: passes.count == 2)
        time.sleep(3 * worker.LOOK_S)
        assert (passes.count, told) == (2, [deferred])  # the lock was looked at, and no pass was made in vain
        assert sync.waiting == ("plan.md",)


@pytest.mark.slow
def test_it_goes_on_when_the_lock_is_free_again(folder: SwarmFolder) -> None:
    passes = Passes(lambda: SyncDeferred(sources=("plan.md",), reason="locked"))
    with WriterLock(folder.lock) as lock, at_work(folder, passes) as (sync, told):
        until(lambda: len(told) == 1)
        passes.outcome = lambda: SYNCED
        lock.release()
        until(lambda: told[-1] == SYNCED, 30)
        assert sync.waiting == ()


@pytest.mark.slow
def test_a_locked_ledger_without_an_edit_is_not_told(folder: SwarmFolder) -> None:
    passes = Passes(lambda: SyncDeferred(reason="locked"))
    with WriterLock(folder.lock) as lock, at_work(folder, passes) as (sync, told):
        until(lambda: passes.count == 1)
        assert (sync.waiting, told) == ((), [])
        passes.outcome = lambda: None
        lock.release()
        until(lambda: passes.count == 2, 30)
        assert told == []


def test_failures_open_the_breaker_and_it_rests(folder: SwarmFolder) -> None:
    passes = Passes(lambda: _raise(LedgerError("the disk is full")))
    with at_work(folder, passes) as (sync, told):
        for number in range(1, FAILURES + 1):
            until(lambda: passes.count == number, 5)  # noqa: B023 - called at once
            sync.poke()
        until(lambda: sync.snapshot().state is BreakerState.OPEN)
        sync.poke()
        time.sleep(0.2)
        assert passes.count == FAILURES
        failed = [each for each in told if isinstance(each, WorkerFailed)]
        assert [each.error for each in failed] == ["the disk is full"] * FAILURES
        (changed,) = [each for each in told if isinstance(each, BreakerChanged)]
        assert (changed.worker, changed.state, changed.reason) == ("plan_sync", BreakerState.OPEN, "the disk is full")
        assert sync.snapshot().failures == FAILURES


@pytest.mark.slow
def test_a_failed_pass_is_tried_again_by_itself(folder: SwarmFolder) -> None:
    passes = Passes(lambda: _raise(RuntimeError("odd")))
    with at_work(folder, passes) as (sync, told):
        until(lambda: told)
        passes.outcome = lambda: SYNCED
        until(lambda: told[-1] == SYNCED, 30)
        (failed,) = [each for each in told if isinstance(each, WorkerFailed)]
        assert failed.error == "RuntimeError: odd"
        assert sync.snapshot().failures == 0


@pytest.mark.slow
def test_a_pass_that_takes_too_long_counts_as_failed_and_no_other_begins_meanwhile(folder: SwarmFolder) -> None:
    go_on = threading.Event()

    def slow() -> PlanSynced:
        go_on.wait(60)
        return SYNCED

    passes = Passes(slow)
    with at_work(folder, passes, call_s=0.1) as (sync, told):
        until(lambda: told)
        (late,) = told
        assert isinstance(late, WorkerFailed)
        assert late.timed_out
        sync.poke()
        time.sleep(0.7)
        assert passes.count == 1
        passes.outcome = lambda: None
        go_on.set()
        until(lambda: SYNCED in told, 3)  # what it did in the end is told
        until(lambda: passes.count == 2, 30)


def test_a_program_that_undoes_each_pass_is_not_followed_forever(folder: SwarmFolder) -> None:
    """It writes its own version anew each time; the position in it differs, as after an edit that was refused."""
    passes = Passes(lambda: PlanSynced(refused=("plan.md",)))
    with at_work(folder, passes) as (sync, told):
        for number in range(1, SAME_TRIGGERS + 5):
            until(lambda: passes.count == min(number, SAME_TRIGGERS), 5)  # noqa: B023 - called at once
            replace(folder.plan_md, f"<!-- swarm plan: seq {number} -->\nold\n", durable=False)
            sync.poke()
        time.sleep(0.2)
        assert passes.count == SAME_TRIGGERS
        (held,) = [each for each in told if isinstance(each, TriggerSuppressed)]
        assert (held.capability, held.count) == ("plan_sync", SAME_TRIGGERS + 1)
        assert sync.snapshot().suppressed
        folder.plan_md.write_text("another edit")
        sync.poke()
        until(lambda: passes.count == SAME_TRIGGERS + 1)
        assert not sync.snapshot().suppressed


@pytest.mark.slow
def test_many_different_edits_are_all_followed(folder: SwarmFolder) -> None:
    passes = Passes(lambda: SYNCED)
    with at_work(folder, passes) as (sync, told):
        for number in range(1, 31):
            until(lambda: passes.count == number, 5)  # noqa: B023 - called at once
            folder.plan_md.write_text(f"edit {number}")
            sync.poke()
        until(lambda: len(told) == 31)


def test_without_the_folder_nothing_is_done(folder: SwarmFolder) -> None:
    passes = Passes()
    with at_work(folder, passes) as (sync, _):
        until(lambda: passes.count == 1)
        folder.path.rename(folder.path.with_name("away"))
        sync.poke()
        time.sleep(0.2)
        assert passes.count == 1


def test_it_stops_in_time_though_a_pass_is_at_work(folder: SwarmFolder) -> None:
    go_on = threading.Event()

    def wait() -> None:
        go_on.wait(60)

    passes = Passes(wait)
    with at_work(folder, passes) as (sync, _):
        until(lambda: passes.count == 1)
        began = time.monotonic()
        assert not sync.stop(0.3)
        assert time.monotonic() - began < 30
        go_on.set()
        assert sync.stop(1)


def test_a_pipe_in_the_place_of_a_plan_holds_nobody_up(folder: SwarmFolder) -> None:
    folder.plan_md.unlink()
    os.mkfifo(folder.plan_md)
    passes = Passes()
    with at_work(folder, passes):
        until(lambda: passes.count == 1, 30)


@pytest.mark.slow
def test_an_open_breaker_closes_by_itself_when_passes_succeed_again(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (breaker, worker):
        monkeypatch.setattr(module, "RESET_S", 0.5)
    monkeypatch.setattr(worker, "LOOK_S", 0.05)
    passes = Passes(lambda: _raise(LedgerError("the disk is full")))
    with at_work(folder, passes) as (sync, told):
        for number in range(1, FAILURES + 1):
            until(lambda: passes.count == number, 5)  # noqa: B023 - called at once
            sync.poke()
        until(lambda: not sync.snapshot().pending)  # a poke while it is open is no pass
        assert passes.count == FAILURES
        passes.outcome = lambda: None
        until(lambda: sync.snapshot().state is BreakerState.CLOSED, 3)  # nobody edits anything
        states = [each.state for each in told if isinstance(each, BreakerChanged)]
        assert states == [BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED]
        assert passes.count == FAILURES + breaker.SUCCESSES
        time.sleep(0.3)
        assert passes.count == FAILURES + breaker.SUCCESSES


@pytest.mark.slow
def test_what_was_held_back_is_looked_at_again_when_it_was_quiet(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (breaker, worker):
        monkeypatch.setattr(module, "WITHIN_S", 1.0)
    passes = Passes(lambda: SYNCED)
    with at_work(folder, passes) as (sync, told):
        for number in range(1, SAME_TRIGGERS + 2):
            until(lambda: passes.count == min(number, SAME_TRIGGERS), 5)  # noqa: B023 - called at once
            sync.poke()
        until(lambda: isinstance(told[-1], TriggerSuppressed))
        until(lambda: passes.count > SAME_TRIGGERS, 4)  # by itself
        assert not sync.snapshot().suppressed


def test_an_edit_that_waits_for_the_user_is_told_and_not_asked_about_again(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOK_S", 0.05)
    deferred = SyncDeferred(sources=("plan.md",), reason="a run is at work")
    passes = Passes(lambda: deferred)
    waits = SyncDeferred(sources=("plan.md",), reason="it may be an agent's", for_user=True)
    with WriterLock(folder.lock) as lock, at_work(folder, passes) as (sync, told):
        until(lambda: told == [deferred])
        passes.outcome = lambda: waits
        lock.release()
        until(lambda: told == [deferred, waits], 30)
        count = passes.count
        time.sleep(0.3)
        assert passes.count == count
        assert sync.waiting == ("plan.md",)
        passes.outcome = lambda: None
        sync.poke()
        until(lambda: sync.waiting == ())

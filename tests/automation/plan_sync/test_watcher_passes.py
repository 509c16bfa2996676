"""Tests passes of plan sync on a cached ledger."""

from __future__ import annotations

import json
import sys

import pytest
from tests.automation.conftest import record_start

from swarmgate.automation.plan_sync.watcher_passes import Passes
from swarmgate.domain.events.automation import PlanSynced, SyncDeferred
from swarmgate.domain.events.event import RunStarted
from swarmgate.engine.swarm import Swarm
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import HighWater
from swarmgate.ledger.ledger import Ledger


@pytest.fixture
def folder(planned_folder: SwarmFolder) -> SwarmFolder:
    return planned_folder


def edited(folder: SwarmFolder, title: str) -> None:
    data = json.loads(folder.plan_json.read_text())
    data["phases"][0]["tasks"][1]["title"] = title
    folder.plan_json.write_text(json.dumps(data))


def test_a_pass_takes_an_edit_in_and_the_next_one_finds_nothing(folder: SwarmFolder) -> None:
    sync = Passes(Swarm(folder.root).project)
    assert sync() is None
    edited(folder, "Another title")
    done = sync()
    assert isinstance(done, PlanSynced)
    assert (done.amended, done.refused) == (("plan.json",), ())
    assert "Another title" in folder.plan_md.read_text()
    assert sync() is None


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_a_file_that_somebody_is_writing_is_looked_at_again(folder: SwarmFolder) -> None:
    sync, text = Passes(Swarm(folder.root).project), folder.plan_md.read_text()
    with folder.plan_md.open("w") as file:
        file.write(text[:60])
        file.flush()
        assert sync() == SyncDeferred(sources=(), reason="plan.md is being written")
        file.write(text[60:].replace("Part 1.2", "Mine"))
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.amended == ("plan.md",)


def test_a_missing_file_comes_back(folder: SwarmFolder) -> None:
    sync = Passes(Swarm(folder.root).project)
    folder.plan_md.unlink()
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.restored == ("plan.md",)
    assert folder.plan_md.exists()


def test_while_the_ledger_is_locked_an_edit_waits_and_what_is_written_meanwhile_is_none(folder: SwarmFolder) -> None:
    sync = Passes(Swarm(folder.root).project)
    sync()
    with WriterLock(folder.lock):
        folder.plan_md.unlink()
        waits = sync()
        assert isinstance(waits, SyncDeferred)
        assert waits.sources == ()
        edited(folder, "Later")
        waits = sync()
        assert isinstance(waits, SyncDeferred)
        assert waits.sources == ("plan.json",)
        assert "pid " in waits.reason
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.amended == ("plan.json",)


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
def test_what_was_edited_during_a_run_without_a_sandbox_waits_for_the_user(folder: SwarmFolder, sandbox: str) -> None:
    sync = Passes(Swarm(folder.root).project)
    sync()
    with Ledger.write(folder) as run:
        ran = RunStarted(pid=1, host="h", max_rejections=3, critic_rounds=1, sandbox=sandbox)
        run.append([ran], expect=run.state.seq)
        edited(folder, "Easier")
        waits = sync()
        assert isinstance(waits, SyncDeferred)
        assert not waits.for_user
    done = sync()
    if sandbox != "none":
        assert isinstance(done, PlanSynced)
        return
    assert isinstance(done, SyncDeferred)
    assert (done.sources, done.for_user) == (("plan.json",), True)
    assert "swarm sync" in done.reason
    assert Ledger.read(folder).state.plan == Ledger.read(folder).state_at(run.state.seq).plan
    assert Swarm(folder.root).automation.sync().amended == ("plan.json",)
    assert sync() is None
    edited(folder, "Mine")  # nobody else is at work
    assert isinstance(sync(), PlanSynced)


def test_what_another_process_records_is_read_on(folder: SwarmFolder) -> None:
    sync = Passes(Swarm(folder.root).project)
    sync()
    edited(folder, "By another")
    Swarm(folder.root).automation.sync()
    assert sync() is None
    edited(folder, "By us")
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.amended == ("plan.json",)


def test_another_ledger_in_its_place_is_read_anew(folder: SwarmFolder) -> None:
    sync = Passes(Swarm(folder.root).project)
    edited(folder, "Before")
    sync()
    for path in (folder.ledger, folder.plan_md, folder.plan_json):
        path.unlink()
    HighWater(folder.root).put_away()  # as `swarm init` does
    record_start(folder)
    assert sync() is None
    edited(folder, "After")
    assert isinstance(sync(), PlanSynced)

"""Which workers a crew is made of, and the pass of plan sync on a ledger that is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.domain.story import started

from swarmgate.domain.automation import PlanSynced, SyncDeferred
from swarmgate.engine.automating import crew as crewing
from swarmgate.engine.automating.crew import Syncing, anew, workers_of
from swarmgate.engine.progress import Progress
from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.lock import WriterLock


@pytest.fixture
def folder(repo: Path) -> SwarmFolder:
    made = SwarmFolder(repo)
    made.create()
    _record(made)
    return made


def _record(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        for event in started():
            ledger.append([event], expect=ledger.state.seq)


def edited(folder: SwarmFolder, title: str) -> None:
    data = json.loads(folder.plan_json.read_text())
    data["phases"][0]["tasks"][1]["title"] = title
    folder.plan_json.write_text(json.dumps(data))


# --- who is on ---


def test_in_manual_mode_there_is_plan_sync_alone(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root)
    assert workers_of(swarm) == ()


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ('[automation]\nmode = "hybrid"\n', ["phase_preflight", "config_doctor", "evidence_auto_summaries",
                                              "decision_drift_detection"]),
        ("[automation.capabilities]\ndecision_drift_detection = true\n", ["decision_drift_detection"]),
        ('[hooks]\nphase_closed = "true"\n', ["hooks"]),
    ],
)  # fmt: skip
def test_what_is_switched_on_has_a_worker(folder: SwarmFolder, settings: str, names: list[str]) -> None:
    folder.config.write_text(settings)
    assert [worker.name for worker in workers_of(Swarm(folder.root))] == names


def test_one_that_cannot_begin_tells_so_once_and_the_others_begin(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(crewing._MODULES, "phase_preflight", "no_such_module")
    folder.config.write_text("[automation.capabilities]\nphase_preflight = true\n[hooks]\nphase_closed = 'true'\n")
    broken, hooks = workers_of(Swarm(folder.root))
    assert (broken.name, hooks.name) == ("phase_preflight", "hooks")
    seen = None
    assert broken.subject(seen) == "start"  # type: ignore[arg-type]  # it does not look at the event
    with pytest.raises(ModuleNotFoundError):
        broken.work("start", seen)  # type: ignore[arg-type]  # as above
    assert broken.subject(seen) == ""  # type: ignore[arg-type]  # as above


def test_settings_are_read_anew(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root, flags={"loop": {"max_rejections": 4}})
    assert swarm.config.automation.mode == "manual"
    folder.config.write_text('[automation]\nmode = "auto"\n')
    assert swarm.config.automation.mode == "manual"
    again = anew(swarm).config
    assert (again.automation.mode, again.loop.max_rejections) == ("auto", 4)


# --- a pass ---


def test_a_pass_takes_an_edit_in_and_the_next_one_finds_nothing(folder: SwarmFolder) -> None:
    sync = Syncing(Swarm(folder.root))
    assert sync() is None
    edited(folder, "Another title")
    done = sync()
    assert isinstance(done, PlanSynced)
    assert (done.amended, done.refused) == (("plan.json",), ())
    assert "Another title" in folder.plan_md.read_text()
    assert sync() is None


def test_a_missing_file_comes_back(folder: SwarmFolder) -> None:
    sync = Syncing(Swarm(folder.root))
    folder.plan_md.unlink()
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.restored == ("plan.md",)
    assert folder.plan_md.exists()


def test_every_problem_of_a_refused_edit_is_told(folder: SwarmFolder) -> None:
    notices: list[Progress] = []
    sync = Syncing(Swarm(folder.root, listener=notices.append))
    folder.plan_md.write_text(folder.plan_md.read_text().replace("- [ ]", "- [x]"))
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.refused == ("plan.md",)
    assert sum("complete" in notice.text for notice in notices) > 1
    assert "- [x]" not in folder.plan_md.read_text()


def test_while_the_ledger_is_locked_an_edit_waits_and_what_is_written_meanwhile_is_none(folder: SwarmFolder) -> None:
    sync = Syncing(Swarm(folder.root))
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


def test_what_another_process_records_is_read_on(folder: SwarmFolder) -> None:
    sync = Syncing(Swarm(folder.root))
    sync()
    edited(folder, "By another")
    Swarm(folder.root).automation.sync()
    assert sync() is None
    edited(folder, "By us")
    done = sync()
    assert isinstance(done, PlanSynced)
    assert done.amended == ("plan.json",)


def test_another_ledger_in_its_place_is_read_anew(folder: SwarmFolder) -> None:
    sync = Syncing(Swarm(folder.root))
    edited(folder, "Before")
    sync()
    for path in (folder.ledger, folder.plan_md, folder.plan_json):
        path.unlink()
    _record(folder)
    assert sync() is None
    edited(folder, "After")
    assert isinstance(sync(), PlanSynced)

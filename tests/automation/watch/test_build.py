"""Which workers a watcher is made of, and the pass of plan sync on a ledger that is kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.domain.story import started

from swarmgate.automation import workers
from swarmgate.automation.plan_sync.passes import Passes
from swarmgate.automation.watch.beside_run import workers_beside
from swarmgate.automation.watch.build import _alone, _beside_a_run
from swarmgate.automation.workers import workers_of
from swarmgate.domain.automation import (
    AutomationEvent,
    DoctorRan,
    EvidenceSummarised,
    Happening,
    PlanSynced,
    PreflightRan,
    SyncDeferred,
)
from swarmgate.domain.events import RunStarted
from swarmgate.domain.progress import Progress
from swarmgate.engine.ports import EnginePorts
from swarmgate.engine.swarm import Swarm
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger import newest
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.high_water import HighWater
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.tail import happening


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


def happened(event: AutomationEvent) -> Happening:
    return Happening(source="automation", seq=1, time="t", actor="x", data=event.model_dump(mode="json"))


def edited(folder: SwarmFolder, title: str) -> None:
    data = json.loads(folder.plan_json.read_text())
    data["phases"][0]["tasks"][1]["title"] = title
    folder.plan_json.write_text(json.dumps(data))


# --- who is on ---


def test_in_manual_mode_there_is_plan_sync_alone(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root)
    assert workers_of(swarm.project, EnginePorts()) == ()


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
    assert [worker.name for worker in workers_of(Swarm(folder.root).project, EnginePorts())] == names


def test_one_that_cannot_begin_tells_so_once_and_the_others_begin(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(workers._MODULES, "phase_preflight", "no_such_module")
    folder.config.write_text("[automation.capabilities]\nphase_preflight = true\n[hooks]\nphase_closed = 'true'\n")
    broken, hooks = workers_of(Swarm(folder.root).project, EnginePorts())
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
    again = swarm.project.anew().config
    assert (again.automation.mode, again.loop.max_rejections) == ("auto", 4)


# --- a pass ---


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


def test_every_problem_of_a_refused_edit_is_told_once(folder: SwarmFolder) -> None:
    told: list[Progress] = []
    sync = Passes(Swarm(folder.root, listener=told.append).project)
    wrong = folder.plan_md.read_text().replace("- [ ]", "- [x]")
    for times in (1, 2):  # the very same edit again is told again, and is not in the ledger again
        folder.plan_md.write_text(wrong)
        done = sync()
        assert isinstance(done, PlanSynced)
        assert (done.refused, len(told)) == (("plan.md",), times - 1)
        assert "- [x]" not in folder.plan_md.read_text()
    (entry,) = [each for each in newest.entries(folder) if each.event.type == "edit_refused"]
    heard: list[Progress] = []
    in_words = _alone(heard.append)
    in_words(happening(entry), "not in full")
    in_words(happened(PlanSynced(refused=("plan.md",))), "plan synced")
    (text,) = [each.text for each in heard]
    assert text == told[0].text
    assert (heard[0].time, heard[0].kind) == (entry.time, "event")
    lines = text.splitlines()
    assert lines[0] == "your edit of plan.md cannot stand; plan.md is as the ledger says again:"
    assert len(lines) > 3
    assert all(line.startswith("  plan.md line ") and line.count("plan.md") == 1 for line in lines[1:-1])
    assert lines[-1].startswith("  It is kept in .swarm/quarantine/")


def test_a_pass_that_wrote_a_file_again_is_told(folder: SwarmFolder) -> None:
    heard: list[Progress] = []
    _alone(heard.append)(happened(PlanSynced(restored=("plan.md",))), "restored")
    assert [each.text for each in heard] == ["restored"]


def test_a_run_hears_of_its_workers_what_it_does_not_tell_itself() -> None:
    heard: list[Progress] = []
    tell = _beside_a_run(heard.append)
    summed = EvidenceSummarised(task="1.1", reason="2 attempts")
    for event, text in (
        (PreflightRan(phase=1, passed=True), "preflight of phase 1 passed"),
        (summed, "summed up"),
        (summed, "summed up"),
        (DoctorRan(passed=False, problems=("one", "two")), "doctor: one and 1 more"),
        (summed, "summed up"),
    ):
        tell(happened(event), text)
    assert [each.text for each in heard] == ["summed up", "x: one", "x: two", "summed up"]


def test_a_run_tells_what_its_watcher_tells_as_its_own(folder: SwarmFolder) -> None:
    told: list[tuple[str, str]] = []
    project = Swarm(folder.root).project
    with WriterLock(folder.watch_lock), workers_beside(project, EnginePorts(), lambda *line: told.append(line)):
        pass
    ((kind, text),) = told
    assert kind == "notice"
    assert text.endswith("watches this project already, and does the work in the background")


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
    _record(folder)
    assert sync() is None
    edited(folder, "After")
    assert isinstance(sync(), PlanSynced)

"""Tests which events a watcher prints, by itself and during a run."""

from __future__ import annotations

import json

import pytest

from swarmgate.automation.plan_sync.watcher_passes import Passes
from swarmgate.automation.watch.make_watcher import _of_run, _of_watch
from swarmgate.automation.watch.run_workers import workers_during
from swarmgate.domain.events.automation import (
    AutomationEvent,
    DoctorRan,
    EvidenceSummarised,
    Happening,
    PlanSynced,
    PreflightRan,
)
from swarmgate.domain.progress import Progress
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.engine.swarm import Swarm
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger import raw_entries
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.tail import happening


@pytest.fixture
def folder(planned_folder: SwarmFolder) -> SwarmFolder:
    return planned_folder


def happened(event: AutomationEvent) -> Happening:
    return Happening(source="automation", seq=1, time="t", actor="x", data=event.model_dump(mode="json"))


def edited(folder: SwarmFolder, title: str) -> None:
    data = json.loads(folder.plan_json.read_text())
    data["phases"][0]["tasks"][1]["title"] = title
    folder.plan_json.write_text(json.dumps(data))


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
    (entry,) = [each for each in raw_entries.entries(folder) if each.event.type == "edit_refused"]
    heard: list[Progress] = []
    in_words = _of_watch(heard.append)
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
    _of_watch(heard.append)(happened(PlanSynced(restored=("plan.md",))), "restored")
    assert [each.text for each in heard] == ["restored"]


def test_a_run_hears_of_its_workers_what_it_does_not_tell_itself() -> None:
    heard: list[Progress] = []
    tell = _of_run(heard.append)
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
    with WriterLock(folder.watch_lock), workers_during(project, EnginePorts(), lambda *line: told.append(line)):
        pass
    ((kind, text),) = told
    assert kind == "notice"
    assert text.endswith("watches this project already, and does the work in the background")

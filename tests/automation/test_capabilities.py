"""Tests which capabilities are on and by which setting, and switching them in a file with comments."""

from __future__ import annotations

import json
import os

import pytest
from tests.project import Project

from swarmgate import config
from swarmgate.automation.capabilities import Capability, report, switch
from swarmgate.automation.workers import _Unbegun
from swarmgate.config import CAPABILITIES
from swarmgate.domain.events.automation import BreakerState, Watching
from swarmgate.domain.status import StatusFile, WorkerStatus
from swarmgate.engine import Swarm
from swarmgate.errors import ConfigError, UsageError
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files import status_file


def rows(project: Project, environ: dict[str, str] | None = None) -> dict[str, Capability]:
    return {each.name: each for each in report(Swarm(project.root, environ=environ or {}).project).capabilities}


def test_by_default_plan_sync_and_summaries_of_evidence_are_on(project: Project) -> None:
    found = report(Swarm(project.root, environ={}).project)
    assert (found.mode, found.mode_why, found.watching, found.told) == ("manual", "default", "", ())
    assert [each.name for each in found.capabilities] == list(CAPABILITIES)
    assert [each.name for each in found.capabilities if each.on] == ["plan_sync", "evidence_auto_summaries"]
    assert {each.why for each in found.capabilities} == {'mode "manual"'}
    assert all(each.meaning for each in found.capabilities)


def test_switching_keeps_what_stands_there(project: Project) -> None:
    text = project.folder.config.read_text()
    swarm = Swarm(project.root, environ={})
    swarm.automation.switch("phase_preflight", on=True)
    swarm.automation.switch("plan_sync", on=False)
    found = swarm.automation.switch("hybrid", on=True)
    before, after = (each.split("# Work in the background") for each in (text, project.folder.config.read_text()))
    assert (before[0], before[1].partition("\n\n")[2]) == (after[0], after[1].partition("\n\n")[2])
    assert project.folder.config.read_text().count("\n[automation.capabilities]") == 1
    by_name = {each.name: each for each in found.capabilities}
    assert (by_name["plan_sync"].on, by_name["phase_preflight"].on, by_name["config_doctor_autofix"].on) == (
        False, True, False,
    )  # fmt: skip
    place, _, line = by_name["plan_sync"].why.rpartition(" line ")
    lines = project.folder.config.read_text().splitlines()
    assert (place, lines[int(line) - 1]) == (".swarm/config.toml", "plan_sync = false")
    assert found.mode_why.startswith(".swarm/config.toml line ")
    settings = config.load(project_file=project.folder.config, environ={}).automation
    assert (settings.mode, settings.on("plan_sync"), settings.on("phase_preflight")) == ("hybrid", False, True)


@pytest.mark.parametrize("name", CAPABILITIES)
def test_each_one_on_and_off_again(project: Project, name: str) -> None:
    swarm = Swarm(project.root, environ={})
    for wanted in (True, False, True):
        found = switch(swarm.project, name, on=wanted)
        assert [each.on for each in found.capabilities if each.name == name] == [wanted]
        others = {each.name for each in found.capabilities if each.on and each.name != name}
        assert others <= {"plan_sync", "evidence_auto_summaries"}


def test_a_variable_that_wins_is_named(project: Project) -> None:
    environ = {"SWARM_AUTOMATION__CAPABILITIES__PLAN_SYNC": "true", "SWARM_AUTOMATION__MODE": "auto"}
    swarm = Swarm(project.root, environ=environ)
    found = switch(swarm.project, "plan_sync", on=False)
    told = "plan_sync is off in .swarm/config.toml now, and the variable SWARM_AUTOMATION__CAPABILITIES__PLAN_SYNC wins"
    assert found.told[0].startswith(told)
    by_name = {each.name: each for each in found.capabilities}
    assert by_name["plan_sync"].on
    assert by_name["plan_sync"].why == "environment variable SWARM_AUTOMATION__CAPABILITIES__PLAN_SYNC"
    assert switch(swarm.project, "phase_preflight", on=True).told == ()
    assert found.mode_why == "environment variable SWARM_AUTOMATION__MODE"


def test_autofix_without_the_doctor_is_told(project: Project) -> None:
    assert "does nothing" in switch(Swarm(project.root, environ={}).project, "config_doctor_autofix", on=True).told[0]


def test_what_there_is_none_of(project: Project) -> None:
    before = project.folder.config.read_bytes()
    swarm = Swarm(project.root, environ={})
    with pytest.raises(UsageError) as refused:
        switch(swarm.project, "plan_synk", on=True)
    assert refused.value.hint == "Did you mean plan_sync?"
    project.folder.config.write_bytes(before + b"\nnonsense = 1\n")
    with pytest.raises(ConfigError, match="nonsense"):
        switch(swarm.project, "plan_sync", on=True)
    assert project.folder.config.read_bytes() == before + b"\nnonsense = 1\n"


def test_workers_of_a_process_that_watches(project: Project) -> None:
    workers = (
        WorkerStatus(name="config_doctor", state=BreakerState.OPEN, pending=3),
        WorkerStatus(name="phase_preflight", problem="it could not begin: no tools"),
        WorkerStatus(name="hooks", problem="it could not begin: odd"),
    )
    status = StatusFile(
        written_at=status_file.stamp(), started_at="",
        heartbeat_s=5, pid=os.getpid(), host="here", place="daemon", mode="auto",
        watching=Watching.EVENTS.value, workers=workers,
    )  # fmt: skip
    assert status_file.write(project.folder, status) == ""
    assert rows(project)["phase_preflight"].state is None  # nobody holds the lock: it was left behind
    with WriterLock(project.folder.watch_lock):
        found = report(Swarm(project.root, environ={}).project)
        assert f"pid {os.getpid()}" in found.watching
        assert found.watching.endswith("(daemon)")
        by_name = {each.name: each for each in found.capabilities}
        doctor = by_name["config_doctor_on_startup"]
        assert (doctor.state, doctor.pending) == (BreakerState.OPEN, 3)
        assert by_name["phase_preflight"].state is BreakerState.CLOSED
        assert by_name["phase_preflight"].problem == "it could not begin: no tools"
        assert found.told == ("hooks: it could not begin: odd",)
        assert "  phase_preflight: it could not begin: no tools\n" in project.swarm("automation").stdout
        assert by_name["plan_sync"].state is None
        project.folder.status.write_text(json.dumps({"pid": 1}))
        assert report(Swarm(project.root, environ={}).project).watching == f"pid {os.getpid()} on {os.uname().nodename}"


def test_a_worker_that_could_not_begin_says_why() -> None:
    assert _Unbegun("hooks", ValueError("no shell")).problem == "it could not begin: no shell"

"""The doctor by hand and at start-up: it looks where that is on, and mends only where that is on too."""

from __future__ import annotations

import pytest
from tests.project import Project

from swarmgate.automation.worker import Seen
from swarmgate.domain.automation import DoctorRan, Happening
from swarmgate.domain.state import State
from swarmgate.engine import Swarm
from swarmgate.engine.automating.doctoring import at_startup, diagnose, worker
from swarmgate.engine.requirements import keys_withheld

ON = {"config_doctor_on_startup": True}
MENDING = {**ON, "config_doctor_autofix": True}


def seen(kind: str) -> Seen:
    happening = Happening(source="automation", seq=1, time="", actor="watch", data={"type": kind})
    return Seen(happening, State(), State())


@pytest.mark.slow
def test_one_doctor(project: Project) -> None:
    project.play(budget={"usd": 1})
    swarm = Swarm(project.root)
    assert swarm.doctor() == swarm.automation.doctor().checks == diagnose(swarm).checks
    assert "prices" in {each.name for each in swarm.doctor()}


@pytest.mark.slow
def test_a_budget_in_dollars_that_counts_nothing(project: Project) -> None:
    project.play(budget={"usd": 1}, roles__reviewer={"model": "local/unheard-of"})
    (check,) = [each for each in Swarm(project.root).doctor() if each.name == "prices"]
    assert "would never end" in check.problems[0]
    project.configure(budget={"usd": 1, "tokens": 10}, roles__reviewer={"model": "local/unheard-of"})
    (check,) = [each for each in Swarm(project.root).doctor() if each.name == "prices"]
    assert (check.passed, "local/unheard-of: the price is unknown" in check.warnings[0]) == (True, True)


@pytest.mark.slow
def test_mending_tells_before_it_writes(project: Project) -> None:
    project.play()
    ignore = project.folder.path / ".gitignore"
    ignore.write_text("/traces/\n")
    told: list[tuple[str, str]] = []
    swarm = Swarm(project.root)
    assert diagnose(swarm).fixed == ()
    found = diagnose(swarm, fix=True, tell=lambda diff: told.append((diff, ignore.read_text())))
    assert found.fixed == (".swarm/.gitignore",)
    assert told == [(found.diff, "/traces/\n")]
    assert diagnose(swarm, fix=True, tell=lambda diff: told.append((diff, ""))).fixed == ()
    assert len(told) == 1


def test_at_startup_it_looks_only_where_it_is_on(project: Project) -> None:
    project.play()
    assert at_startup(Swarm(project.root)) is None
    project.configure(automation__capabilities=ON)
    ran = at_startup(Swarm(project.root))
    assert ran is not None
    assert (ran.passed, ran.fixed, ran.backup) == (True, (), "")
    project.folder.config.write_text("[tests\n")
    assert at_startup(Swarm(project.root)) is None


def test_at_startup_it_mends_only_where_that_is_on(project: Project) -> None:
    project.play(automation__capabilities=ON)
    ignore = project.folder.path / ".gitignore"
    ignore.write_text("/traces/\n")
    swarm = Swarm(project.root)
    ran = at_startup(swarm)
    assert ran is not None
    assert ignore.read_text() == "/traces/\n"
    assert any(".swarm/.gitignore: lacks" in each for each in ran.problems)
    project.configure(automation__capabilities=MENDING)  # the object read its settings before: it looks again
    ran = at_startup(swarm)
    assert ran is not None
    assert ran.fixed == (".swarm/.gitignore",)
    assert (project.root / ran.backup).read_text() == "/traces/\n"


def test_the_worker_works_once_when_workers_begin(project: Project) -> None:
    project.play(automation__capabilities=ON)
    doctor = worker(Swarm(project.root))
    kinds = ("watch_started", "doctor_ran", "task_completed")
    assert [doctor.subject(seen(kind)) for kind in kinds] == ["start-up", "", ""]
    assert isinstance(doctor.work("start-up", seen("watch_started")), DoctorRan)
    assert (doctor.name, doctor.limit_s) == ("config_doctor", None)


def test_keys_that_a_run_withholds_meanwhile_are_not_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "x")
    project.play(automation__capabilities=ON, providers__local={"api_key_env": "LOCAL_KEY"})
    swarm = Swarm(project.root)
    doctor = worker(swarm)
    with keys_withheld(swarm.config):
        ran = doctor.work("start-up", seen("watch_started"))
    assert ran is not None
    assert not [each for each in ran.problems if "LOCAL_KEY" in each]

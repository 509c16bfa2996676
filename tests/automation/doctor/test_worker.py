"""Tests the doctor by hand and at start-up: it checks and repairs only where that is switched on."""

from __future__ import annotations

import pytest
from tests.llm.capabilities.test_reachability import answering
from tests.project import Project

from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.doctor.worker import at_startup, diagnose, worker
from swarmgate.config import Config
from swarmgate.domain.events.automation import DoctorRan, Happening
from swarmgate.domain.state.state import State
from swarmgate.engine import Swarm
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.engine.requirements import keys_withheld

ON = {"config_doctor_on_startup": True}
MENDING = {**ON, "config_doctor_autofix": True}


def seen(kind: str) -> BusEvent:
    happening = Happening(source="automation", seq=1, time="", actor="watch", data={"type": kind})
    return BusEvent(happening, State(), State())


@pytest.mark.slow
def test_one_doctor(project: Project) -> None:
    project.play(budget={"usd": 1})
    swarm = Swarm(project.root)
    assert swarm.doctor() == swarm.automation.doctor().checks == diagnose(swarm.project, EnginePorts()).checks
    found = {each.name: each for each in swarm.doctor()}
    assert "prices" in found
    assert (found["lists of models"].looked_at, found["lists of models"].warnings) == ("local lists its models", ())
    assert not project.requests


@pytest.mark.parametrize(
    ("status", "body", "path", "told"),
    [
        (200, b"<html>Open WebUI</html>", "/v1", "answers with a web page"),
        (200, b'{"error": "Unexpected endpoint"}', "", "answers, but not with a list of models"),
        (404, b"", "", "Is /v1 missing?"),
        (401, b"{}", "/v1", ""),
        (403, b"{}", "/v1", ""),
        (404, b"", "/v1", ""),
        (405, b"", "/v1", ""),
        (200, b'{"data": []}', "/v1", ""),
    ],
)
def test_endpoints_are_asked_for_their_lists(status: int, body: bytes, path: str, told: str) -> None:
    with answering(status, body) as url:
        local = {"base_url": url.removesuffix("/v1") + path, "api_key_env": "THE_KEY"}
        check = EnginePorts().model_lists(Config.model_validate({"providers": {"local": local}}))
    assert check.passed
    assert bool(check.warnings) == bool(told)
    assert told in "".join(check.warnings)


def test_what_other_checks_tell_is_not_told_twice_and_a_key_that_nobody_named_is_missed() -> None:
    with answering(401) as url:
        tables = {"down": {"base_url": "http://127.0.0.1:9/v1"}, "bare": {"base_url": url}}
        check = EnginePorts().model_lists(Config.model_validate({"providers": tables}))
    assert check.looked_at == "bare answers 401"
    assert "Name the variable with the key" in check.warnings[0]


def test_nothing_is_handed_to_the_addresses_that_a_project_names() -> None:
    seen: list[dict[str, str]] = []
    with answering(200, b'{"data": []}', seen=seen) as url:
        table = {"base_url": url, "api_key_env": "THE_KEY", "headers": {"X-Key": "s-e-c-r-e-t"}}
        EnginePorts().model_lists(Config.model_validate({"providers": {"local": table}}))
    assert seen
    assert not [each for each in seen if "authorization" in each or "s-e-c-r-e-t" in str(each)]


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
    assert diagnose(swarm.project, EnginePorts()).fixed == ()
    found = diagnose(swarm.project, EnginePorts(), fix=True, tell=lambda diff: told.append((diff, ignore.read_text())))
    assert found.fixed == (".swarm/.gitignore",)
    assert told == [(found.diff, "/traces/\n")]
    assert diagnose(swarm.project, EnginePorts(), fix=True, tell=lambda diff: told.append((diff, ""))).fixed == ()
    assert len(told) == 1


def test_at_startup_it_looks_only_where_it_is_on(project: Project) -> None:
    project.play()
    assert at_startup(Swarm(project.root).project, EnginePorts()) is None
    project.configure(automation__capabilities=ON)
    ran = at_startup(Swarm(project.root).project, EnginePorts())
    assert ran is not None
    assert (ran.passed, ran.fixed, ran.backup) == (True, (), "")
    project.folder.config.write_text("[tests\n")
    assert at_startup(Swarm(project.root).project, EnginePorts()) is None


def test_at_startup_it_mends_only_where_that_is_on(project: Project) -> None:
    project.play(automation__capabilities=ON)
    ignore = project.folder.path / ".gitignore"
    ignore.write_text("/traces/\n")
    swarm = Swarm(project.root)
    ran = at_startup(swarm.project, EnginePorts())
    assert ran is not None
    assert ignore.read_text() == "/traces/\n"
    assert any(".swarm/.gitignore: lacks" in each for each in ran.problems)
    project.configure(automation__capabilities=MENDING)  # the object read its settings before: it looks again
    ran = at_startup(swarm.project, EnginePorts())
    assert ran is not None
    assert ran.fixed == (".swarm/.gitignore",)
    assert (project.root / ran.backup).read_text() == "/traces/\n"


def test_the_worker_works_once_when_workers_begin(project: Project) -> None:
    project.play(automation__capabilities=ON)
    doctor = worker(Swarm(project.root).project, EnginePorts())
    kinds = ("watch_started", "doctor_ran", "task_completed")
    assert [doctor.subject(seen(kind)) for kind in kinds] == ["start-up", "", ""]
    assert isinstance(doctor.work("start-up", seen("watch_started")), DoctorRan)
    assert (doctor.name, doctor.limit_s) == ("config_doctor", None)


def test_keys_that_a_run_withholds_meanwhile_are_not_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "x")
    project.play(automation__capabilities=ON, providers__local={"api_key_env": "LOCAL_KEY"})
    swarm = Swarm(project.root)
    doctor = worker(swarm.project, EnginePorts())
    with keys_withheld(swarm.config):
        ran = doctor.work("start-up", seen("watch_started"))
    assert ran is not None
    assert not [each for each in ran.problems if "LOCAL_KEY" in each]

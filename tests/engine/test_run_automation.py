"""What works beside a run, and before its phases: the crew, the status artifact, preflight, the doctor."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from tests.project import Project, plain, plan, rule, until

from swarmgate.domain import events as ev
from swarmgate.domain.automation import PreflightRan
from swarmgate.engine import Swarm
from swarmgate.ledger.journal import Journal
from swarmgate.ledger.lock import live_owner

pytestmark = pytest.mark.suite("unittest")

HANGS = {"fault": {"kind": "hang"}}
PREFLIGHT = {"phase_preflight": True}


def told(project: Project, kind: str) -> list[dict[str, Any]]:
    """The events of automation of one type."""
    return [each.data for each in Journal(project.folder).read() if each.type == kind]


def workers_at_work() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("swarm-")]


# --- the crew ---


def test_a_run_tells_in_status_json_where_it_stands_while_it_works(project: Project) -> None:
    project.planned(rule("coder", "code", HANGS))
    process = project.start("run")
    status: dict[str, Any] = {}

    def coding() -> bool:
        nonlocal status
        if project.folder.status.exists():
            status = json.loads(project.folder.status.read_text())
        return bool(status) and status["work"]["step"] == "code"

    until(coding)
    work = status["work"]
    assert (work["phase"], work["task"], work["attempt"]) == (1, "1.1", 1)
    assert work["cost"]["tokens"] > 0
    assert work["cost"]["usd"] > 0
    assert f"{process.pid}" in work["running"]
    assert (status["place"], status["pid"], status["mode"]) == ("run", process.pid, "manual")
    process.terminate()
    process.communicate(timeout=20)
    assert json.loads(project.folder.status.read_text())["watching"] == "stopped"


def test_the_crew_begins_and_ends_with_the_run(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    assert [each["place"] for each in told(project, "watch_started")] == ["run", "run"]  # of `plan`, and of `run`
    assert len(told(project, "watch_stopped")) == 2
    assert not workers_at_work()
    assert not live_owner(project.folder.watch_lock)
    for verb in ("status", "show 1.1", "history", "verify", "approve"):
        project.swarm(*verb.split())
    assert len(told(project, "watch_started")) == 2  # verbs that do no work have none


def test_the_crew_leaves_it_to_another_process_that_watches(project: Project) -> None:
    project.planned()
    before = len(told(project, "watch_started"))
    watcher = project.start("watch")
    until(lambda: len(told(project, "watch_started")) > before)
    result = project.swarm("run", exits=3)
    assert f"{watcher.pid}" in result.stderr
    assert [each["place"] for each in told(project, "watch_started")][before:] == ["watch"]
    watcher.terminate()
    watcher.communicate(timeout=20)


def test_an_error_of_the_run_is_told_and_the_crew_ends_all_the_same(project: Project) -> None:
    project.planned(rule("reviewer", "review", {"fault": {"kind": "500", "retry_after": 0}}))
    result = project.swarm("run", exits=5)
    assert "the endpoint answered 500" in result.stderr
    assert not workers_at_work()


def test_what_the_crew_cannot_write_stops_no_run(project: Project) -> None:
    project.planned()
    for path in (project.folder.journal, project.folder.status):
        path.unlink(missing_ok=True)
        path.mkdir()
    project.swarm("run", exits=3)
    assert project.state.task("1.1").commit


def test_a_slow_hook_of_the_user_holds_no_run_up(project: Project) -> None:
    project.planned(hooks={"task_completed": "sleep 4; touch ../slept"})
    project.swarm("run", exits=3)
    assert not (project.root.parent / "slept").exists()
    until(lambda: not workers_at_work())  # what was left behind does not stay


# --- preflight ---


def test_a_blocker_stops_the_phase_before_anything_is_spent(project: Project) -> None:
    project.planned(automation__capabilities=PREFLIGHT)
    project.configure(automation__capabilities=PREFLIGHT, tests={"command": "no-such-program-here -q", "timeout_s": 60})
    asked = len(project.requests)
    result = project.json("run", exits=1)
    assert result["error"] == "PREFLIGHT"
    assert result["problems"]
    assert "swarm run" in result["hint"]
    assert "swarm automation off phase_preflight" in result["hint"]
    assert len(project.requests) == asked
    pause = project.state.pause
    assert pause is not None
    assert (pause.reason, pause.between_steps) == (ev.PauseReason.PREFLIGHT, True)
    assert not project.events(ev.TaskDelegated)
    status = project.swarm("status").stdout
    assert "swarm preflight: see what stops phase 1" in plain(status)
    project.configure(automation__capabilities=PREFLIGHT)  # mended
    project.swarm("run", exits=3)
    assert project.state.task("1.1").commit
    assert [each["passed"] for each in told(project, "preflight_ran")] == [False, True]


def test_preflight_is_run_once_for_a_phase_that_an_estimate_precedes(project: Project) -> None:
    project.planned(plan("1.1", "2.1"), automation__capabilities=PREFLIGHT)
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    ran = [PreflightRan.model_validate(each) for each in told(project, "preflight_ran")]
    assert [each.phase for each in ran] == [1, 2]
    assert project.events(ev.PhaseEstimated)
    assert project.state.task("2.1").commit


def test_no_preflight_where_it_is_off_or_the_phase_goes_on(project: Project) -> None:
    project.planned(rule("coder", "code", {"fault": {"kind": "500", "retry_after": 0}}))
    project.swarm("run", exits=5)
    assert not told(project, "preflight_ran")
    project.play(automation__capabilities=PREFLIGHT)
    project.swarm("run", exits=3)
    assert not told(project, "preflight_ran")  # the phase has begun


# --- the doctor ---


def test_the_doctor_looks_when_a_run_begins_and_tells_what_it_found(project: Project) -> None:
    project.planned(automation__capabilities={"config_doctor_on_startup": True})
    (project.folder.path / ".gitignore").write_text("")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=settings")
    before = len(told(project, "doctor_ran"))
    result = project.swarm("run", exits=3)
    ran = told(project, "doctor_ran")[before:]
    assert len(ran) == 1
    assert ran[0]["problems"]
    assert all(problem in plain(result.stderr) for problem in ran[0]["problems"])
    assert not ran[0]["fixed"]


def test_the_doctor_sees_the_keys_that_the_run_keeps_from_its_commands(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-test-1234567890abcdef")
    project.planned(
        providers__local={"api_key_env": "MY_KEY"}, automation__capabilities={"config_doctor_on_startup": True}
    )
    project.swarm("run", exits=3)
    ran = told(project, "doctor_ran")
    assert ran
    assert not [problem for each in ran for problem in each["problems"] if "MY_KEY" in problem]


def test_a_run_for_programs_has_the_same_crew(project: Project) -> None:
    import asyncio

    project.planned()
    heard: list[str] = []
    asyncio.run(Swarm(project.root, listener=lambda progress: heard.append(progress.text)).run())
    assert len(told(project, "watch_started")) == 2
    assert not workers_at_work()

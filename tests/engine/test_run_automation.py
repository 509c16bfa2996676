"""What works beside a run, and before its phases: the watcher, the status artifact, preflight, the doctor."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, cast

import pytest
from tests.confined import SANDBOX
from tests.project import Project, plain, plan, rule, until

from swarmgate.automation.watch.run_workers import wait_for_hooks
from swarmgate.automation.watch.watcher import Watcher
from swarmgate.domain.events import event as ev
from swarmgate.domain.events.automation import PreflightRan
from swarmgate.engine import Swarm
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.files.automation_log import AutomationLog

pytestmark = pytest.mark.suite("unittest")

HANGS = {"fault": {"kind": "hang"}}
PREFLIGHT = {"phase_preflight": True}


def told(project: Project, kind: str) -> list[dict[str, Any]]:
    """The events of automation of one type."""
    return [each.data for each in AutomationLog(project.folder).read() if each.type == kind]


def workers_at_work() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("swarm-")]


# --- the watcher ---


@pytest.mark.slow
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
    left = json.loads(project.folder.status.read_text())
    assert (left["watching"], left["work"]["running"]) == ("stopped", "")


@pytest.mark.slow
def test_the_watcher_begins_and_ends_with_the_run(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    assert [each["place"] for each in told(project, "watch_started")] == ["run", "run"]  # of `plan`, and of `run`
    assert len(told(project, "watch_stopped")) == 2
    assert not workers_at_work()
    assert not live_owner(project.folder.watch_lock)
    assert json.loads(project.folder.status.read_text())["work"]["waiting"] == "phase_approval"
    for verb in ("status", "show 1.1", "history", "verify", "approve"):
        project.swarm(*verb.split())
    assert len(told(project, "watch_started")) == 2  # verbs that do no work have none
    work = json.loads(project.folder.status.read_text())["work"]
    assert (work["seq"], work["waiting"]) == (project.state.seq, "nothing")  # as `approve` left it


@pytest.mark.slow
def test_the_watcher_leaves_it_to_another_process_that_watches(project: Project) -> None:
    project.planned()
    before = len(told(project, "watch_started"))
    watcher = project.start("watch")
    until(lambda: len(told(project, "watch_started")) > before)
    result = project.swarm("run", exits=3)
    assert f"{watcher.pid}" in result.stderr
    assert [each["place"] for each in told(project, "watch_started")][before:] == ["watch"]
    watcher.terminate()
    watcher.communicate(timeout=20)


@pytest.mark.slow
def test_an_error_of_the_run_is_told_and_the_watcher_ends_all_the_same(project: Project) -> None:
    project.planned(rule("reviewer", "review", {"fault": {"kind": "500", "retry_after": 0}}))
    result = project.swarm("run", exits=5)
    assert "the endpoint answered 500" in result.stderr
    assert not workers_at_work()


@pytest.mark.slow
def test_what_the_watcher_cannot_write_stops_no_run(project: Project) -> None:
    project.planned()
    for path in (project.folder.automation_log, project.folder.status):
        path.unlink(missing_ok=True)
        path.mkdir()
    project.swarm("run", exits=3)
    assert project.state.task("1.1").commit


@pytest.mark.slow
def test_a_slow_hook_loses_none_of_the_others_at_the_end_of_a_run(project: Project) -> None:
    note = 'echo "$SWARMGATE_EVENT" >> "$SWARMGATE_FOLDER/told"'
    project.planned(hooks={"task_completed": f"sleep 4; {note}", "phase_closed": note})
    result = project.swarm("run", exits=3)
    assert (project.folder.hooks / "told").read_text().split() == ["task_completed", "phase_closed"]
    assert "hooks, at most 30 s; Ctrl-C ends that" in result.stderr
    assert not project.folder.dead_letters.exists()


@pytest.mark.slow
def test_a_hook_that_never_returns_holds_the_end_of_a_run_up_no_longer_than_its_time(project: Project) -> None:
    project.planned(hooks={"task_completed": "sleep 60", "phase_closed": "sleep 60"}, automation={"hook_s": 1})
    project.swarm("run", exits=3)
    kept = project.folder.dead_letters.read_text() if project.folder.dead_letters.exists() else ""
    assert "usage_recorded" not in kept  # only what a hook is on
    until(lambda: not workers_at_work())  # what was left behind does not stay


@pytest.mark.slow
def test_what_a_hook_does_in_the_repository_is_nobodys_work(project: Project) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    line = 'echo x > mine.txt; echo x > src/calc/mine.py; echo done > "$SWARMGATE_FOLDER/done"'
    project.planned(hooks={"task_delegated": line, "change_captured": line, "run_started": line})
    project.swarm("run", exits=3)
    assert (project.folder.hooks / "done").read_text() == "done\n"
    assert "mine" not in project.git("status", "--porcelain", "--untracked-files=all")
    assert "mine" not in project.git("ls-tree", "-r", "--name-only", "HEAD")
    assert not project.events(ev.AttemptRejected)
    assert "mine" not in str(project.events(ev.GuardActed))


@pytest.mark.slow
def test_a_hook_with_a_wrong_name_is_told_and_the_others_run(project: Project) -> None:
    project.planned(hooks={"task_rejected": "true", "task_completed": "true"})
    result = plain(project.swarm("run", exits=3).stderr)
    assert "config.toml line" in result
    assert "the hook of task_rejected never runs: there is no such event; did you mean attempt_rejected?" in result
    assert [each["event"] for each in told(project, "hook_ran")] == ["task_completed"]
    assert not told(project, "worker_failed")


async def test_whoever_asks_to_stop_waits_for_no_hook() -> None:
    class Busy:
        def waiting(self, name: str) -> int:
            return 2 if name == "hooks" else 0

    said: list[str] = []
    began = time.monotonic()
    late = lambda: time.monotonic() - began > 0.7  # noqa: E731 - the user's Ctrl-C
    await wait_for_hooks(cast("Watcher", Busy()), 60, tell=lambda _, text: said.append(text), asked=late)
    assert 0.7 < time.monotonic() - began < 30
    assert said == ["waiting for 2 hooks, at most 60 s; Ctrl-C ends that"]
    await wait_for_hooks(cast("Watcher", Busy()), 0.1, tell=lambda _, text: said.append(text), asked=lambda: False)
    await wait_for_hooks(None, 60, tell=lambda _, text: said.append(text), asked=lambda: False)
    assert time.monotonic() - began < 50


# --- preflight ---


@pytest.mark.slow
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


@pytest.mark.slow
def test_preflight_is_run_once_for_a_phase_that_an_estimate_precedes(project: Project) -> None:
    project.planned(plan("1.1", "2.1"), automation__capabilities=PREFLIGHT)
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    ran = [PreflightRan.model_validate(each) for each in told(project, "preflight_ran")]
    assert [each.phase for each in ran] == [1, 2]
    assert project.events(ev.PhaseEstimated)
    assert project.state.task("2.1").commit


@pytest.mark.slow
def test_no_preflight_where_it_is_off_or_the_phase_goes_on(project: Project) -> None:
    project.planned(rule("coder", "code", {"fault": {"kind": "500", "retry_after": 0}}))
    project.swarm("run", exits=5)
    assert not told(project, "preflight_ran")
    project.play(automation__capabilities=PREFLIGHT)
    project.swarm("run", exits=3)
    assert not told(project, "preflight_ran")  # the phase has begun


# --- the doctor ---


@pytest.mark.slow
def test_the_doctor_looks_when_a_run_begins_and_tells_what_it_found(project: Project) -> None:
    project.planned(automation__capabilities={"config_doctor_on_startup": True})
    (project.folder.path / ".gitignore").write_text("")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=settings")
    before = len(told(project, "doctor_ran"))
    result = project.swarm("run", "--json", exits=3)
    ran = told(project, "doctor_ran")[before:]
    assert len(ran) == 1
    assert ran[0]["problems"]
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    for problem in ran[0]["problems"]:
        (line,) = [each for each in lines if problem in each["text"]]
        assert (line["kind"], line["phase"]) == ("notice", 1)
        assert line["seconds"] > 0
        assert line["usage"]["calls"] > 0  # of the planning
    assert not ran[0]["fixed"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_run_for_programs_has_the_same_watcher(project: Project) -> None:
    import asyncio

    project.planned()
    heard: list[str] = []
    asyncio.run(Swarm(project.root, listener=lambda progress: heard.append(progress.text)).run())
    assert len(told(project, "watch_started")) == 2
    assert not workers_at_work()

"""`swarm hooks` as a user sees it."""

from __future__ import annotations

import pytest
from tests.project import Project, plain

from swarmgate.automation.workers import workers_of
from swarmgate.domain.events.automation import HookRan
from swarmgate.domain.progress import Progress
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.files.automation_log import AutomationLog

pytestmark = pytest.mark.suite("unittest")


def test_without_hooks_it_says_how_one_is_made(project: Project) -> None:
    shown = project.swarm("hooks").stdout
    assert "There are no hooks" in shown
    assert "[hooks]" in shown
    assert project.json("hooks") == {"hooks": [], "warnings": []}


def test_hooks_are_listed_with_their_newest_result(project: Project) -> None:
    project.configure(hooks={"phase_closed": "echo closed", "task_completed": "exit 3"})
    journal = AutomationLog(project.folder)
    for code in (1, 3):
        journal.append(HookRan(event="task_completed", seq=7, exit_code=code, seconds=0.1), actor="hooks")
    lines = [plain(line) for line in project.swarm("hooks").stdout.splitlines()]
    assert lines[0] == "phase_closed echo closed never ran"
    assert lines[1].startswith("task_completed exit 3 exit code 3 in 0.1 s (20")
    listed = project.json("hooks", "list")["hooks"]
    assert [each["event"] for each in listed] == ["phase_closed", "task_completed"]
    assert listed[0]["last"] is None
    assert listed[1]["last"]["exit_code"] == 3


def test_a_try_runs_it_with_a_made_up_event(project: Project) -> None:
    project.configure(hooks={"task_completed": 'echo "task $SWARMGATE_TASK of $SWARMGATE_EVENT"; cat'})
    shown = project.swarm("hooks", "try", "task_completed").stdout
    assert "task 1.1 of task_completed" in shown
    assert '"type":"task_completed"' in shown
    assert "exit code 0" in shown
    assert project.json("hooks", "try", "task_completed")["hooks"][0]["last"]["exit_code"] == 0
    assert AutomationLog(project.folder).read() == ()


@pytest.mark.slow
def test_a_try_that_fails_is_exit_code_1(project: Project) -> None:
    project.configure(
        hooks={"task_completed": "echo oh; exit 3", "watch_started": "sleep 30"}, automation={"hook_s": 1}
    )
    assert "exit code 3" in project.swarm("hooks", "try", "task_completed", exits=1).stdout
    assert "did not end within 1 s" in project.swarm("hooks", "try", "watch_started", exits=1).stdout


def test_keys_in_its_output_are_masked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "not-like-a-key-at-all")
    project.configure(
        providers__other={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "THE_KEY"},
        hooks={"task_completed": "echo not-like-a-key-at-all; echo ${THE_KEY:-none}"},
    )
    shown = project.swarm("hooks", "try", "task_completed").stdout
    assert "  [redacted]\n  none\n" in shown


def test_bad_input_is_refused(project: Project) -> None:
    project.configure(hooks={"task_completed": "true"})
    assert "did you mean task_completed" in project.swarm("hooks", "try", "task_complete", exits=2).stderr
    assert "There is no hook on phase_closed" in project.swarm("hooks", "try", "phase_closed", exits=2).stderr


@pytest.mark.slow
def test_a_wrong_name_is_told_with_its_line_and_the_others_work(project: Project) -> None:
    project.configure(hooks={"task_rejected": "true", "task_completed": "echo good"})
    line = project.folder.config.read_text().splitlines().index('task_rejected = "true"') + 1
    told = f".swarm/config.toml line {line}: the hook of task_rejected never runs: there is no such event; "
    for verb in (("hooks",), ("automation",)):
        assert f"note: {told}did you mean attempt_rejected?" in project.swarm(*verb).stdout
    assert "NEVER RUNS" in project.swarm("hooks").stdout
    assert "good" in project.swarm("hooks", "try", "task_completed").stdout
    report = project.json("hooks")
    assert [bool(each["problem"]) for each in report["hooks"]] == [True, False]
    try:
        assert told in project.swarm("watch", "--daemon").stdout
        assert f"note: hooks: {told}" in project.swarm("watch", "status").stdout
    finally:
        project.swarm("watch", "stop")


def test_settings_that_change_while_somebody_watches_tell_it_too(project: Project) -> None:
    told: list[Progress] = []
    swarm = Swarm(project.root, listener=told.append)
    project.configure(hooks={"phase_finished": "true"})
    assert [worker.name for worker in workers_of(swarm.project.anew(), EnginePorts())] == [
        "evidence_auto_summaries",
        "hooks",
    ]
    assert [each.kind for each in told] == ["notice"]
    assert "the hook of phase_finished never runs" in told[0].text
    assert "phase_closed?" in told[0].text


def test_without_a_sandbox_it_is_said_that_nothing_holds_them(project: Project) -> None:
    project.configure(hooks={"task_completed": "true"}, commands={"sandbox": "none"})
    assert "nothing keeps a hook from writing into the repository" in project.swarm("hooks").stdout


@pytest.mark.slow
def test_a_hook_hears_of_a_run(project: Project) -> None:
    project.play(hooks={"task_completed": "cat"})
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    ran = [
        HookRan.model_validate(each.data) for each in AutomationLog(project.folder).read() if each.type == "hook_ran"
    ]
    assert [(each.event, each.exit_code) for each in ran] == [("task_completed", 0)]
    assert '"task":"1.1"' in ran[0].output

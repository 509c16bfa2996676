"""`swarm hooks` as a user sees it."""

from __future__ import annotations

import pytest
from tests.project import Project, plain

from swarmgate.automation.hooks import unknown_hooks
from swarmgate.domain.automation import HookRan
from swarmgate.engine import Swarm
from swarmgate.ledger.journal import Journal

pytestmark = pytest.mark.suite("unittest")


def test_without_hooks_it_says_how_one_is_made(project: Project) -> None:
    shown = project.swarm("hooks").stdout
    assert "There are no hooks" in shown
    assert "[hooks]" in shown
    assert project.json("hooks") == {"hooks": []}


def test_hooks_are_listed_with_their_newest_result(project: Project) -> None:
    project.configure(hooks={"phase_closed": "echo closed", "task_completed": "exit 3"})
    journal = Journal(project.folder)
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
    assert Journal(project.folder).read() == ()


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
    project.configure(hooks={"task_complete": "true"})
    for verb in (("hooks",), ("hooks", "try", "task_completed")):
        assert "did you mean task_completed" in project.swarm(*verb, exits=2).stderr
    assert unknown_hooks(Swarm(project.root).config) == ("task_complete",)


def test_a_hook_hears_of_a_run(project: Project) -> None:
    project.play(hooks={"task_completed": "cat"})
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    ran = [HookRan.model_validate(each.data) for each in Journal(project.folder).read() if each.type == "hook_ran"]
    assert [(each.event, each.exit_code) for each in ran] == [("task_completed", 0)]
    assert '"task":"1.1"' in ran[0].output

"""Tests are run by swarmgate and believed from nobody; what they leave behind is not what passed."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, call, engineer, part, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome

PROVEN = "from pathlib import Path\n\n\ndef test_part() -> None:\n    assert Path('src/calc/part_1.1.py').is_file()\n"
GOOD_TEST = {"tests/test_part.py": PROVEN}


@pytest.mark.slow
def test_new_tests_and_the_whole_suite_are_run_and_committed(project: Project) -> None:
    project.planned(engineer(GOOD_TEST))
    project.swarm("run", exits=3)
    (run,) = project.events(ev.TestsRun)
    assert (run.run.exit_code, run.run.passed, run.run.failed) == (0, 2, 0)
    assert project.events(ev.TestsWritten)[0].tests == ("tests/test_part.py",)
    assert set(project.git("show", "--name-only", "--format=").split()) == {"src/calc/part_1.1.py", *GOOD_TEST}


@pytest.mark.slow
def test_no_test_ran_is_not_a_pass(project: Project) -> None:
    project.planned(tests={"command": f"{sys.executable} -m pytest -q -k nothing_of_that_name"})
    project.swarm("run", exits=1)
    assert {attempt.stage for attempt in project.state.task("1.1").attempts} == {"tests"}
    assert "no test ran" in project.state.task("1.1").attempts[0].reason


@pytest.mark.slow
def test_a_command_that_says_nothing_of_tests_is_not_a_pass(project: Project) -> None:
    project.planned(tests={"command": "true"})
    project.swarm("run", exits=1)
    assert "names no test count" in project.state.task("1.1").reason


@pytest.mark.slow
def test_tests_that_hang_are_ended_with_their_whole_process_group(project: Project) -> None:
    project.planned(
        tests={"command": "sleep 611 & sleep 612", "timeout_s": 1}, loop={"max_rejections": 1, "replies": 1}
    )
    started = time.monotonic()
    project.swarm("run", exits=1)
    assert time.monotonic() - started < 20
    assert "did not end within 1 s" in project.state.task("1.1").reason
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 61" not in listed


@pytest.mark.slow
def test_a_missing_program_ends_with_6_and_the_attempt_goes_on_later(project: Project) -> None:
    project.planned(tests={"command": "no-such-runner-here"})
    told = project.swarm("run", exits=6).stderr
    assert "no-such-runner-here" in told
    assert "[tests] command" in told
    project.configure()
    project.swarm("run", exits=3)
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.outcome is Outcome.COMPLETE
    assert len(project.briefs("test_engineer", "test")) == 1


@pytest.mark.slow
def test_a_project_without_any_test_command_says_what_to_set(project: Project) -> None:
    project.git("rm", "-r", "--quiet", "tests")
    project.git("commit", "--quiet", "--message=No tests")
    project.planned(tests={"command": ""})
    assert "[tests] command" in project.swarm("run", exits=2).stderr
    project.configure()
    project.swarm("run", exits=1)  # it goes on, and no test runs


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "lies",
    "the coder's code replaces what runs its tests, and nothing of them runs any more",
    "the attempt is rejected by `tests`, with what became of swarmgate's own test that must fail",
)
def test_code_that_forges_the_runner_is_rejected_and_honest_code_leaves_no_trace(project: Project) -> None:
    forged = "import unittest\n\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\n"
    plant = call("write_file", path="src/calc/part_1.1.py", content=part("1.1"))
    lies = call("write_file", path="tests/test_forged.py", content=forged)
    mends = call("delete_file", path="tests/test_forged.py")
    done = call("finish", summary="x")
    project.planned(
        rule("coder", "code", [plant, lies], [done], attempt="1"), rule("coder", "code", [mends], [done], attempt="2")
    )
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert first.stage == "tests"
    assert "the test runner was tampered with: a test of swarmgate's own that must fail was" in first.reason
    assert second.outcome is Outcome.COMPLETE
    (run,) = [each.run for each in project.events(ev.TestsRun) if each.passed]
    assert run.canary
    assert (run.exit_code, run.failed, run.canary.failed > 0, run.canary.missing) == (0, 0, True, "")
    assert "canary" not in {event.note.rule for event in project.events(ev.GuardActed)}


@pytest.mark.slow
def test_a_suite_that_loads_no_canary_is_noted_and_passes(project: Project) -> None:
    project.planned(engineer(GOOD_TEST), tests={"command": f"{sys.executable} -E -m pytest -q"})
    project.swarm("run", exits=3)
    (note,) = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "canary"]
    assert note.detail.startswith("not possible here: its tests run in no Python that takes PYTHONPATH")


@pytest.mark.slow
def test_files_that_tests_leave_behind_are_not_committed(project: Project) -> None:
    litter = PROVEN + "    open('left-behind.txt', 'w').close()\n"
    project.planned(engineer({"tests/test_part.py": litter}))
    project.swarm("run", exits=3)
    assert "left-behind.txt" not in project.git("ls-tree", "-r", "--name-only", "HEAD")
    assert not (project.root / "left-behind.txt").exists()
    assert project.json("verify")["passed"]


@pytest.mark.slow
@case(
    "lies",
    "a test that rewrites the code while it runs",
    "what is committed is the tree that was tested; the attempt is rejected for it",
)
def test_a_test_that_writes_over_the_code_does_not_get_that_committed(project: Project) -> None:
    sly = "import pathlib\n\n\ndef test_part() -> None:\n    pathlib.Path('src/calc/part_1.1.py').write_text('gone')\n"
    project.planned(engineer({"tests/test_part.py": sly}))
    project.swarm("run", exits=1)
    first = project.state.task("1.1").attempts[0]
    assert (first.stage, "rewrote files of the project" in first.reason) == ("tests", True)
    assert (project.root / "src/calc/part_1.1.py").read_text(encoding="utf-8") == part("1.1")


@pytest.mark.slow
def test_a_test_engineer_cannot_delete_tests(project: Project) -> None:
    project.planned(rule("test_engineer", "test", [call("run_command", command="rm tests/*.py")], [verdict()]))
    before = project.git("ls-files", "tests")
    assert "taken back" in project.swarm("run", exits=3).stderr
    assert set(before.split()) <= set(project.git("ls-files", "tests").split())


@pytest.mark.slow
def test_a_test_engineer_writes_tests_only(project: Project) -> None:
    project.planned(
        rule(
            "test_engineer",
            "test",
            [call("write_file", path="src/calc/part_1.1.py", content="x = 1\n")],
            [call("run_command", command="echo spoilt > src/calc/part_1.1.py; echo new > src/calc/new.py")],
            [verdict(criteria=[{"criterion": "1", "tests": ["test_start"]}])],
        )
    )
    told = project.swarm("run", exits=3).stderr
    assert "taken back" in told
    asked = [r.messages[-1]["content"] for r in project.requests if r.headers["ROLE"] == "test_engineer"]
    assert "is not a test file" in asked[1]
    assert project.git("show", "--name-only", "--format=") == "src/calc/part_1.1.py"
    assert project.git("show", "HEAD:src/calc/part_1.1.py") == part("1.1").rstrip()
    assert project.quarantined("new.py")


@pytest.mark.slow
def test_gates_judge_the_new_tests_too(project: Project) -> None:
    mends = [call("delete_file", path="tests/test_part.py"), call("finish", summary="x")]
    project.planned(
        engineer({"tests/test_part.py": "def test_part(:\n"}, attempt="1"), rule("coder", "code", mends, attempt="2")
    )
    project.swarm("run", exits=3)
    first = project.state.task("1.1").attempts[0]
    assert first.stage.startswith("gates: syntax_check")
    assert first.tests == ("tests/test_part.py",)


@pytest.mark.slow
def test_keys_are_not_in_the_environment_of_agents_commands(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-test-1234567890abcdef")
    work = [call("write_file", path="src/calc/part_1.1.py", content=part("x")), call("finish", summary="x")]
    project.planned(
        rule("coder", "code", [call("run_command", command='echo "key=[$MY_KEY]"')], work),
        providers__local={"api_key_env": "MY_KEY"},
    )
    project.swarm("run", exits=3)
    asked = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "code"]
    assert "key=[]" in asked[1]

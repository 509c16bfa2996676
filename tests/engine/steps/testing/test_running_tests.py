"""Tests what is told while tests run: how many ended, how many failed, and how long it will take by the run before."""

from __future__ import annotations

import json

import pytest
from tests.project import Project, code, engineer, event_lines, part, plan, task

from swarmgate.domain.events import event as ev
from swarmgate.engine.steps.testing import running_tests
from swarmgate.engine.steps.testing.running_tests import RunningTests
from swarmgate.ledger.files import suite_times
from swarmgate.ledger.files.suite_times import Took


def test_each_test_counts_once_and_fails_by_any_of_its_phases() -> None:
    running = RunningTests(Took(tests=4, seconds=1000))
    for number, when, outcome in ((0, "call", "passed"), (1, "call", "passed"), (1, "teardown", "failed")):
        running.heard({"kind": "test", "process": 1, "number": number, "when": when, "outcome": outcome})
    running.heard({"kind": "canary", "process": 1, "number": 2})
    count = running.count
    assert (count.done, count.failed, count.total) == (2, 1, 4)
    assert count.left_s is not None
    assert 900 < count.left_s <= 1000
    assert count.text.startswith("2 of about 4 done, 1 failed, about ")


def test_what_nobody_ran_before_has_no_end_that_is_known() -> None:
    assert RunningTests(None).count.text == "0 done"


def test_a_cache_that_cannot_be_read_is_none(project: Project) -> None:
    (project.folder.runtime / "test-times.json").write_text('{"x": {"seconds": "soon"}}')
    assert suite_times.read(project.folder) == {}


@pytest.mark.slow
def test_a_run_tells_how_far_the_tests_are(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_tests, "_EVERY_S", 0.1)
    slow = "import time\n\n\ndef test_start():\n    pass\n\n\ndef test_slow():\n    time.sleep(2)\n"
    project.write("tests/test_calc.py", slow)
    project.git("commit", "-qam", "Slow")
    project.planned(plan("1.1", "1.2"))
    told = [each for each in event_lines(project.swarm("run", "--json", exits=3).stderr) if each["kind"] == "tests"]
    assert {"done": 1, "failed": 0, "total": 0, "left_s": None} in [each["tests"] for each in told]
    assert any(each["tests"]["total"] == 2 and each["tests"]["left_s"] is not None for each in told)
    took = json.loads((project.folder.runtime / "test-times.json").read_text())
    assert [each["tests"] for each in took.values()] == [2]


@pytest.mark.slow
def test_what_is_told_of_a_run_with_a_failed_test_is_marked_as_failed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_tests, "_EVERY_S", 0.1)
    red = "import pathlib, time\n\n\ndef test_start():\n    assert not pathlib.Path('src/calc/part_1.1.py').exists()\n"
    project.write("tests/test_calc.py", f"{red}\n\ndef test_slow():\n    time.sleep(1)\n")
    project.git("commit", "-qam", "Red")
    project.planned(plan("1.1"), loop={"max_rejections": 1})
    told = [each for each in event_lines(project.swarm("run", "--json", exits=1).stderr) if each["kind"] == "tests"]
    assert {(each["tests"]["failed"], each["failed"]) for each in told} >= {(1, True)}
    assert all(each["failed"] == bool(each["tests"]["failed"]) for each in told)


@pytest.mark.slow
def test_where_the_suite_takes_long_what_is_related_to_a_change_runs_first(project: Project) -> None:
    """The test of a module that imports the changed one fails, and the whole suite is not waited for."""
    project.write("conftest.py", "import sys\n\nsys.path.insert(0, 'src')\n")
    project.write("src/calc/part_1.py", part("1"))
    user = "from calc.part_1 import VALUE\n\n\ndef test_value():\n    assert VALUE == '1'\n"
    project.write("tests/test_value.py", user)
    project.git("add", "--all")
    project.git("commit", "-qm", "A value and its test")
    suite_times.remember(project.folder, project.test_command, Took(tests=3, seconds=600))
    files = {"src/calc/part_1.py": part("2")}
    project.planned(plan(task("1.1", files=list(files))), code(files), engineer(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    run = project.events(ev.TestsRun)[0].run
    assert run.failures == ("tests/test_value.py::test_value",)
    assert run.command.endswith("tests/test_value.py")

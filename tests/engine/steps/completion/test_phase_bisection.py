"""Tests whom the tests of a phase blame where that is hard to tell, and that nothing untested is approved meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engine.steps.completion.test_phase_tests import WHOLE, guard, long, parts
from tests.misbehaviour.case import case
from tests.project import Project, code, part, plan, rule, task

from swarmgate.domain.events import event as ev

__all__ = ["long"]

pytestmark = pytest.mark.slow
UNITTEST = f"{sys.executable} -m unittest discover -q -s"


def commit(project: Project, **files: str) -> None:
    for path, text in files.items():
        project.write(path.replace("__", "/") + ".py", text)
    project.git("add", "--all")
    project.git("commit", "-qm", "More")


def blamed(project: Project) -> list[list[str]]:
    return [[each.task for each in event.culprits] for event in project.events(ev.PhaseRegressed)]


def test_two_tasks_that_broke_a_test_each_are_both_open_again(long: Project) -> None:
    broken = "def test_{0}():\n    text = pathlib.Path('src/calc/part_{0}.py')\n    assert {1}\n\n\n"
    mended = "not text.exists() or 'mended' in text.read_text()"
    commit(long, tests__test_guard="import pathlib\n\n\n" + "".join(broken.format(n, mended) for n in ("1_1", "1_3")))
    again = [code({f"src/calc/part_1_{n}.py": part("mended")}, task=f"1.{n}", attempt="2") for n in (1, 3)]
    long.planned(*parts("1.1", "1.2", "1.3"), *again, **WHOLE)
    long.swarm("run", exits=3)
    assert blamed(long) == [["1.1", "1.3"]]
    assert [each.task for each in long.events(ev.TaskCompleted)] == ["1.1", "1.2", "1.3", "1.1", "1.3"]
    long.swarm("approve")
    long.swarm("verify")


@case(
    "lies",
    "write a test that breaks another file's tests only where it runs before them",
    "no flaky test: what passes by itself runs among all others again, and the task that breaks it is open again",
)
def test_a_test_that_fails_among_others_alone_is_not_flaky(long: Project) -> None:
    commit(long, tests__test_zz="import os\n\n\ndef test_zz():\n    assert 'DIRT' not in os.environ\n")
    head = "import os\n\nfrom calc.part_1_1 import VALUE\n\n\n"
    dirty = f"{head}def test_start() -> None:\n    os.environ['DIRT'] = '1'\n    assert VALUE\n"
    rules = parts("1.1", "1.2")
    engineer = next(each for each in rules if each["match"] == {"role": "test_engineer", "step": "test", "task": "1.1"})
    engineer["replies"][0]["tool_calls"][0]["arguments"]["content"] = dirty
    long.planned(*rules, **WHOLE, loop={"max_rejections": 1})
    long.swarm("run", exits=1)
    assert blamed(long) == [["1.1"]]
    assert long.events(ev.PhaseReviewed)[0].review.summary.endswith("fail: tests/test_zz.py::test_zz")


@case(
    "order",
    "have a phase approved without a person though its tests ran over another tree than the branch holds now",
    "they run again before; what fails then waits for the user",
)
def test_nobody_approves_unasked_what_the_branch_got_since_its_tests_ran(long: Project) -> None:
    guard(long, "not (here / 'bad.py').exists()")
    auto: dict[str, Any] = {**WHOLE, "approve": {"auto": ["phase"]}}
    long.planned(*parts("1.1"), rule("architect", "close_phase", {"fault": {"kind": "403"}}), **auto)
    long.swarm("run", exits=5)
    assert [each.review.approved for each in long.events(ev.PhaseReviewed)] == [True]
    commit(long, src__calc__bad='"""Bad."""\n')
    long.play(*parts("1.1"), **auto)
    assert "which is no task's, fail: tests/test_guard.py::test_guard" in long.swarm("run", exits=1).stdout
    assert long.events(ev.PhaseApproved) == []


def test_tests_that_rewrite_files_of_the_project_pass_in_no_phase_of_several_suites(project: Project) -> None:
    write = "if p.Path('src/calc/part_1.2.py').exists():\n            p.Path('README.md').write_text('new')"
    test = (
        "import pathlib as p\nimport unittest\n\n\nclass T(unittest.TestCase):\n    def test_start(self):\n        {}\n"
    )
    commit(project, lib__test_lib=test.format(write), tests__test_calc=test.format("pass"))
    project.write("README.md", "old\n")
    project.git("add", "--all")
    project.git("commit", "-qm", "Words")
    suites = [
        {"name": "lib", "paths": ["lib"], "command": f"{UNITTEST} lib"},
        {"name": "calc", "paths": ["src"], "command": f"{UNITTEST} tests"},
    ]
    first = {"lib/part.py": part("1")}
    project.planned(
        plan(task("1.1", files=list(first)), task("1.2")),
        code(first, task="1.1"),
        tests={"suite": suites, "command": None},
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    verdict = project.events(ev.PhaseReviewed)[0]
    assert not verdict.review.approved
    assert verdict.run is not None
    assert verdict.run.reason == "the tests rewrote files of the project: README.md"
    assert blamed(project) == [["1.2"]]
    assert "fail: the whole suite (the tests rewrote files of the project: README.md)" in verdict.review.summary
    told = project.events(ev.PhaseRegressed)[0].culprits[0].feedback[-1].message
    assert told.startswith("the tests rewrote files of the project: README.md\n")


def test_a_command_that_the_phase_brought_with_it_stands_in_nobodys_way(project: Project) -> None:
    """At the commit before the phase there is nothing to run yet: that is no reason to end the run."""
    red = "import os\nimport unittest\n\n\nclass T(unittest.TestCase):\n    def test_start(self):\n        assert {}\n"
    commit(project, tests__test_calc=red.format("not os.path.exists('lib/part.py')"), lib__test_lib=red.format("True"))
    suites = [
        {"name": "calc", "paths": ["src", "run.sh"], "command": "bash run.sh"},
        {"name": "lib", "paths": ["lib"], "command": f"{UNITTEST} lib"},
    ]
    first = {"src/calc/part_1.1.py": part("1"), "run.sh": f"exec {UNITTEST} tests\n"}
    second = {"lib/part.py": part("2")}
    project.planned(
        plan(task("1.1", files=list(first)), task("1.2", files=list(second))),
        code(first, task="1.1"),
        code(second, task="1.2"),
        tests={"suite": suites, "command": None, "must_fail": "off"},
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    assert blamed(project) == [["1.2"]]


def test_what_a_skipped_task_broke_is_named_as_its_and_waits_for_the_user(long: Project) -> None:
    guard(long, "not (here / 'part_1_1.py').exists()")
    down = rule("architect", "implement", {"fault": {"kind": "403"}}, task="1.1")
    long.planned(*parts("1.1", "1.2"), down, **WHOLE, loop={"max_rejections": 1})
    long.swarm("run", exits=5)
    long.swarm("skip", "1.1", "--reason", "not worth it")
    told = long.swarm("run", exits=1).stdout
    assert "that of task 1.1, which is skipped, fail: tests/test_guard.py::test_guard" in told
    long.swarm("override", "1", "--reason", "known")
    long.swarm("run", exits=3)
    long.swarm("verify")


@pytest.mark.suite("unittest")
def test_suites_that_are_taken_out_of_the_settings_take_no_run_of_all_tests_with_them(project: Project) -> None:
    lib = {"name": "lib", "paths": ["lib"], "command": project.test_command}
    first = {"lib/part.py": part("1")}
    rules = [plan(task("1.1", files=list(first)), "1.2", "1.3"), code(first, task="1.1")]
    down = rule("coder", "code", {"fault": {"kind": "403"}}, task="1.3")
    src = {**lib, "name": "src", "paths": ["src"]}
    project.planned(*rules, down, tests={"suite": [lib, src], "command": None})
    project.swarm("run", exits=5)
    project.play(*rules)
    project.swarm("run", exits=3)
    assert [each.stage for each in project.events(ev.PhaseReviewed)] == ["tests"]


def test_a_flaky_test_never_makes_bisection_go_round_in_circles(long: Project, tmp_path: Path) -> None:
    """It fails at a commit that was undone, and passes at the tip just then, which is the undo itself."""
    outcomes = tmp_path / "seen" / "outcomes"
    outcomes.parent.mkdir()
    outcomes.write_text("")
    drawn = f"drawn = pathlib.Path({str(outcomes)!r})\nnow, rest = drawn.read_text()[:1], drawn.read_text()[1:]\n"
    guard(long, "now != 'F'", f"{drawn}drawn.write_text(rest)\n")
    long.planned(*parts("1.1", "1.2"), **WHOLE, commands={"writable": [str(outcomes.parent)]})
    long.swarm("run", exits=3)
    long.swarm("undo", "1.2")
    long.swarm("skip", "1.2", "--reason", "not worth it")
    outcomes.write_text("FFPPFP")
    long.swarm("run", exits=1)
    assert outcomes.read_text() == ""
    assert blamed(long) == []

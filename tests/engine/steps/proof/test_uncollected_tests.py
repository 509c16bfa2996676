"""New tests that the test runner does not collect are named as the reason, with the setting, at the first attempt."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, call, code, engineer, part, plain, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus

pytestmark = pytest.mark.slow

PYTEST = f"{sys.executable} -m pytest -q"
NEW_TEST = """from runpy import run_path


def test_part() -> None:
    assert run_path("src/calc/part_1.1.py")["VALUE"] == "1.1"
"""
MOVED = "tests/test_moved.py"
BLOCK: dict[str, Any] = {"unproven": "block"}


def commit(project: Project, path: str, text: str) -> None:
    project.write(path, text)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Settings")


def first_rejection(project: Project) -> ev.AttemptRejected:
    return project.events(ev.AttemptRejected)[0]


@case(
    "lies",
    "prove a change by tests that pass when they are named, and that the test command never collects",
    "`unproven`, with the setting that keeps them out; moved to where the suite runs them, they count",
)
@pytest.mark.parametrize(
    ("settings", "path", "why"),
    [
        ("", "tests/foo.py", "python_files = test_*.py *_test.py"),
        ("[pytest]\ntestpaths = tests\n", "test/test_part.py", "testpaths = tests"),
        ("[pytest]\nnorecursedirs = slow\n", "tests/slow/test_part.py", "norecursedirs = slow"),
        ("[pytest]\naddopts = --ignore=tests/new\n", "tests/new/test_part.py", "--ignore=tests/new"),
    ],
)
def test_the_reason_is_named_at_the_first_attempt_and_in_the_turn(
    project: Project, settings: str, path: str, why: str
) -> None:
    if settings:
        commit(project, "pytest.ini", settings)
    end = verdict(criteria=[{"criterion": "1", "tests": []}])
    wrote, mended = ([call("write_file", path=where, content=NEW_TEST), end] for where in (path, MOVED))
    project.planned(
        rule("test_engineer", "test", wrote, [end], attempt=1),
        rule("test_engineer", "test", mended, [end], attempt=2),
        tests={"command": PYTEST, **BLOCK},
    )
    project.swarm("run", exits=3)
    rejected = first_rejection(project)
    assert f"{path} is not collected by pytest: {why}" in rejected.reason, rejected
    assert rejected.stage == "unproven"
    assert why in project.briefs("coder", "code", attempt="2")[0]
    assert project.state.task("1.1").status is TaskStatus.COMPLETE
    heard = [message["content"] for request in project.requests for message in request.messages]
    assert any(f"But {path} is not collected by pytest: {why}" in plain(str(each)) for each in heard)


def test_a_criterion_that_names_such_a_test_says_so(project: Project) -> None:
    end = verdict(criteria=[{"criterion": "1", "tests": ["tests/foo.py::test_part"]}])
    wrote = [call("write_file", path="tests/foo.py", content=NEW_TEST), end]
    project.planned(rule("test_engineer", "test", wrote), tests={"command": PYTEST, **BLOCK})
    project.swarm("run", exits=1)
    rejected = first_rejection(project)
    assert rejected.stage == "test_engineer"
    assert "tests/foo.py is not collected by pytest: python_files = test_*.py *_test.py" in rejected.reason


def test_where_nothing_else_is_there_the_run_that_found_nothing_names_it(project: Project) -> None:
    shutil.rmtree(project.root / "tests")
    project.git("commit", "--all", "--quiet", "--message=New")
    project.planned(engineer({"tests/foo.py": NEW_TEST}), tests={"command": PYTEST, **BLOCK})
    project.swarm("run", exits=1)
    rejected = first_rejection(project)
    assert rejected.stage == "tests"
    assert rejected.reason.startswith("tests/foo.py is not collected by pytest: python_files")


def test_helpers_beside_tests_that_prove_the_change_are_no_matter(project: Project) -> None:
    helper = "def start() -> str:\n    return '1.1'\n"
    files = {
        "tests/helpers.py": helper,
        "tests/conftest.py": "",
        "tests/test_part.py": NEW_TEST,
    }
    project.planned(
        code({"src/calc/part_1.1.py": part("1.1")}),
        rule(
            "test_engineer",
            "test",
            [
                *(call("write_file", path=path, content=text) for path, text in files.items()),
                verdict(criteria=[{"criterion": "1", "tests": ["tests/test_part.py::test_part"]}]),
            ],
        ),
        tests={"command": PYTEST, **BLOCK},
    )
    project.swarm("run", exits=3)
    assert not project.events(ev.AttemptRejected)


def test_a_suite_in_a_folder_of_its_own_is_collected(project: Project) -> None:
    """Its names begin at that folder."""
    project.git("mv", "tests", "backend_tests")
    (project.root / "backend/tests").mkdir(parents=True)
    project.git("mv", "backend_tests/test_calc.py", "backend/tests/test_calc.py")
    project.git("commit", "--all", "--quiet", "--message=Backend")
    test = NEW_TEST.replace('"src/', '"../src/')
    project.planned(
        rule(
            "test_engineer",
            "test",
            [
                call("write_file", path="backend/tests/test_part.py", content=test),
                verdict(criteria=[{"criterion": "1", "tests": ["test_part"]}]),
            ],
        ),
        tests={"command": f"cd backend && {PYTEST}", **BLOCK},
    )
    project.swarm("run", exits=3)
    assert not project.events(ev.AttemptRejected)


def test_what_code_of_the_project_keeps_from_the_runner_is_named_too(project: Project) -> None:
    commit(project, "tests/conftest.py", 'collect_ignore_glob = ["new/*"]\n')
    files = {"src/calc/part_1.1.py": part("1.1"), "tests/new/test_part.py": NEW_TEST}
    project.planned(
        code(files),
        rule("test_engineer", "test", [verdict(criteria=[{"criterion": "1", "tests": ["test_start"]}])]),
        tests={"command": PYTEST, **BLOCK},
    )
    project.swarm("run", exits=1)
    told = "tests/new/test_part.py is not collected by pytest: its run named no test of this file"
    assert told in first_rejection(project).reason

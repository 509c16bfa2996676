"""Before a first phase the test command is looked at: no token is spent where no change could be proven."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import pytest
from tests.project import Project, code, engineer, part, plain, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus
from swarmgate.ledger.files import preflights

LOOKING: dict[str, Any] = {"automation__capabilities": {"phase_preflight": None}}
PYTEST = f"{sys.executable} -m pytest -q"
NEW_TEST = """from pathlib import Path


def test_start() -> None:
    assert "1.1" in Path("src/calc/part_1.1.py").read_text()
"""


def planned(project: Project, *rules: Any, command: str, **tests: Any) -> int:
    """Plans and approves with this test command; gives how many requests that took."""
    project.planned(*rules, **LOOKING, tests={"command": command, **tests})
    return len(project.requests)


@pytest.mark.slow
@pytest.mark.suite("unittest")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("pytset -q tests", "`pytset` was not found on PATH (/"),
        (f"{sys.executable} -m pytest_cov", ""),
        (f"{PYTEST} --covv=src", "unrecognized arguments: --covv=src"),
        (".venv/bin/python -m pytest -q", "`.venv/bin/python` was not found"),
        ("cd tests && no-such-runner", "`no-such-runner` was not found"),
        ("env FOO=1 no-such-runner", "`no-such-runner` was not found"),
    ],
)
def test_nothing_is_spent_on_a_command_that_cannot_start(project: Project, command: str, told: str) -> None:
    if not told:  # a Python without pytest, whatever there is on this machine
        command, told = f"{sys.executable} -S -m pytest", "pytest is not installed for"
    spent = planned(project, command=command)
    result = project.swarm("run", exits=1)
    text = plain(result.stderr)
    assert told in text
    assert "Preflight stops phase 1 before anything was spent on it." in text
    assert "[tests] command" in text
    assert "swarm automation off phase_preflight" in text
    assert len(project.requests) == spent
    assert not project.events(ev.TaskDelegated)


def test_the_program_of_the_project_is_named_where_path_has_none(project: Project) -> None:
    project.write(".gitignore", ".venv/\n__pycache__/\n")
    project.write(".venv/bin/my-runner", "#!/bin/sh\n", mode=0o755)
    project.git("commit", "--all", "--quiet", "--message=Ignore")
    planned(project, command="my-runner --all")
    text = plain(project.swarm("run", exits=1).stderr)
    assert "the project has .venv/bin/my-runner" in text
    assert '[tests] command = ".venv/bin/my-runner --all"' in text


@pytest.mark.slow
def test_a_new_project_goes_on(project: Project) -> None:
    shutil.rmtree(project.root / "tests")
    project.git("commit", "--all", "--quiet", "--message=New")
    planned(project, engineer({"tests/test_part.py": NEW_TEST}), command=PYTEST)
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status is TaskStatus.COMPLETE
    report = preflights.read(project.folder, 1)
    assert report is not None
    assert "the project has no tests yet" in report.checks[0].detail


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_script_that_the_work_will_bring_is_no_blocker(project: Project) -> None:
    shutil.rmtree(project.root / "tests")
    project.git("commit", "--all", "--quiet", "--message=New")
    script = '#!/bin/sh\necho "1 passed"\n'
    wrote = code({"src/calc/part_1.1.py": part("1.1"), "check.sh": script})
    named = rule("test_engineer", "test", [verdict(criteria=[])])
    planned(project, wrote, named, command="sh check.sh || ./check.sh", count_pattern=r"(?P<passed>\d+) passed")
    project.swarm("run", exits=3)


@pytest.mark.slow
def test_red_tests_keep_nobody_from_mending_them(project: Project) -> None:
    project.write("tests/test_red.py", "from calc.part import VALUE\n\n\ndef test_red() -> None:\n    assert VALUE\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Red")
    planned(project, command=PYTEST)
    project.swarm("run", exits=1)  # the default coder mends nothing
    assert project.events(ev.TaskDelegated)
    report = preflights.read(project.folder, 1)
    assert report is not None
    assert "tests/test_red.py" in report.checks[0].problem


@pytest.mark.slow
def test_nothing_collected_where_there_are_tests_stops_with_the_reason(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\npython_files = check_*.py\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Settings")
    spent = planned(project, command=PYTEST)
    text = plain(project.swarm("run", exits=1).stderr)
    assert "tests/test_calc.py is not collected by pytest: python_files = check_*.py" in text
    assert len(project.requests) == spent


@pytest.mark.slow
def test_places_that_the_user_chose_are_no_mistake(project: Project) -> None:
    project.write("new/README.md", "A new service.\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Service")
    planned(project, engineer({"new/test_part.py": NEW_TEST}), command=f"{PYTEST} new")
    result = project.swarm("run", exits=3)
    assert "the test command looks in new only" in plain(result.stderr)


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_look_is_remembered_for_the_same_tree_and_settings(project: Project) -> None:
    planned(project, command=project.test_command)
    server = project.server
    assert server is not None
    project.silence()
    project.swarm("run", exits=5)  # the architect cannot be asked: the phase has not begun
    project.swarm("run", exits=5)
    report = preflights.read(project.folder, 1)
    assert report is not None
    assert "as looked at before" in report.checks[0].detail
    project.configure(tests={"command": "no-such-runner"}, **LOOKING)
    project.swarm("run", exits=1)


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_it_is_switched_off_like_every_preflight(project: Project) -> None:
    planned(project, command="no-such-runner")
    project.swarm("automation", "off", "phase_preflight")
    project.swarm("run", exits=6)
    assert project.events(ev.TaskDelegated)

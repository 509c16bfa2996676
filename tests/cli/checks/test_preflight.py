"""`swarm preflight` as a user sees it."""

from __future__ import annotations

import pytest
from tests.project import Project, plain

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_a_table_of_checks_and_the_verdict(project: Project) -> None:
    project.planned()
    lines = project.swarm("preflight").stdout.splitlines()
    marks = {line.split()[1]: line.split()[0] for line in lines[:-1]}
    assert marks.pop("budget") == "skip"  # no limit is set
    assert set(marks.values()) == {"ok"}
    assert marks.keys() >= {"repository", "branch", "models", "lint", "tests", "secrets"}
    assert lines[-1].startswith("Phase 1 can begin (")


@pytest.mark.slow
def test_a_blocker_is_told_with_what_to_do_and_exit_code_1(project: Project) -> None:
    project.planned()
    project.write("notes.txt", "mine\n")
    shown = plain(project.swarm("preflight", "--phase", "1", exits=1).stdout)
    assert "FAIL repository" in shown
    assert "notes.txt -> Commit them, or put them aside with: swarm run --stash" in shown
    assert "Phase 1 cannot begin: repository (" in shown


@pytest.mark.slow
def test_what_stops_nothing_is_a_warning(project: Project) -> None:
    project.write("src/calc/old.py", '"""Old."""\n\nimport os\n')
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Old")
    project.planned()
    shown = plain(project.swarm("preflight").stdout)
    assert "warn lint" in shown
    assert "F401" in shown


@pytest.mark.slow
def test_json_has_every_check(project: Project) -> None:
    project.planned()
    report = project.json("preflight")
    assert report["passed"] is True
    assert report["phase"] == 1
    assert {"name", "status", "detail", "problem", "hint", "seconds", "blocks"} == set(report["checks"][0])


def test_no_plan_and_no_such_phase_are_bad_input(project: Project) -> None:
    assert "There is no plan" in project.swarm("preflight", exits=2).stderr
    project.planned()
    assert project.json("preflight", "--phase", "7", exits=2)["error"] == "USAGE"
    assert "Phases: 1 to 1" in project.swarm("preflight", "--phase", "7", exits=2).stderr

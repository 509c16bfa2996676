"""What is uncommitted when work begins: a stash takes nothing away that the test command needs."""

from __future__ import annotations

import sys

import pytest
from tests.project import Project, plain

from swarmgate.domain.state.state import TaskStatus

pytestmark = pytest.mark.suite("unittest")

UNITTEST = f"{sys.executable} -m unittest discover -q -s tests"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (".venv/lib/python3.11/site-packages/x.py", ".venv"),
        ("env/pyvenv.cfg", "env"),
        ("web/node_modules/left-pad/index.js", "web/node_modules"),
    ],
)
@pytest.mark.parametrize("stash", [True, False])
def test_packages_that_git_does_not_ignore_stay_with_the_line_that_ignores_them(
    project: Project, path: str, folder: str, *, stash: bool
) -> None:
    project.planned()
    project.write(path, "x = 1\n")
    project.write("notes.txt", "mine\n")
    told = plain(project.swarm("run", *(["--stash"] if stash else []), exits=2).stderr)
    assert f"{folder}/: installed packages that git does not ignore" in told
    assert f"printf '%s\\n' /{folder}/ >> .gitignore" in told
    assert (project.root / path).exists()
    assert (project.root / "notes.txt").exists()
    assert project.git("stash", "list") == ""


@pytest.mark.slow
def test_the_hint_does_what_it_says(project: Project) -> None:
    project.planned()
    project.write(".venv/pyvenv.cfg", "")
    project.write("notes.txt", "mine\n")
    told = plain(project.swarm("run", "--stash", exits=2).stderr)
    line = told.partition("Ignore them: ")[2].partition("; then:")[0]
    import subprocess

    subprocess.run(["/bin/sh", "-c", line], cwd=project.root, check=True, capture_output=True)
    project.swarm("run", "--stash", exits=3)
    assert (project.root / ".venv/pyvenv.cfg").exists()
    assert "notes.txt" in project.git("stash", "show", "--include-untracked", "--name-only")
    assert project.state.task("1.1").status is TaskStatus.COMPLETE


@pytest.mark.slow
def test_a_rule_that_would_be_stashed_itself_is_committed_first(project: Project) -> None:
    project.planned()
    project.write(".venv/pyvenv.cfg", "")
    project.write(".gitignore", "__pycache__/\n.venv/\n")
    told = plain(project.swarm("run", "--stash", exits=2).stderr)
    assert ".venv/ is ignored by a line of .gitignore that is not committed" in told
    assert project.git("stash", "list") == ""
    project.write(".git/info/exclude", ".venv/\n")  # a rule of the user's own, which no stash takes
    project.write(".gitignore", "__pycache__/\n*.log\n")
    project.swarm("run", "--stash", exits=3)
    assert (project.root / ".venv/pyvenv.cfg").exists()


def test_a_script_that_the_test_command_names_is_committed_first(project: Project) -> None:
    project.planned(tests={"command": "sh ./check.sh"})
    project.write("check.sh", f"{UNITTEST}\n")
    told = plain(project.swarm("run", "--stash", exits=2).stderr)
    assert "`check.sh` is not committed, and a stash would take it from the test command (`sh ./check.sh`)" in told
    assert "git add check.sh && git commit" in told
    assert (project.root / "check.sh").exists()


@pytest.mark.slow
def test_other_changes_are_stashed_as_ever(project: Project) -> None:
    project.planned(tests={"command": f"{UNITTEST}"})
    project.write("tests/test_mine.py", "import unittest\n")
    project.write("src/venv.py", "x = 1\n")
    project.swarm("run", "--stash", exits=3)
    assert "tests/test_mine.py" in project.git("stash", "show", "--include-untracked", "--name-only")

"""Tests the doctor's check of the test command in real projects: pytest, unittest, node, and none of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.confined import SANDBOX
from tests.misbehaviour.case import case
from tests.project import Project

from swarmgate import config as settings
from swarmgate.automation.doctor import suite_check, variables
from swarmgate.automation.setting_locations import written
from swarmgate.ledger.check import Check

PYTEST = f"{sys.executable} -m pytest -q"
UNITTEST = f"{sys.executable} -m unittest"
CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        {body}\n"


def look(project: Project, command: str, files: Mapping[str, str] = {}, **tests: object) -> Check:
    for path, text in files.items():
        project.write(path, text)
    project.configure(tests={"command": command, **tests})
    return suite_check.inspect(project.folder, settings.load(project_file=project.folder.config, environ={}))


def test_tests_are_counted_and_none_is_run(project: Project) -> None:
    text = (
        "from pathlib import Path\n\n\ndef test_a() -> None:\n    assert 0\n\n\ndef test_b() -> None:\n    assert 0\n"
    )
    found = look(project, PYTEST, {"tests/test_b.py": text})
    assert found == Check("tests", f"{PYTEST}: 3 tests found")


@pytest.mark.slow
def test_a_file_that_cannot_be_loaded_is_named(project: Project) -> None:
    found = look(project, PYTEST, {"tests/test_b.py": "import no_such_module\n"})
    assert found.passed
    (told,) = found.warnings
    assert "tests/test_b.py" in told
    assert "cannot be loaded" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "command", "why"),
    [
        ({"tests/foo.py": "def test_a():\n    pass\n"}, PYTEST, "python_files = test_*.py *_test.py"),
        ({"tests/foo.py": CASE.format(body="pass")}, f"{UNITTEST} discover", "does not fit the pattern test*.py"),
        (
            {"tests/unit/test_b.py": CASE.format(body="pass")},
            f"{UNITTEST} discover -s tests",
            "tests/unit has no __init__.py",
        ),
        (
            {"tests/build/test_b.py": "def test_a():\n    pass\n"},
            PYTEST,
            "tests/build/test_b.py is not collected by pytest: norecursedirs = build",
        ),
    ],
)
def test_files_with_tests_that_are_passed_over_are_named(
    project: Project, files: Mapping[str, str], command: str, why: str
) -> None:
    found = look(project, command, files)
    assert any(why in each for each in (*found.problems, *found.warnings)), found
    assert found.passed == ("unittest" not in command)  # unittest finds no other test here


def test_helpers_of_tests_are_no_tests(project: Project) -> None:
    helper = "class BaseChecks:\n    def test_shared(self):\n        assert self\n\n\ndef testing():\n    return 1\n"
    assert look(project, PYTEST, {"tests/helpers.py": helper}).warnings == ()


def test_unittest_lists_what_it_would_run(project: Project) -> None:
    shutil.rmtree(project.root / "tests")
    files = {"tests/test_a.py": CASE.format(body="assert 0"), "tests/test_lost.py": "import no_such_module\n"}
    found = look(project, f"{UNITTEST} discover -s tests -q", files)
    assert found.looked_at.endswith(": 1 test found")
    assert "test_lost" in found.warnings[0]


@pytest.mark.slow
def test_what_cannot_list_is_run_and_red_is_named(project: Project) -> None:
    files = {"tests/test_a.py": CASE.format(body="assert 0"), "run.sh": f"{UNITTEST} discover -q -s tests\n"}
    found = look(project, "sh run.sh", files)
    assert found.passed
    assert "1 of 2 tests failed" in found.warnings[0] or "1 of 1 tests failed" in found.warnings[0]
    assert "test_a" in found.warnings[0]
    good = look(project, "sh run.sh", {"tests/test_a.py": CASE.format(body="assert 1")})
    assert good.warnings == ()
    assert good.looked_at.endswith("passed")


@pytest.mark.slow
def test_what_runs_long_is_known_to_start(project: Project) -> None:
    found = look(project, "sleep 60", timeout_s=1)
    assert (found.problems, found.warnings) == ((), ())
    assert "it starts" in found.looked_at


def test_a_missing_program_fails_and_says_where_it_was_looked_for(project: Project) -> None:
    found = look(project, "pytset -q")
    assert "`pytset` was not found on PATH (/" in found.problems[0]
    assert "[tests] command" in found.problems[0]


@case(
    "commands",
    "a cloned project whose settings switch the sandbox off and whose test command is an attack: `swarm doctor`",
    "the doctor runs nothing that nothing confines, without network, and writing nowhere",
)
def test_nothing_of_a_strange_project_runs_with_the_users_rights(project: Project, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    project.write("attack.sh", f"touch {mark}\n")
    project.configure(commands={"sandbox": "none"}, tests={"command": "sh attack.sh"})
    found = suite_check.inspect(project.folder, settings.load(project_file=project.folder.config, environ={}))
    assert "nothing would confine it" in found.looked_at
    project.configure(commands={"writable": [str(tmp_path)], "network": True}, tests={"command": "sh attack.sh"})
    if SANDBOX != "none":
        suite_check.inspect(project.folder, settings.load(project_file=project.folder.config, environ={}))
    assert not mark.exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_is_run(project: Project) -> None:
    text = 'const test = require("node:test");\ntest("adds", () => {});\n'
    found = look(project, "node --test", {"part.test.js": text})
    assert found.looked_at == "node --test: 1 test passed"


def test_variables_are_looked_up_and_never_shown(project: Project) -> None:
    project.configure(
        roles__reviewer={"model": "command:true", "env": ["REVIEW_KEY", "OTHER_KEY"]},
        commands={"env": ["DATABASE_URL"]},
        providers__spare={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "SPARE_KEY"},
    )
    config = settings.load(project_file=project.folder.config, environ={})
    environ = {"REVIEW_KEY": "s3cr3t", "OTHER_KEY": ""}
    found = variables.inspect(config, written(project.folder, {}), environ)
    assert [each.message.partition(" ")[0] for each in found] == ["OTHER_KEY", "DATABASE_URL", "SPARE_KEY"]
    described = variables.described(config, environ)
    assert described == "REVIEW_KEY set, OTHER_KEY not set, DATABASE_URL not set, SPARE_KEY not set"
    assert "s3cr3t" not in described + "".join(each.text for each in found)

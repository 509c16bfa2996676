"""Tests that test inputs and fixtures are exempt from lint, syntax and build gates, but not from the secrets gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.project.files import Trait, traits_of

if TYPE_CHECKING:
    Project = Any


@pytest.mark.parametrize(
    "path",
    [
        "tests/data/broken.py", "pkg/testdata/src/a/a.go", "test/fixtures/app/index.js", "src/__snapshots__/a.js.snap",
        "cmd/out.json.golden", "tests/lint/data/deep/x.yaml", "spec/fixtures/bad.rb", "tests/golden/page.html",
        "tests/report.approved.json",
    ],
)  # fmt: skip
def test_inputs(path: str) -> None:
    assert Trait.INPUT in traits_of(path)


@pytest.mark.parametrize(
    "path",
    [
        "tests/data/test_loader.py", "tests/fixtures/conftest.py", "tests/fixtures/__init__.py", "src/data/load.py",
        "tests/test_app.py", "data/app.py", "golden/app.py", "src/golden.py", "tests/data/loader.spec.ts",
    ],
)  # fmt: skip
def test_what_is_none(path: str) -> None:
    assert Trait.INPUT not in traits_of(path)


@pytest.mark.parametrize("gate", ["syntax_check", "lint_check", "lint_fix", "build_check"])
def test_gates_of_form_leave_them_and_count_them(project: Project, gate: str) -> None:
    project.write("tests/data/broken.py", "import os\ndef f(:\n")
    result = project.gate(gate)
    assert result.status is GateStatus.SKIP
    assert gate == "build_check" or "1 input" in result.reason
    project.write("src/broken.py", "import os\ndef f(:\n")
    if gate != "lint_fix":
        assert project.gate(gate).status is GateStatus.FAIL


@pytest.mark.slow
def test_a_scan_for_weaknesses_is_no_error_over_them(project: Project) -> None:
    project.write("tests/data/broken.py", "def f(:\n")
    project.write("tests/data/evil.py", "import subprocess\n\nsubprocess.call(input(), shell=True)\n")
    result = project.gate("sast_scan")
    assert result.status is not GateStatus.ERROR
    assert "not looked at: tests/data/broken.py does not parse" in result.reason
    assert {each.path for each in result.findings} == {"tests/data/evil.py"}


def test_secrets_in_them_are_found(project: Project) -> None:
    project.write("tests/data/settings.py", "KEY = 'AKIA" + "Q3EGRLXHWZ7NVYT2'\n")
    assert project.gate("secret_scan").status is GateStatus.FAIL


@pytest.mark.slow
def test_what_did_not_parse_before_the_change_is_a_note(project: Project) -> None:
    old = "def f():\n    print 'x'\n"
    project.commit_files({"old.py": old, "fine.py": "x = 1\n"})
    project.write("old.py", old + "    print 'y'\n")
    result = project.gate("sast_scan")
    assert (result.status, "not looked at: old.py does not parse" in result.reason) == (GateStatus.PASS, True)
    project.write("fine.py", "x = = 1\n")
    assert project.gate("sast_scan").status is GateStatus.ERROR

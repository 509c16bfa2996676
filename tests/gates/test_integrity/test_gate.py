"""Tests the test integrity gate in a repository: the task's text, runs by hand, the rest of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus

if TYPE_CHECKING:
    Project = Any

CODE = "def double(a):\n    return a * 2\n\n\ndef old(a):\n    return a\n"
TESTS = """\
from code import double, old


def test_double():
    assert double(2) == 4
    assert double(21) == 42


def test_old():
    assert old(3) == 3
"""


@pytest.fixture
def tested(project: Project) -> Project:
    project.commit_files({"src/code.py": CODE, "tests/test_code.py": TESTS})
    return project


def edit(project: Project, old: str, new: str, path: str = "tests/test_code.py") -> None:
    text = (project.root / path).read_text()
    assert old in text
    project.write(path, text.replace(old, new))


def findings(project: Project, announced: str | None = None) -> list[tuple[str, str]]:
    result = project.gate("test_integrity", announced=announced)
    assert result.status in {GateStatus.PASS, GateStatus.FAIL}
    return [(each.rule, each.severity.value) for each in result.findings]


@pytest.mark.parametrize(
    ("announced", "severity"),
    [
        (None, "high"),
        ("Make double faster.\nKind: feature", "high"),
        ("Make all tests pass.\nKind: feature", "high"),
        ("Do not remove tests.\nKind: feature", "high"),
        ("Remove test_old, which nobody needs.\nKind: feature", "high"),
        ("Remove the test test_double, it tests Python.\nKind: feature", "info"),
        ("Drop the tests in tests/test_code.py that take too long.\nKind: feature", "info"),
        ("Remove outdated tests.\nKind: feature", "info"),
        ("Everything is new.\nKind: breaking", "high"),
    ],
)
def test_what_the_task_says_of_a_removed_test(tested: Project, announced: str | None, severity: str) -> None:
    edit(tested, "def test_double():\n    assert double(2) == 4\n    assert double(21) == 42\n\n\n", "")
    assert findings(tested, announced) == [("test-removed", severity)]


@pytest.mark.parametrize(
    ("announced", "severity"),
    [
        (None, "medium"),
        ("Make double faster.\nKind: feature", "medium"),
        ("Round up.\nKind: breaking", "info"),
        ("Update the expected values of test_double.\nKind: feature", "info"),
    ],
)
def test_an_expected_value_without_a_change_of_the_product(
    tested: Project, announced: str | None, severity: str
) -> None:
    edit(tested, "== 42", "== 43")
    assert findings(tested, announced) == [("expected-changed", severity)]


@pytest.mark.parametrize(("announced", "severity"), [(None, "low"), ("Tidy up.\nKind: refactoring", "medium")])
def test_an_expected_value_beside_a_change_of_the_product(
    tested: Project, announced: str | None, severity: str
) -> None:
    edit(tested, "== 42", "== 43")
    edit(tested, "a * 2", "a + a + (a > 9)", path="src/code.py")
    assert findings(tested, announced) == [("expected-changed", severity)]


def test_comments_in_the_product_are_no_change_of_it(tested: Project) -> None:
    edit(tested, "== 42", "== 43")
    edit(tested, "def double", "# doubles\ndef double", path="src/code.py")
    assert findings(tested) == [("expected-changed", "medium")]


def test_a_name_that_is_defined_elsewhere_is_not_gone(tested: Project) -> None:
    gone = "def test_old():\n    assert old(3) == 3\n"
    edit(tested, gone, "")
    edit(tested, "\n\ndef old(a):\n    return a\n", "", path="src/code.py")
    tested.write("src/other.py", "def old(a):\n    return a\n")
    assert findings(tested) == [("test-removed", "high")]
    (tested.root / "src/other.py").unlink()
    assert findings(tested) == [("test-removed-with-code", "info")]


def test_what_was_off_before_and_what_is_new_and_off(tested: Project) -> None:
    edit(tested, "def test_old", "@pytest.mark.skip\ndef test_old")
    tested.commit()
    edit(tested, "@pytest.mark.skip\ndef test_old", "@pytest.mark.skip(reason='later')\ndef test_old")
    tested.write("tests/test_new.py", "@pytest.mark.skip\ndef test_new():\n    assert double(1) == 2\n")
    assert findings(tested) == [("new-test-off", "low")]


def test_many_tests_of_one_file_are_one_fact(tested: Project) -> None:
    many = "".join(f"def test_{n}():\n    assert double({n}) == {2 * n}\n\n\n" for n in range(9))
    tested.commit_files({"tests/test_many.py": many})
    (tested.root / "tests/test_many.py").unlink()
    result = tested.gate("test_integrity")
    (found,) = result.findings
    assert found.message.startswith("9 tests of this file: the test `test_0` is gone")
    assert result.status is GateStatus.FAIL


def test_expected_results_on_file(tested: Project) -> None:
    tested.commit_files({"tests/__snapshots__/a.snap": "one\n", "tests/out.golden": "two\n"})
    tested.write("tests/__snapshots__/a.snap", "other\n")
    tested.write("tests/out.golden", "two\nmore\n")
    assert findings(tested) == [("snapshot-changed", "medium")]


def test_code_that_answers_a_test_is_found_by_a_test_of_before(tested: Project) -> None:
    edit(tested, "    return a * 2", "    if a == 21:\n        return 42\n    return a + 2", path="src/code.py")
    assert findings(tested) == [("special-cased-test", "medium")]
    edit(tested, "a == 21", "a == 23", path="src/code.py")
    assert findings(tested) == []


def test_files_that_no_grammar_reads_are_no_error(tested: Project) -> None:
    tested.write("tests/test_code.py", TESTS + "\n\ndef test_(:\n")
    assert findings(tested) == []
    tested.write("tests/test_code.py", b"\xff\xfe\x00broken")
    assert tested.gate("test_integrity").status is not GateStatus.ERROR


def test_a_tree_that_is_judged_whole_has_no_difference(tested: Project) -> None:
    assert tested.gate("test_integrity").reason.startswith("nothing was changed")


@pytest.mark.parametrize(
    "code",
    [
        "def test_exit():\n    with pytest.raises(SystemExit):\n        sys.exit(0)\n",
        "def test_run(run):\n    assert run([python, '-c', 'import sys; sys.exit(0)']).ok\n",
        "def done():\n    return CompletedProcess([], returncode=0)\n\n\ndef test_done():\n    assert done().ok\n",
        "class ToolTest(TestCase):\n    def setUp(self):\n        if find() is None:\n            self.skipTest('')\n",
        "if __name__ == '__main__':\n    sys.exit(0)\n",
    ],
)
def test_code_that_ends_something_else_than_the_run(tested: Project, code: str) -> None:
    tested.write("tests/test_tool.py", code)
    assert findings(tested) == []


def test_the_workflow_that_moved_runs_the_tests_still(tested: Project) -> None:
    steps = "test:\n  script: python -m pytest\n"
    tested.commit_files({".gitlab-ci.yml": steps})
    (tested.root / ".gitlab-ci.yml").unlink()
    assert findings(tested) == [("test-command", "medium")]
    tested.write(".github/workflows/ci.yml", "jobs:\n  test:\n    steps:\n      - run: python -m pytest -q\n")
    assert findings(tested) == []

"""Which files test runners pass over, by their rules; where nobody can tell, nothing is said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from swarmgate.workspace.test_runs.collection.rules import Rules

PY = "def test_a():\n    pass\n"
JS = "import { test } from 'vitest';\ntest('a', () => {});\n"
MEANT = True


def rules(runner: str, command: str, files: Mapping[str, str]) -> Rules:
    return Rules(runner, command, tuple(files), lambda path: files.get(path, ""))


def why(runner: str, command: str, path: str, **files: str) -> str:
    """Why a file is passed over; beside it are `files`, `__` for a slash and `_dot_` for a dot."""
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    found = rules(runner, command, {path: PY, **named}).excluded(path)
    return f"{found.why}{' (meant)' if found.meant else ''}" if found else ""


@pytest.mark.parametrize(
    ("command", "path", "told"),
    [
        ("pytest -q", "tests/test_a.py", ""),
        ("pytest -q", "tests/a_test.py", ""),
        ("pytest -q", "tests/conftest.py", ""),
        ("pytest -q", "tests/foo.py", "python_files = test_*.py *_test.py"),
        ("pytest -q tests/foo.py", "tests/foo.py", ""),
        ("pytest -q ./tests/foo.py::test_a", "tests/foo.py", ""),
        ("pytest -q unit/", "tests/test_a.py", "the test command looks in unit only (meant)"),
        ("pytest -k tests -m slow -n 4", "other/test_a.py", ""),
        ("pytest -k other", "other/test_a.py", ""),
        ("pytest --ignore tests/new", "tests/new/test_a.py", "--ignore=tests/new (meant)"),
        ("pytest --ignore-glob='*_a.py'", "tests/test_a.py", "--ignore-glob=*_a.py (meant)"),
        ("pytest -o python_files='check_*.py foo.py'", "tests/foo.py", ""),
        ("pytest -q", "build/test_a.py", "norecursedirs = build"),
        ("pytest -q", ".hidden/test_a.py", "norecursedirs = .*"),
        ("pytest -q build", "build/test_a.py", ""),
        ("pytest -c other.ini", "tests/foo.py", ""),
        ("cd tests && pytest", "tests/foo.py", ""),
        ("pytest 'unclosed", "tests/foo.py", ""),
        ("make test", "tests/foo.py", ""),
    ],
)
def test_pytest_by_its_command_line(command: str, path: str, told: str) -> None:
    assert why("pytest", command, path) == told


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest_dot_ini", "[pytest]\ntestpaths = unit\n"),
        ("pyproject_dot_toml", '[tool.pytest.ini_options]\ntestpaths = ["unit"]\n'),
        ("pyproject_dot_toml", '[tool.pytest]\ntestpaths = ["unit"]\n'),
        ("tox_dot_ini", "[pytest]\ntestpaths = unit\n"),
        ("setup_dot_cfg", "[tool:pytest]\ntestpaths = unit\n"),
        ("pytest_dot_toml", '[pytest]\ntestpaths = ["unit"]\n'),
    ],
)
def test_pytest_by_its_settings_wherever_they_stand(file: str, text: str) -> None:
    there = {file: text, "unit__test_b_dot_py": PY}
    assert why("pytest", "pytest", "tests/test_a.py", **there) == "testpaths = unit (meant)"
    assert why("pytest", "pytest", "unit/test_a.py", **there) == ""
    assert why("pytest", "pytest tests", "tests/test_a.py", **there) == ""
    assert (
        why("pytest", "pytest", "tests/test_a.py", **{file: text}) == ""
    )  # none of them is there: pytest looks everywhere


def test_the_first_file_with_a_table_counts_and_what_is_broken_says_nothing() -> None:
    both = {"pytest_dot_ini": "[pytest]\n", "setup_dot_cfg": "[tool:pytest]\npython_files = foo.py\n"}
    assert why("pytest", "pytest", "tests/foo.py", **both) == "python_files = test_*.py *_test.py"
    for broken in (
        {"pytest_dot_ini": "[pytest\n"},
        {"pyproject_dot_toml": "[tool.pytest"},
        {"pyproject_dot_toml": "tool = 3"},
    ):
        assert why("pytest", "pytest", "tests/test_a.py", **broken) == ""


@pytest.mark.parametrize(
    ("command", "path", "told"),
    [
        ("python -m unittest", "test_a.py", ""),
        ("python -m unittest discover -s tests", "tests/test_a.py", ""),
        ("python -m unittest discover -s tests", "unit/test_a.py", "unittest looks in tests only (meant)"),
        (
            "python -m unittest discover tests 'check_*.py'",
            "tests/test_a.py",
            "its name does not fit the pattern check_*.py",
        ),
        ("python -m unittest discover -s tests -p 'check_*.py'", "tests/check_a.py", ""),
        (
            "python -m unittest discover",
            "tests/test_a.py",
            "unittest goes into packages only, and tests has no __init__.py",
        ),
        ("python -m unittest tests.test_a", "tests/test_a.py", ""),
        ("python -m unittest tests.test_b", "tests/test_a.py", "the test command names tests.test_b only (meant)"),
    ],
)
def test_unittest(command: str, path: str, told: str) -> None:
    assert why("unittest", command, path) == told


@pytest.mark.parametrize(
    ("runner", "command", "path", "passed_over"),
    [
        ("go", "go test ./...", "a/a_test.go", False),
        ("go", "go test ./...", "a/tests.go", True),
        ("go", "go test ./...", "testdata/a_test.go", True),
        ("rspec", "bundle exec rspec", "spec/a_spec.rb", False),
        ("rspec", "bundle exec rspec", "spec/a.rb", True),
        ("jest", "npx jest", "src/a.test.ts", False),
        ("jest", "npx jest", "src/__tests__/a.ts", False),
        ("jest", "npx jest", "tests/a.ts", True),
        ("vitest", "npx vitest run", "src/a.spec.tsx", False),
        ("vitest", "npx vitest run", "tests/a.ts", True),
        ("node", "node --test", "test/a.js", False),
        ("node", "node --test", "src/a-test.mjs", False),
        ("node", "node --test", "tests/a.js", True),
        ("node", "node --test tests/", "tests/a.js", False),
        ("mocha", "npx mocha", "test/a.js", False),
        ("mocha", "npx mocha", "test/deep/a.js", True),
        ("cargo", "cargo test", "tests/a.rs", False),
        ("", "make test", "tests/a.py", False),
    ],
)
def test_other_runners(runner: str, command: str, path: str, *, passed_over: bool) -> None:
    assert (rules(runner, command, {path: JS}).excluded(path) is not None) is passed_over


def test_settings_of_scripts_that_are_code_say_nothing_and_a_list_in_the_manifest_does() -> None:
    manifest = '{"scripts": {"test": "jest"}, "jest": {"testMatch": ["<rootDir>/checks/**/*.js"]}}'
    assert why("jest", "npm test", "src/a.test.js", package_dot_json=manifest) == "testMatch = checks/**/*.js"
    assert why("jest", "npm test", "checks/deep/a.js", package_dot_json=manifest) == ""
    assert why("vitest", "npx vitest", "tests/a.ts", vitest_dot_config_dot_ts="export default {}") == ""
    assert why("jest", "npm test", "tests/a.ts", package_dot_json='{"scripts": {"test": "jest --ci"}}') == ""


@pytest.mark.parametrize(
    ("path", "text", "held"),
    [
        ("tests/a.py", PY, True),
        ("tests/a.py", "async def test_a():\n    pass\n", True),
        ("tests/a.py", "class TestA:\n    def test_a(self):\n        pass\n", True),
        ("tests/a.py", "class A(unittest.TestCase):\n    def test_a(self):\n        pass\n", True),
        ("tests/a.py", "class Mixin:\n    def test_a(self):\n        pass\n", False),
        ("tests/a.py", "class A(TestCase):\n    def setUp(self):\n        pass\n", False),
        ("tests/a.py", "def testing():\n    pass\n", False),
        ("tests/a.js", JS, False),
        ("tests/data.json", "{}", False),
    ],
)
def test_what_holds_tests(path: str, text: str, *, held: bool) -> None:
    assert rules("pytest", "pytest", {path: text}).holds_tests(path, text) is held

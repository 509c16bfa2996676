"""Test runs, with the real tools."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest
from tests.confined import NO_PLUGINS, runner

from swarmgate.workspace.test_runs import junit
from swarmgate.workspace.test_runs.suite import run_tests, runner_of, with_paths

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -c pytest.ini"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(NO_PLUGINS, "1")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests/test_good.py").write_text("def test_a(): pass\n\ndef test_b(): pass\n")
    return tmp_path


@pytest.mark.slow
async def test_pytest_is_counted_exactly_and_leaves_nothing_behind(project: Path) -> None:
    (project / "tests/test_bad.py").write_text(
        "import pytest\n\nclass TestX:\n    @pytest.mark.parametrize('n', [1, 2])\n"
        "    def test_n(self, n): assert n == 1\n\n"
        "@pytest.mark.skip\ndef test_s(): pass\n\n@pytest.fixture\ndef broken():\n    yield\n    raise RuntimeError\n\n"
        "def test_teardown(broken): assert 0\n"
    )
    done = await run_tests(PYTEST, runner=runner(project), timeout_s=60)
    assert (done.exit_code, done.passed, done.failed, done.skipped) == (1, 3, 2, 1)
    assert done.failures == ("tests/test_bad.py::TestX::test_n[2]", "tests/test_bad.py::test_teardown")
    assert not done.green
    assert done.reason.startswith("2 of 5 tests failed: tests/test_bad.py::TestX::test_n[2]")
    left = sorted(path.name for path in project.rglob("*"))  # noqa: ASYNC240 - a test
    assert left == ["pytest.ini", "test_bad.py", "test_good.py", "tests"]


@pytest.mark.slow
async def test_pytest_green_on_named_paths_only(project: Path) -> None:
    (project / "tests/test_bad one.py").write_text("def test_c(): assert 0\n")
    good = await run_tests(PYTEST, runner=runner(project), timeout_s=60, paths=["tests/test_good.py"])
    assert good.green
    assert (good.passed, good.problem, good.reason) == (2, "", "")
    bad = await run_tests(PYTEST, runner=runner(project), timeout_s=60, paths=["tests/test_bad one.py"])
    assert (bad.passed, bad.failed) == (0, 1)


@pytest.mark.slow
async def test_an_existing_pytest_addopts_still_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k test_a")
    assert (await run_tests(PYTEST, runner=runner(project), timeout_s=60)).passed == 1


@pytest.mark.slow
async def test_no_test_ran_is_not_green(project: Path) -> None:
    (project / "tests/test_good.py").unlink()
    done = await run_tests(PYTEST + " || true", runner=runner(project), timeout_s=60)
    assert (done.exit_code, done.passed, done.green) == (0, 0, False)
    assert "no test ran" in done.reason


@pytest.mark.slow
async def test_a_collection_error_is_a_failure_with_a_name(project: Path) -> None:
    (project / "tests/test_bad.py").write_text("import nowhere_to_be_found\n")
    done = await run_tests(PYTEST, runner=runner(project), timeout_s=60)
    assert done.failed == 1
    assert "test_bad" in done.failures[0]


async def test_a_hanging_suite_is_ended_with_its_children(tmp_path: Path) -> None:
    started = time.monotonic()
    done = await run_tests("sleep 60 & sleep 60; wait", runner=runner(tmp_path), timeout_s=0.3)
    assert time.monotonic() - started < 30
    assert done.exit_code is None
    assert done.problem == "the tests did not end within 0.3 s; the whole process group was ended"


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    done = await run_tests("no-such-runner --all", runner=runner(tmp_path), timeout_s=10)
    assert (done.exit_code, done.problem) == (127, "`no-such-runner` was not found; is it installed?")


async def test_a_missing_pytest_is_named(tmp_path: Path) -> None:
    done = await run_tests(f"{shlex.quote(sys.executable)} -I -S -m pytest", runner=runner(tmp_path), timeout_s=10)
    assert "pytest is not installed" in done.problem


async def test_output_without_a_count_asks_for_the_pattern(tmp_path: Path) -> None:
    done = await run_tests("echo all good", runner=runner(tmp_path), timeout_s=10)
    assert (done.exit_code, done.passed, done.green) == (0, None, False)
    assert "tests.count_pattern" in done.problem
    pattern = r"(?P<passed>\d+) good"
    counted = await run_tests("echo 3 good", runner=runner(tmp_path), timeout_s=10, count_pattern=pattern)
    assert counted.green


async def test_a_failed_build_is_its_exit_code_and_not_a_matter_of_counts(tmp_path: Path) -> None:
    done = await run_tests("echo cannot compile >&2; exit 2", runner=runner(tmp_path), timeout_s=10)
    assert (done.exit_code, done.problem, done.green) == (2, "", False)
    assert "cannot compile" in done.output


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
async def test_node_s_own_runner_behind_npm(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (tmp_path / "a.test.js").write_text(
        "const test = require('node:test'); test('fine', () => {}); test('broken', () => { throw new Error('x') });\n"
    )
    done = await run_tests("node --test", runner=runner(tmp_path), timeout_s=60)
    assert (done.passed, done.failed) == (1, 1)
    assert "broken" in done.failures
    assert runner_of("npm test", tmp_path) == "node"


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("python3 -m pytest -q", "pytest"),
        ("uv run pytest", "pytest"),
        ("cargo test --all", "cargo"),
        ("cd x && go test ./...", "go"),
        ("./mvnw -q test", "maven"),
        ("npx vitest run", "vitest"),
        ("bun test", "bun"),
        ("make check", ""),
        ("npm test", ""),
    ],
)
def test_the_runner_of_a_command(tmp_path: Path, command: str, runner: str) -> None:
    assert runner_of(command, tmp_path) == runner


@pytest.mark.parametrize(
    ("command", "runner", "expected"),
    [
        ("pytest -q", "pytest", "pytest -q 'a b.py' c.py"),
        ("npm test", "jest", "npm test -- 'a b.py' c.py"),
        ("pnpm test", "vitest", "pnpm test 'a b.py' c.py"),
        ("cd x && pytest", "pytest", "cd x && pytest"),
        ("cargo test", "cargo", "cargo test"),
    ],
)
def test_narrowing_a_command_to_paths(tmp_path: Path, command: str, runner: str, expected: str) -> None:
    assert with_paths(command, runner, ["a b.py", "c.py"], tmp_path) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q lib/tests", "pytest -q lib/tests/test_a.py"),
        ("pytest ./lib -q", "pytest -q lib/tests/test_a.py"),
        ("PYTHONPATH=$PWD pytest lib other", "PYTHONPATH=$PWD pytest other lib/tests/test_a.py"),
        ("pytest --rootdir lib", "pytest --rootdir lib lib/tests/test_a.py"),
        ("pytest -c lib/tests", "pytest -c lib/tests lib/tests/test_a.py"),
    ],
)
def test_a_folder_that_pytest_is_told_to_look_in_gives_way_to_the_files_in_it(
    tmp_path: Path, command: str, expected: str
) -> None:
    (tmp_path / "lib" / "tests").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    assert with_paths(command, "pytest", ["lib/tests/test_a.py"], tmp_path).split() == expected.split()


def test_maven_and_gradle_reports_of_this_run_are_summed(tmp_path: Path) -> None:
    for name, body, age in [
        ("app/target/surefire-reports/TEST-A.xml", '<testcase classname="A" name="x"/>', 0),
        ("lib/build/test-results/test/TEST-B.xml", '<testcase classname="B" name="y"><failure/></testcase>', 0),
        ("lib/build/test-results/test/TEST-Old.xml", '<testcase classname="C" name="z"/>', 1000),
    ]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"<testsuite>{body}</testsuite>")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    found = junit.read(tmp_path, junit.jvm_reports(tmp_path, time.time() - 60))
    assert found is not None
    assert (found.passed, found.failed, found.failures) == (1, 1, ("B::y",))


def test_a_report_with_entities_or_broken_xml_is_not_read(tmp_path: Path) -> None:
    for text in ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>', "<testsuite>"):
        (tmp_path / "r.xml").write_text(text)
        assert junit.read(tmp_path, [tmp_path / "r.xml"]) is None


def test_a_report_that_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    good = '<testsuite><testcase classname="a" name="b"/></testsuite>'
    (tmp_path / "good.xml").write_text(good)
    (tmp_path / "link.xml").symlink_to("good.xml")
    (tmp_path / "zero.xml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "folder.xml").mkdir()
    assert junit.read(tmp_path, [tmp_path / "good.xml"]) is not None
    for name in ("link", "zero", "pipe", "folder"):
        assert junit.read(tmp_path, [tmp_path / f"{name}.xml"]) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-7"])
def test_a_report_in_another_encoding_hides_no_document_type(tmp_path: Path, encoding: str) -> None:
    bomb = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE t [<!ENTITY a "x">]><t><testcase name="&a;"/></t>'
    (tmp_path / "r.xml").write_bytes(bomb.encode(encoding))
    assert junit.read(tmp_path, [tmp_path / "r.xml"]) is None


@pytest.mark.parametrize("name", ["a." * 100_000, "a" * 5_000, "a\udcff".encode("utf-8", "replace").decode(), "..b"])
def test_no_name_in_a_report_breaks_its_reader(tmp_path: Path, name: str) -> None:
    (tmp_path / "r.xml").write_text(f'<t><testcase classname="{name}" name="b"/></t>')
    found = junit.read(tmp_path, [tmp_path / "r.xml"])
    assert found is not None
    assert found.names == (f"{name}::b",)


@pytest.mark.slow
def test_a_report_nested_without_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text("<a>" * 100_000)
    assert junit.read(tmp_path, [tmp_path / "r.xml"]) is None


def test_a_pipe_among_the_reports_of_maven_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "target/surefire-reports"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "TEST-A.xml")
    (folder / "TEST-B.xml").symlink_to("/nowhere")
    assert junit.read(tmp_path, junit.jvm_reports(tmp_path, 0)) is None


def test_a_manifest_without_end_or_that_is_a_pipe_names_no_runner(tmp_path: Path) -> None:
    place = tmp_path / "package.json"
    place.write_text('{"a":' + "[" * 50_000 + "]" * 50_000 + "}")
    assert runner_of("npm test", tmp_path) == ""
    place.unlink()
    os.mkfifo(place)
    assert runner_of("npm test", tmp_path) == ""


def forged(project: Path, code: str) -> None:
    """A root conftest.py that has its way before pytest comes to its end."""
    (project / "tests/test_bad.py").write_text("def test_bad(): assert 0\n")
    (project / "conftest.py").write_text(code)


@pytest.mark.slow
async def test_a_report_that_pytest_did_not_live_to_write_is_not_green(project: Path) -> None:
    report = '<testsuites><testsuite><testcase classname="tests.test_good" name="test_a"/></testsuite></testsuites>'
    forged(
        project,
        "import os\n\ndef pytest_sessionfinish(session):\n    path = session.config.option.xmlpath\n"
        f"    open(path, 'w').write('{report}')\n    os._exit(0)\n",
    )
    done = await run_tests(PYTEST, runner=runner(project), timeout_s=60)
    assert (done.exit_code, done.passed, done.failed, done.green) == (0, 2, 1, False)
    assert done.reason == "the test runner was tampered with: it did not come to its end, and ended with exit code 0"


@pytest.mark.slow
async def test_a_report_that_says_more_than_pytest_did_is_not_green(project: Path) -> None:
    report = "".join(f'<testcase classname="tests.test_good" name="test_{name}"/>' for name in "abc")
    forged(
        project,
        "def pytest_unconfigure(config):\n    path = config.option.xmlpath\n"
        f"    open(path, 'w').write('<testsuites><testsuite>{report}</testsuite></testsuites>')\n",
    )
    done = await run_tests(PYTEST + " || true", runner=runner(project), timeout_s=60)
    assert (done.exit_code, done.passed, done.failed, done.green) == (0, 2, 1, False)
    assert done.reason == "1 of 3 tests failed: tests/test_bad.py::test_bad"


@pytest.mark.slow
async def test_without_a_canary_report_and_last_line_must_agree(project: Path) -> None:
    report = "".join(f'<testcase classname="tests.test_good" name="test_{name}"/>' for name in "abc")
    forged(
        project,
        "def pytest_unconfigure(config):\n    path = config.option.xmlpath\n"
        f"    open(path, 'w').write('<testsuites><testsuite>{report}</testsuite></testsuites>')\n",
    )
    done = await run_tests(f"env -u PYTHONPATH {PYTEST} || true", runner=runner(project), timeout_s=60)
    assert (done.exit_code, done.passed, done.green) == (0, 3, False)
    assert "report names 3 tests that passed and 0 that failed, and its last line 2 and 1" in done.reason
    assert done.canary
    assert "no Python that takes PYTHONPATH" in done.canary.missing


@pytest.mark.slow
async def test_honest_runs_do_not_contradict_themselves(project: Path) -> None:
    (project / "tests/test_more.py").write_text(
        "import unittest\nimport pytest\n\n@pytest.mark.xfail\ndef test_x(): pass\n\n@pytest.mark.xfail\n"
        "def test_f(): assert 0\n\n@pytest.mark.skip\ndef test_s(): pass\n\n"
        "class TestU(unittest.TestCase):\n    def test_sub(self):\n        for n in range(3):\n"
        "            with self.subTest(n=n): pass\n"
    )
    for options in ("", " -q", " -v", " --no-summary -s"):
        done = await run_tests(PYTEST + options, runner=runner(project), timeout_s=60)
        assert (done.green, done.passed, done.reason) == (True, 4, ""), options

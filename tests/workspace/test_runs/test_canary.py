"""Canaries among the project's tests: forged runners are found out, honest projects of any layout are left alone."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.confined import NO_PLUGINS, runner

from swarmgate.domain.review.evidence import TestRun
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.process.process import run
from swarmgate.workspace.test_runs.canary.channel import opened
from swarmgate.workspace.test_runs.canary.control_run import control
from swarmgate.workspace.test_runs.canary.verdict import judge
from swarmgate.workspace.test_runs.lost_tests import lost
from swarmgate.workspace.test_runs.suite import run_tests

PYTHON = shlex.quote(sys.executable)
PYTEST = f"{PYTHON} -m pytest"
UNITTEST = f"{PYTHON} -m unittest"
HOME = os.environ["HOME"]
GOOD = "def test_a(): pass\n\ndef test_b(): pass\n"
BAD = "import app\n\ndef test_good(): pass\n\ndef test_bad(): assert app.one() == 2\n"
CASE = (
    "import unittest\nimport app\n\nclass TestApp(unittest.TestCase):\n    def test_good(self): pass\n"
    "    def test_app(self): self.assertEqual(app.one(), NUMBER)\n"
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(NO_PLUGINS, "1")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "app.py").write_text("def one(): return 1\n")
    return tmp_path


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def ran(root: Path, command: str = PYTEST, paths: tuple[str, ...] = ()) -> TestRun:
    return await run_tests(command, runner=runner(root), timeout_s=120, paths=paths)


def had_canaries(done: TestRun) -> bool:
    return done.canary is not None and done.canary.failed > 0 and not done.canary.missing


# --- forged runs of pytest ---

RUNTEST = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
FORGED = {
    "pytest_pyfunc_call in a conftest.py": {"conftest.py": "def pytest_pyfunc_call(pyfuncitem): return True\n"},
    "the same in a folder's own": {"tests/conftest.py": "def pytest_pyfunc_call(pyfuncitem): return True\n"},
    "addopts = -p plugin": {
        "plugin.py": "def pytest_pyfunc_call(pyfuncitem): return True\n",
        "pytest.ini": "[pytest]\naddopts = -p plugin\npythonpath = .\n",
    },
    "Function.runtest in product code": {"app.py": "def one(): return 1\n" + RUNTEST},
    "Function.runtest in tests/__init__.py": {"tests/__init__.py": RUNTEST},
    "Function.runtest in a fixture": {
        "conftest.py": "import pytest\n@pytest.fixture(autouse=True, scope='session')\ndef forge():\n    "
        + RUNTEST.replace("\n", "\n    ").strip()
        + "\n"
    },
    "Function.runtest in a test": {
        "tests/test_aaa.py": "def test_a():\n    " + RUNTEST.replace("\n", "\n    ").strip() + "\n"
    },
    "each test replaced in an autouse fixture": {
        "conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef forge(request):\n"
        "    request.node.obj = lambda *a, **k: None\n"
    },
    "each test expected to fail": {
        "conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef forge(request):\n"
        "    request.applymarker(pytest.mark.xfail)\n"
    },
    "the report passed in pytest_runtest_makereport": {
        "conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True, tryfirst=True)\n"
        "def pytest_runtest_makereport(item, call):\n    out = yield\n    report = out.get_result()\n"
        "    report.outcome, report.longrepr = 'passed', None\n"
    },
    "the call without its error there": {
        "conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True, tryfirst=True)\n"
        "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n    call._result = None\n    yield\n"
    },
    "another report in its place": {
        "conftest.py": "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    return pytest.TestReport(item.nodeid, item.location, {}, 'passed', None, call.when)\n"
    },
    "the report passed in pytest_runtest_logreport": {
        "conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True, tryfirst=True)\n"
        "def pytest_runtest_logreport(report):\n    report.outcome, report.longrepr = 'passed', None\n    yield\n"
    },
    "a protocol of its own": {
        "conftest.py": "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_protocol(item, nextitem):\n"
        "    for when in ('setup', 'call', 'teardown'):\n"
        "        report = pytest.TestReport(item.nodeid, item.location, {}, 'passed', None, when)\n"
        "        item.ihook.pytest_runtest_logreport(report=report)\n    return True\n"
    },
    "TestReport.from_item_and_call replaced": {
        "app.py": "def one(): return 1\nimport pytest\ndef make(cls, item, call):\n"
        "    return cls(item.nodeid, item.location, {}, 'passed', None, call.when)\n"
        "pytest.TestReport.from_item_and_call = classmethod(make)\n"
    },
    "assertions taken out as they are rewritten": {
        "conftest.py": "import _pytest.assertion.rewrite as r\nimport ast\n"
        "class Drop(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
        "r.rewrite_asserts = lambda tree, *a, **k: ast.fix_missing_locations(Drop().visit(tree))\n"
    },
    "call_and_report replaced": {
        "tests/__init__.py": "import _pytest.runner as r\nimport pytest\n"
        "def call_and_report(item, when, log=True, **kwds):\n"
        "    report = pytest.TestReport(item.nodeid, item.location, {}, 'passed', None, when)\n"
        "    log and item.ihook.pytest_runtest_logreport(report=report)\n    return report\n"
        "r.call_and_report = call_and_report\n"
    },
    "the exit code set when pytest ends": {"conftest.py": "import atexit, os\natexit.register(lambda: os._exit(0))\n"},
    "os._exit(0) as soon as a test has failed": {
        "conftest.py": "import os\ndef pytest_exception_interact(node, call, report):\n"
        "    print('2 passed in 0.01s', flush=True)\n    os._exit(0)\n"
    },
    "os._exit(0) in product code": {"app.py": "import os\ndef one():\n    os._exit(0)\n"},
    "session.testsfailed set to nothing": {
        "conftest.py": "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_sessionfinish(session):\n"
        "    session.testsfailed = 0\n    session.exitstatus = 0\n"
    },
    "failed reports that say that they are not": {
        "app.py": "def one(): return 1\nfrom _pytest.reports import BaseReport as R\n"
        "R.failed = property(lambda self: False)\nR.passed = property(lambda self: self.outcome != 'skipped')\n"
    },
    "another pytest in the top folder": {"pytest.py": "if __name__ == '__main__': print('2 passed in 0.01s')\n"},
    "our hooks taken out": {
        "conftest.py": "def pytest_collection_finish(session):\n    pm = session.config.pluginmanager\n"
        "    for plugin in list(pm.get_plugins()):\n"
        "        if 'Witness' in type(plugin).__name__:\n            pm.unregister(plugin)\n"
    },
}


FAST = (
    "pytest_pyfunc_call in a conftest.py",
    "addopts = -p plugin",
    "Function.runtest in product code",
    "Function.runtest in tests/__init__.py",
    "the report passed in pytest_runtest_makereport",
    "os._exit(0) as soon as a test has failed",
    "another pytest in the top folder",
)
"""The others run as long, each in a Python of its own."""


@pytest.mark.parametrize("how", [pytest.param(how, marks=[] if how in FAST else [pytest.mark.slow]) for how in FORGED])
async def test_a_forged_run_of_pytest_is_not_green(root: Path, how: str) -> None:
    written(root, {"tests/test_app.py": BAD, **FORGED[how]})
    done = await ran(root)
    assert not done.green
    assert "the test runner was tampered with: " in done.problem or done.exit_code == 1


@pytest.mark.slow
async def test_a_downgrade_to_no_canary_is_a_test_that_is_gone(root: Path) -> None:
    written(root, {"tests/test_app.py": GOOD})
    before = await ran(root)
    assert had_canaries(before)
    written(root, {"conftest.py": "def pytest_runtest_setup(item):\n    assert item.name in ('test_a', 'test_b')\n"})
    after = await ran(root)
    assert (after.green, had_canaries(after)) == (True, False)
    (told,) = lost(before, after)
    assert "what is done before each test of the project fails or skips it" in told
    assert not lost(after, after)


# --- honest runs of pytest ---

STRICT = "[pytest]\naddopts = -x -v --setup-show --strict-markers --strict-config -W error\npythonpath = .\n"
HOOKS = (
    "import os, pytest\nups = []\n\n@pytest.fixture(scope='session', autouse=True)\ndef once():\n    ups.append(1)\n"
    "    yield\n    assert ups == [1]\n\n@pytest.fixture(autouse=True)\ndef elsewhere(tmp_path, monkeypatch):\n"
    "    monkeypatch.chdir(tmp_path)\n\ndef pytest_collection_modifyitems(items):\n    assert len(items) == 6\n"
    "    for item in items:\n        assert 'canary' not in item.nodeid\n\n"
    "def pytest_runtest_logreport(report):\n    assert report.outcome != 'failed'\n\n"
    "def pytest_sessionfinish(session):\n    assert session.testscollected == 6\n    assert session.testsfailed == 0\n"
)
NESTED = (
    "import os, subprocess, sys\n\ndef test_nested(tmp_path):\n"
    "    assert not {'PYTEST_ADDOPTS', 'PYTHONPATH'} & set(os.environ)\n"
    "    (tmp_path / 'test_in.py').write_text('def test(): assert 0')\n"
    "    done = subprocess.run([sys.executable, '-m', 'pytest', '-q'], cwd=tmp_path, capture_output=True, text=True)\n"
    "    assert done.returncode == 1 and '1 failed in' in done.stdout\n\n"
    "def test_closed_and_patched(monkeypatch):\n    monkeypatch.setattr(os, 'write', None)\n"
    "    for name in os.listdir('/proc/self/fd'):\n        try:\n"
    "            if os.readlink('/proc/self/fd/' + name).endswith('/pipe'): os.close(int(name))\n"
    "        except OSError: pass\n"
)
CLASSES = (
    "import unittest\nimport pytest\nups = []\n\ndef setup_module(): ups.append(1)\n\n"
    "class TestU(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): ups.append(2)\n"
    "    def test_sub(self):\n        with self.subTest(1): self.assertEqual(ups, [1, 2])\n\n"
    "@pytest.mark.xfail(strict=True)\ndef test_x(): assert 0\n"
)


@pytest.mark.slow
async def test_an_honest_and_strict_suite_of_pytest_sees_nothing_of_it(root: Path) -> None:
    written(
        root,
        {
            "pytest.ini": STRICT,
            "conftest.py": HOOKS,
            "tests/__init__.py": "",
            "tests/test_a.py": GOOD,
            "tests/deep/test_nested.py": NESTED,
            "tests/deep/test_classes.py": CLASSES,
        },
    )
    done = await ran(root, PYTEST)
    assert done.green, done.output
    assert (done.passed, done.failed, done.skipped) == (5, 0, 1)
    assert sorted(done.names) == [
        "tests/deep/test_classes.py::TestU::test_sub",
        "tests/deep/test_nested.py::test_closed_and_patched",
        "tests/deep/test_nested.py::test_nested",
        "tests/test_a.py::test_a",
        "tests/test_a.py::test_b",
    ]
    assert had_canaries(done)
    assert {line.split("::")[0].split()[0] for line in done.output.splitlines() if ".py::" in line} == {
        "tests/test_a.py",
        "tests/deep/test_classes.py",
        "tests/deep/test_nested.py",
    }
    assert [path for path in root.rglob("*") if "order" in path.name] == []  # noqa: ASYNC240 - a test


@pytest.mark.slow
async def test_workers_of_xdist_have_canaries_of_their_own(root: Path) -> None:
    written(root, {f"tests/test_{name}.py": GOOD for name in "abcd"})
    done = await ran(root, PYTEST + " -p xdist -n 2 -x -q")
    assert (done.green, done.passed, had_canaries(done)) == (True, 8, True), done.output
    written(root, {"conftest.py": "def pytest_pyfunc_call(pyfuncitem): return True\n"})
    assert "tampered" in (await ran(root, PYTEST + " -p xdist -n 2 -x -q")).reason


@pytest.mark.slow
async def test_runs_that_fail_say_so_as_ever(root: Path) -> None:
    written(root, {"tests/test_app.py": BAD, "tests/test_more.py": GOOD})
    done = await ran(root, PYTEST)
    assert (done.exit_code, done.passed, done.failed, done.problem) == (1, 3, 1, "")
    assert done.failures == ("tests/test_app.py::test_bad",)
    stopped = await ran(root, PYTEST + " -x")
    assert (stopped.exit_code, stopped.passed, stopped.failed, stopped.problem) == (1, 1, 1, "")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
async def test_pytest_below_make_has_canaries_unless_its_path_is_its_own(root: Path) -> None:
    written(root, {"tests/test_a.py": GOOD, "Makefile": f"test:\n\t{PYTEST} -q\n\t{PYTEST} -q tests\n"})
    done = await ran(root, "make test")
    assert (done.green, done.passed, had_canaries(done)) == (True, 4, True), done.output
    written(root, {"Makefile": f"test:\n\tPYTHONPATH=src {PYTEST} -q\n"})
    done = await ran(root, "make test")
    assert (done.green, done.passed, had_canaries(done)) == (True, 2, False), done.output


@pytest.mark.slow
async def test_a_path_of_its_own_in_the_command_stays(root: Path) -> None:
    written(root, {"src/part.py": "", "tests/test_a.py": "import part\n" + GOOD})
    done = await ran(root, f"PYTHONPATH=src {PYTEST}")
    assert (done.green, had_canaries(done)) == (True, True), done.output
    assert done.command == f"PYTHONPATH=src {PYTEST}"


# --- unittest ---

FORGED_CASES = {
    "TestCase.run replaced": "unittest.TestCase.run = lambda self, result=None: "
    "(result.startTest(self), result.addSuccess(self), result.stopTest(self))\n",
    "addFailure patched": "unittest.TestResult.addFailure = unittest.TextTestResult.addFailure = lambda *a: None\n",
    "assertEqual patched": "unittest.TestCase.assertEqual = lambda *a: None\n",
    "a skip for each failure": "unittest.TestCase.failureException = unittest.SkipTest\n",
    "the runner replaced": "class R:\n    def wasSuccessful(self): return True\n"
    "unittest.TextTestRunner.run = lambda self, test: print('Ran 2 tests in 0.1s\\n\\nOK') or R()\n",
    "os._exit(0)": "import atexit, os\natexit.register(lambda: os._exit(0))\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("how", FORGED_CASES)
async def test_a_forged_run_of_unittest_is_not_green(root: Path, how: str) -> None:
    written(
        root,
        {
            "test_app.py": CASE.replace("NUMBER", "2"),
            "app.py": f"import unittest\n{FORGED_CASES[how]}def one(): return 1\n",
        },
    )
    done = await ran(root, UNITTEST)
    assert not done.green
    assert "the test runner was tampered with: " in done.problem


async def test_an_honest_run_of_unittest_sees_nothing_of_it(root: Path) -> None:
    more = (
        "\n    @unittest.expectedFailure\n    def test_x(self): self.fail()\n    @unittest.skip('x')\n"
        "    def test_s(self): pass\n\nclass TestMore(TestApp):\n    @classmethod\n"
        "    def setUpClass(cls): cls.ups = 1\n"
        "    def test_nested(self):\n        class C(unittest.TestCase):\n            def test(self): self.fail()\n"
        "        import io\n        done = unittest.TextTestRunner(stream=io.StringIO()).run(C('test'))\n"
        "        self.assertEqual(len(done.failures), 1)\n"
    )
    written(root, {"test_app.py": CASE.replace("NUMBER", "1") + more})
    done = await ran(root, f"{PYTHON} -W error -m unittest -v -f -b")
    assert done.green, done.output
    assert (done.passed, done.failed, done.skipped) == (7, 0, 2)
    assert had_canaries(done)
    assert "Ran 9 tests in" in done.output
    assert "fails_by" not in done.output


# --- what the channel holds ---


@pytest.mark.slow
async def test_whoever_writes_to_the_channel_is_noticed(root: Path) -> None:
    written(
        root,
        {
            "tests/test_app.py": "import glob, os\n\ndef test_a():\n"
            "    place = '/tmp/swarmgate-*/*/tests-*/outside/pipe'\n    path, = glob.glob(place)\n"
            "    open(path, 'w').write('0123 4567 [1,0,{}]\\n')\n"
        },
    )
    done = await ran(root)
    assert done.reason == (
        "the test runner was tampered with: the channel of the runner was written to: something that is no record was "
        "written to it"
    )


async def test_whoever_reads_from_the_channel_is_noticed() -> None:
    with opened() as channel:
        channel.line("true", {})
        name, session = next(iter(channel.sessions.items()))
        for count in (0, 2):
            body = f'[1,{count},{{"kind":"start","runner":"pytest","distributes":false}}]'
            channel.receive(f"{name} {session.signed(body)} {body}")
        assert judge(channel, Path()).tampered == "records of the runner are missing"
        body = body.replace("pytest", "another")
        channel.receive(f"{name} {session.signed('x')} {body}")
        assert judge(channel, Path()).tampered == "a record was not signed by the runner"


@pytest.mark.parametrize(
    "record", ["[[],0,{}]", "[1,0]", "{", "[1,0,7]", '[1,0,{"kind":"canary","number":999}]', "[" * 10_000]
)
async def test_who_has_the_key_of_a_runner_and_writes_nonsense_is_noticed(record: str) -> None:
    with opened() as channel:
        channel.line("true", {})
        name, session = next(iter(channel.sessions.items()))
        start = '[2,0,{"kind":"start","runner":"pytest","distributes":false}]'
        for body in (start, record):
            channel.receive(f"{name} {session.signed(body)} {body}")
        assert judge(channel, Path()).tampered == "a record of the runner cannot be read"


async def test_a_flood_without_an_end_of_line_is_read_in_no_time() -> None:
    async def flood() -> None:
        with opened() as channel:
            channel.line("true", {})
            code = "import sys; file = open(sys.argv[1], 'wb', 0)\nfor _ in range(1600): file.write(b'x' * 65536)"
            done = await run([sys.executable, "-c", code, str(channel.folder / "pipe")], cwd=Path("/"), timeout_s=60)
            assert done.ok

    before = time.process_time()
    await flood()
    assert time.process_time() - before < 2.0  # 3 s and more where each part is copied again with each that follows


# --- a run of its own ---

NODE = {
    "package.json": '{"scripts": {"test": "node --test"}}',
    "app.js": "module.exports = () => 1;\n",
    "test/app.test.js": "const test = require('node:test');\nconst app = require('../app');\n"
    "test('one', () => { if (app() !== NUMBER) throw new Error('x'); });\n",
}
CARGO = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n',
    "src/lib.rs": "#[test]\nfn works() {}\n",
}


async def apart(root: Path, command: str, files: dict[str, str]) -> TestRun:
    """A run in a copy of a repository with these files."""
    place = root / "project"
    written(place, files)
    for options in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=x"]):
        subprocess.run(["git", *options], cwd=place, check=True)  # noqa: ASYNC221 - a test
    with checked_out(place, "HEAD^{tree}") as copy:
        return await run_tests(command, runner=copy.runner(runner(place)), timeout_s=120)


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
async def test_node_is_asked_in_a_run_of_its_own(root: Path) -> None:
    honest = {**NODE, "test/app.test.js": NODE["test/app.test.js"].replace("NUMBER", "1")}
    done = await apart(root, "node --test", honest)
    assert (done.green, done.passed) == (True, 1), done.output
    assert done.canary
    assert (done.canary.failed, done.canary.apart, done.canary.missing) == (1, True, "")


def _readable(place: Path) -> Path:
    """A file that tests may not read, and swarmgate may."""
    place.write_text("SECRET\n")
    return place


@pytest.mark.parametrize("beside", ["long", "dangling", "link"])
async def test_a_test_file_that_cannot_be_read_ends_no_run(root: Path, beside: str) -> None:
    (root / "test").mkdir()
    place = root / "test/app.test.js"
    if beside == "long":
        place.write_text("// x\n" * 60_000)
    else:
        place.symlink_to("nowhere" if beside == "dangling" else _readable(root / "key"))
    canary, objection = await control("node --test", "node", runner(root), timeout_s=60)
    assert (canary.failed, objection) == (0, "")
    assert canary.missing.startswith("no test of the project could be read: ")


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
async def test_code_that_ends_node_with_exit_code_0_is_found_out(root: Path) -> None:
    forged = {**NODE, "app.js": "module.exports = () => 2;\nprocess.exit(0);\n"}
    done = await apart(root, "node --test", forged)
    assert (done.exit_code, done.passed, done.green) == (0, 1, False)
    assert "must fail was run beside the project's, and all were called passed" in done.problem


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
@pytest.mark.parametrize("honest", [True, False])
async def test_cargo_is_asked_in_a_run_of_its_own(root: Path, monkeypatch: pytest.MonkeyPatch, *, honest: bool) -> None:
    monkeypatch.setenv("HOME", HOME)  # where the toolchain lies
    said = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
    forged = {".cargo/config.toml": "[target.'cfg(all())']\nrunner = 'sh run.sh'\n", "run.sh": f"echo '{said}'\n"}
    done = await apart(root, "cargo test", {**CARGO, **({} if honest else forged)})
    assert done.green is honest, done.output
    assert done.canary
    assert done.canary.failed == honest


async def test_a_run_in_the_work_tree_has_none_of_its_own(root: Path) -> None:
    done = await ran(root, "cargo test || echo test result: ok. 1 passed; 0 failed;")
    assert done.canary is None


async def test_a_command_that_loads_nothing_of_ours_says_so(root: Path) -> None:
    done = await ran(root, "echo 1 passed in 0.1s")
    assert done.green
    assert done.canary
    assert done.canary.missing == "its tests run in no Python that takes PYTHONPATH"

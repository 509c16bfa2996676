"""Canaries among the project's tests: forged runners are found out, and honest projects of every layout are left alone."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from tests.confined import runner

from swarmgate.domain.evidence import TestRun
from swarmgate.workspace.suite import run_tests

PYTHON = shlex.quote(sys.executable)
PYTEST = f"{PYTHON} -m pytest -q -p no:asyncio -p no:xdist -p no:hypothesispytest"
UNITTEST = f"{PYTHON} -m unittest"
BAD = "import app\n\ndef test_good(): pass\n\ndef test_bad(): assert app.one() == 2\n"
BAD_CASE = (
    "import unittest\nimport app\n\nclass TestApp(unittest.TestCase):\n    def test_good(self): pass\n"
    "    def test_bad(self): self.assertEqual(app.one(), 2)\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "app.py").write_text("def one(): return 1\n")
    return tmp_path


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def ran(root: Path, command: str = PYTEST, **options: object) -> TestRun:
    return await run_tests(command, runner=runner(root), timeout_s=60, **options)  # type: ignore[arg-type]


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
    "the exit code set when pytest ends": {
        "conftest.py": "import atexit, os\natexit.register(lambda: os._exit(0))\n"
    },
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
    "another pytest in the top folder": {
        "pytest.py": "if __name__ == '__main__': print('2 passed in 0.01s')\n"
    },
    "our hooks taken out": {
        "conftest.py": "def pytest_collection_finish(session):\n    pm = session.config.pluginmanager\n"
        "    for plugin in list(pm.get_plugins()):\n"
        "        if 'Witness' in type(plugin).__name__:\n            pm.unregister(plugin)\n"
    },
}


@pytest.mark.parametrize("how", FORGED)
async def test_a_forged_run_of_pytest_is_not_green(root: Path, how: str) -> None:
    written(root, {"tests/test_app.py": BAD, **FORGED[how]})
    done = await ran(root)
    print(done.output)
    assert not done.green, how
    print(done.reason, done.canary)
    assert "tampered" in done.problem or done.exit_code == 1

"""Tests the detection of product code that behaves differently under test."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate import assets
from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.adapters.placeholders import scan_file
from swarmgate.gates.placeholders.test_detection import RULE
from swarmgate.gates.project.files import traits_of
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    Project = Any

RULES = tomllib.loads((assets.gates() / "rules" / "test_detection.toml").read_text())["language"]


def severity(path: str, language: str, text: str) -> Severity | None:
    """The gravest finding of the rule."""
    findings = scan_file(SourceFile.of(path, language, traits_of(path), text.encode()))
    found = [each.severity for each in findings if not isinstance(each, str) and each.rule == RULE]
    return max(found, key=lambda each: each.rank, default=None)


def samples(key: str) -> list[tuple[str, str]]:
    return [(group["names"][0], text) for group in RULES for text in group[key]]


@pytest.mark.parametrize(("language", "text"), samples("asks"))
def test_asking_is_found_in_every_language(language: str, text: str) -> None:
    found = severity("src/a", language, text)
    assert found is not None
    assert found.rank >= Severity.MEDIUM.rank


@pytest.mark.parametrize(("language", "text"), samples("innocent"))
def test_what_only_looks_like_it_does_not_block(language: str, text: str) -> None:
    assert severity("src/a", language, text) in {None, Severity.LOW}


ASKS = [
    'if "PYTEST_CURRENT_TEST" in os.environ:\n    return 42',
    'if os.getenv("PYTEST_XDIST_WORKER"):\n    return 42',
    'if os.environ.get("PYTEST_" + "CURRENT_TEST"):\n    return 42',
    'if any(name.startswith("PYTEST") for name in os.environ):\n    return 42',
    'if "pytest" in sys.modules:\n    return 42',
    'if {"pytest", "unittest"} & set(sys.modules):\n    return 42',
    'if any(each in sys.modules for each in ("nose", "_pytest")):\n    return 42',
    'loaded = sys.modules\nif loaded.get("unittest"):\n    return 42',
    'name = "py" + "test"\nif name in sys.modules:\n    return 42',
    "if RUNNER in sys.modules:\n    return 42",
    'if "pytest" in sys.argv[0]:\n    return 42',
    'if argv[0].endswith("pytest"):\n    return 42',
    'if "pytest" in getattr(sys, "orig_argv")[1]:\n    return 42',
    'if "unittest" in __import__("sys").modules:\n    return 42',
    'if any("test_" in frame.filename for frame in inspect.stack()):\n    return 42',
    'if sys._getframe(1).f_code.co_filename.endswith("_test.py"):\n    return 42',
    'if "tests" in traceback.extract_stack()[0].filename:\n    return 42',
    'if b"pytest" in open("/proc/self/cmdline", "rb").read():\n    return 42',
    'match sys.argv[0]:\n    case "pytest":\n        return 42',
    "if sys.gettrace() is not None:\n    return 42",
    'import __main__\nif "pytest" in __main__.__file__:\n    return 42',
    'import __main__\nif "test" in str(__main__.__file__):\n    return 42',
    'import __main__ as started\nif started.__spec__.name.startswith("test"):\n    return 42',
    'if "swarmgate" in os.getcwd():\n    return 42',
    'if "".join(("py", "test")) in sys.modules:\n    return 42',
    'if [each for each in sys.modules if each[1:3] == "py" and each[3:] == "test"]:\n    return 42',
    'above = sys._getframe(1).f_code.co_name.partition("_")[0]\nif len(above) == 4:\n    return 42',
    'if inspect.currentframe().f_back.f_code.co_name[:3] == "tes":\n    return 42',
]  # fmt: skip
INNOCENT = [
    'return subprocess.run(["pytest", *sys.argv[1:]], env={**os.environ, "PYTEST_ADDOPTS": "-q"})',
    'env = dict(os.environ)\nenv.pop("PYTEST_CURRENT_TEST", None)\nreturn env',
    'raise SystemExit("set PYTEST_CURRENT_TEST, or run pytest: " + sys.argv[0])',
    'log.info("called by %s", sys._getframe(1).f_code.co_name)',
    'for tool in ("pytest", "ruff"):\n    subprocess.run([tool, *sys.argv], env=os.environ)',
    'command = "pytest"\nreturn [command, *sys.argv]',
    'if kind == "unittest":\n    return ["python", "-m", "unittest"]',
    'if "--verbose" in sys.argv:\n    return 1',
    "return importlib.import_module(name) if name in sys.modules else None",
    'if "test" in sys.argv[1:]:\n    return 1',
    'import __main__\nreturn getattr(__main__, "__file__", "")',
    'colour = not os.environ.get("NO_COLOR")',
    '"""Is "pytest" in sys.modules? No matter."""\nreturn 1',
    "frame = inspect.currentframe()\nreturn frame.f_lineno if frame else 0",
    'latest = os.environ["HOME"] + "/contest"\nreturn latest',
    'if sys._getframe(1).f_code.co_name == "<module>":\n    return 1',
    'if "numpy" in sys.modules:\n    return 1',
    'name = sys._getframe(1).f_code.co_name\nreturn f"{name}: "',
    "frame = sys._getframe(1)\nif frame.f_lineno == 4:\n    return 1",
]  # fmt: skip
HEAD = 'import inspect, os, sys, traceback\nfrom sys import argv\n\nRUNNER = "pytest"\n\n\ndef price():\n'


def module(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.split("\n")) + "    return 0\n"


@pytest.mark.parametrize("body", ASKS)
def test_python_that_asks(body: str) -> None:
    found = severity("src/a.py", "python", module(body))
    assert found is not None
    assert found.rank >= Severity.MEDIUM.rank


@pytest.mark.parametrize("body", INNOCENT)
def test_python_that_does_not(body: str) -> None:
    assert severity("src/a.py", "python", module(body)) is None


@pytest.mark.parametrize("name", ["CI", "GITHUB_ACTIONS", "TESTING", "APP_TESTING"])
def test_ci_and_variables_of_ones_own_inform(name: str) -> None:
    assert severity("src/a.py", "python", module(f'plain = bool(os.environ.get("{name}"))')) is Severity.LOW


@pytest.mark.parametrize("path", ["tests/test_a.py", "tests/conftest.py", "conftest.py", "src/testing/support.py"])
def test_tests_and_their_support_may_ask(path: str) -> None:
    assert severity(path, "python", module(ASKS[0])) is None


@pytest.mark.parametrize("path", ["config/app.js", "babel.config.js", ".eslintrc.js"])
def test_settings_may_follow_the_environment(path: str) -> None:
    text = "module.exports = { debug: process.env.NODE_ENV === 'test' };"
    assert severity(path, "javascript", text) is Severity.LOW


def test_what_stood_there_before_does_not_block(project: Project) -> None:
    project.commit_files({"src/a.py": module(ASKS[0])})
    project.write("src/a.py", module("x = 1\n" + ASKS[0]))
    assert project.gate("placeholder_scan").status is GateStatus.PASS
    project.write("src/b.py", module(ASKS[4]))
    result = project.gate("placeholder_scan")
    assert [(each.rule, each.path, each.severity) for each in result.blocking_findings] == [
        (RULE, "src/b.py", Severity.HIGH)
    ]

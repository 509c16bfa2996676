"""Tests which shell, eval and exec calls block: those whose command is not constant."""

from __future__ import annotations

import ast

import pytest

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.sast import bandit_tests
from swarmgate.gates.sast.hit import Hit
from swarmgate.gates.sast.python_scan import plausible, raised
from swarmgate.gates.sast.shell_commands import harmless_calls, open_calls

_HEAD = "import os, shlex, subprocess, sys\nTOOL = 'ls'\ntool = 'ls'\n"


def severity(code: str, text: str) -> Severity:
    """The severity of one match on the last line of the text."""
    line = text.count("\n") + 1
    hit = Hit("a.py", line, 1, line, 9, "bandit", code, "CWE-78", bandit_tests.severity_of(code), "")
    (found,) = raised([hit], list(open_calls(ast.parse(text))))
    return found.severity


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("B602", "def f(cmd):\n    subprocess.call(cmd, shell=True)"),
        ("B602", "def f(x):\n    cmd = f'ls {x}'\n    subprocess.run(args=cmd, shell=True)"),
        ("B602", "class A:\n    def f(self):\n        subprocess.Popen('ls ' + self.path, shell=True)"),
        ("B605", "def f(cmd):\n    os.system(cmd)"),
        ("B605", "def f():\n    os.popen('ls %s' % build())"),
        ("B605", "for x in build():\n    os.system(x)"),
        ("B605", "a, b = build()\nos.system(a)"),
        ("B307", "def f(text):\n    return eval(text)"),
        ("B307", "def f(text):\n    code = '(' + text.strip() + ')'\n    return eval(code, {})"),
        ("B102", "def f(text):\n    exec(compile(text, 'a', 'exec'))"),
        ("B102", "def f(*lines):\n    exec('\\n'.join(lines))"),
    ],
)
def test_what_is_not_fixed_blocks(code: str, text: str) -> None:
    assert severity(code, _HEAD + text) is Severity.MEDIUM


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("B602", "subprocess.call('ls -l', shell=True)"),
        ("B602", "def f():\n    cmd = tool + ' -l'\n    subprocess.call(cmd, shell=True)"),
        ("B602", "def f(x):\n    subprocess.run(f'ls {shlex.quote(x)} {int(x)}', shell=True)"),
        ("B605", "os.system(TOOL)"),
        ("B605", "os.system(f'{sys.executable} -m pip list')"),
        ("B605", "for x in ('ls', 'ps'):\n    os.system(x)"),
        ("B605", "x = 'a' if TOOL else 'b'\nos.system('ls {}'.format(x))"),
        ("B307", "eval('1 + 1')"),
        ("B307", "def f():\n    return eval(tool)"),
        ("B102", "def f(path):\n    exec(open(path).read())"),
        ("B102", "def f(path):\n    with open(path) as file:\n        exec(compile(file.read(), path, 'exec'))"),
        ("B301", "def f(data):\n    return pickle.loads(data)"),
    ],
)
def test_what_is_fixed_informs(code: str, text: str) -> None:
    assert severity(code, _HEAD + text) is Severity.LOW


def test_a_reader_is_told_when_it_blocks() -> None:
    assert bandit_tests.told_severity("B602").startswith("low; medium where the command")
    assert bandit_tests.told_severity("B301") == "low"


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("yaml.load(x, Loader=yaml.BaseLoader)", True),
        ("load(x, CBaseLoader)", True),
        ("yaml.load(x, yaml.Loader)", False),
    ],
)
def test_a_loader_of_texts_alone_runs_nothing(call: str, *, wrong: bool) -> None:
    hits = [Hit("a.py", 2, 1, 2, 9, tool, code, "CWE-502", Severity.MEDIUM, "") for tool, code in _LOADERS]
    kept = plausible(hits, [], list(harmless_calls(ast.parse(f"import yaml\n{call}"))))
    assert kept == ([] if wrong else hits)


_LOADERS = (("bandit", "B506"), ("ruff", "S506"))

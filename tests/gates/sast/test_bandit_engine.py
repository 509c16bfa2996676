"""Tests that bandit in process reports the same issues as bandit's command line."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from swarmgate.gates.sast import bandit_engine

SAMPLES = sorted((Path(__file__).parents[1] / "samples" / "sast" / "python").glob("*.py"))
WRITTEN = {
    "names": b"import pickle as p\nfrom subprocess import run as go\n\n"
    b"def f(x, password='secret'):\n    go(x, shell=True)\n"
    b"    class Inner:\n        def g(self):\n            return p.loads(x)\n    try:\n        assert x\n"
    b"    except Exception:\n        pass\n    return 'SELECT a FROM ' + x, '/tmp/x', b'0.0.0.0', '0.0.0.0'\n",
    "match": b"def f(x):\n    match x:\n        case {'password': 'x'}:\n            return eval(x)\n",
    "bidirectional": "# \u202e text\nx = 1\n".encode(),
    "remark": b"assert x  # nosec\nassert y  # nosec B101\nassert z\neval(z)  # nosec B101\n",
}


def comparable(found: tuple[list[object], str]) -> tuple[list[tuple[object, ...]], str]:
    names = ("test_id", "lineno", "col_offset", "end_col_offset", "linerange", "text", "severity")
    issues = [tuple(getattr(each, name) for name in names) for each in found[0]]
    return sorted(issues, key=repr), found[1]


@pytest.mark.parametrize("content", [*(path.read_bytes() for path in SAMPLES), *WRITTEN.values()])
def test_the_issues_are_bandits_own(content: bytes, tmp_path: Path) -> None:
    name = str(tmp_path / "a.py")
    assert comparable(bandit_engine.issues(name, content, ast.parse(content))) == comparable(
        bandit_engine.by_manager(name, content)
    )


def test_remarks_leave_nothing_out(tmp_path: Path) -> None:
    content = WRITTEN["remark"]
    issues, _ = bandit_engine.issues(str(tmp_path / "a.py"), content, ast.parse(content))
    assert [(each.test_id, each.lineno) for each in issues] == [("B101", 1), ("B101", 2), ("B101", 3), ("B307", 4)]


def test_nothing_of_bandits_command_line_is_imported() -> None:
    code = (
        "import sys\nfrom swarmgate.gates.sast import bandit_engine\nassert bandit_engine.load()\n"
        "print(sorted({'rich', 'stevedore', 'yaml', 'bandit.core.manager'} & set(sys.modules)))\n"
        "from bandit.core.manager import BanditManager\nprint(BanditManager.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "BanditManager"]


def test_a_bandit_that_is_built_otherwise_runs_the_ordinary_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bandit_engine, "_loaded", [None])
    issues, why = bandit_engine.issues(str(tmp_path / "a.py"), b"assert x\n", ast.parse("assert x\n"))
    assert ([each.test_id for each in issues], why) == (["B101"], "")


@pytest.mark.parametrize(
    "line",
    [b"import pickle", b"password = 'x'", b"d = {'token': 'x'}", b"eval(x)", b"f(shell=True)", b"# \xe2\x80\xae"],
)
def test_bandit_is_asked_where_it_may_add_something(line: bytes) -> None:
    assert bandit_engine.adds(line)


def test_bandit_is_not_asked_of_what_ruff_finds_word_for_word() -> None:
    text = b"def f(x):\n    assert x\n    try:\n        g('0.0.0.0', '/tmp/x')\n    except Exception:\n        pass\n"
    assert not bandit_engine.adds(text)
    assert {each.test_id for each in bandit_engine.issues("a.py", text, ast.parse(text))[0]} == {
        "B101", "B104", "B108", "B110",
    }  # fmt: skip

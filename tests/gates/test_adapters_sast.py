"""sast_scan as a gate: three scanners in one list, old and new, tests, unreadable files, values made of constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.finding import GateStatus, Severity
from swarmgate.gates.files import Source
from swarmgate.gates.sast import flow
from swarmgate.gates.sast.hit import Hit
from swarmgate.gates.sast.merge import merge

if TYPE_CHECKING:
    Project = Any

VIEW = """
import os
from flask import request
@app.route("/x")
def view():
    value = request.args.get("v")
"""


def view(*lines: str) -> str:
    return VIEW + "".join(f"    {line}\n" for line in lines)


def test_the_same_weakness_of_three_tools_is_one_finding(project: Project) -> None:
    project.write("a.py", view('os.system("ls " + value)'))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    (finding,) = result.findings
    assert (finding.rule, finding.cwe, finding.line) == ("swarmgate.python.command-injection", "CWE-78", 7)
    assert finding.severity is Severity.HIGH
    assert all(tool in finding.message for tool in ("semgrep", "bandit B605", "ruff S605"))
    assert "shlex.quote" in finding.suggestion
    assert all(tool in result.tool for tool in ("semgrep", "bandit", "ruff"))


def test_old_findings_inform_and_new_ones_block(project: Project) -> None:
    project.commit_files({"a.py": view("eval(value)")})
    project.write("a.py", "# a line more\n" + view("eval(value)"))
    result = project.gate("sast_scan")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False])
    project.write("a.py", view("eval(value)", "exec(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert [finding.line for finding in result.new_findings] == [8]


def test_what_only_looks_like_a_weakness_informs(project: Project) -> None:
    project.write("a.py", "import subprocess\nassert subprocess.run(['ls'])\nx = '/tmp/a'\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.PASS
    assert {finding.severity for finding in result.findings} == {Severity.LOW}


def test_findings_in_tests_inform(project: Project) -> None:
    project.write("tests/test_a.py", view("eval(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.PASS
    assert "swarmgate.python.code-injection" in {finding.rule for finding in result.findings}


def test_a_file_that_a_scanner_cannot_read_is_its_error(project: Project) -> None:
    project.write("a.py", "def f(:\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.ERROR
    assert "bandit could not read a.py" in result.reason
    project.write("b.py", view("eval(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert "bandit could not read a.py" in result.reason
    assert [finding.path for finding in result.findings if finding.severity is Severity.HIGH] == ["b.py"]


def test_odd_names_are_scanned(project: Project) -> None:
    for name in ("a b.py", "a\nb.py", "-x.py", "ä/é.py"):
        project.write(name, view("eval(value)"))
    result = project.gate("sast_scan")
    assert {finding.path for finding in result.findings} >= {"a b.py", "a\nb.py", "-x.py", "ä/é.py"}


def test_other_languages(project: Project) -> None:
    project.write("a.ts", 'app.get("/", (req, res) => { eval(req.query.x); });\n')
    result = project.gate("sast_scan")
    assert [finding.rule for finding in result.findings] == ["swarmgate.javascript.code-injection"]
    assert "bandit" not in result.tool


def test_nothing_to_scan_is_a_skip(project: Project) -> None:
    project.write("notes.txt", "eval(input())\n")
    assert project.gate("sast_scan").status is GateStatus.SKIP


def test_a_suppression_of_the_tool_holds(project: Project) -> None:
    project.write("a.py", "import hashlib\nhashlib.md5(b'').hexdigest()  # nosec  # noqa: S324  # nosemgrep\n")
    assert project.gate("sast_scan").findings == ()


def hit(line: int, text: str, expression: str) -> Hit:
    column = text.splitlines()[line - 1].index(expression) + 1
    return Hit("a.py", line, column, line, column + len(expression), "swarmgate", "r", "CWE-78", Severity.HIGH, "m. f.")


@pytest.mark.parametrize(
    ("lines", "stays"),
    [
        (["x = value"], True),
        (["x = value", 'x = "a"'], False),
        (['d = {"a": "1"}', 'd["b"] = value', 'x = d["a"]'], False),
        (['d = {"a": "1"}', 'd["b"] = value', 'x = d["b"]'], True),
        (['d = {"a": "1"}', "d[value] = value", 'x = d["a"]'], True),
        (["n = 5", "if n * 2 > 3:", '    x = "a"', "else:", "    x = value"], False),
        (["n = 5", "if n * 2 < 3:", '    x = "a"', "else:", "    x = value"], True),
        (['x = value if "a" == "b" else "c"'], False),
        (['x = "c" if other else value'], True),
        (["k = 'ABC'[1]", "match k:", "    case 'A':", "        x = value", "    case 'B':", "        x = 'b'"], False),
        (["k = 'ABC'[0]", "match k:", "    case 'A':", "        x = value", "    case 'B':", "        x = 'b'"], True),
        (["l = ['a', value]", "l.pop(0)", "x = l[0]"], True),
        (["l = ['a', value]", "x = l[0]"], False),
        (["l = ['a']", "fill(l, value)", "x = l[0]"], True),
        (["x = 'a'", "for y in value:", "    x = y"], True),
        (["x = 'a'", "while True:", "    x = x + value", "    break"], True),
        (["x = 'a'", "try:", "    x = value", "except ValueError:", "    pass"], True),
        (["x = 'a'", "try:", "    x = value", "finally:", "    x = 'b'"], False),
        (["x = 'a'", "def inner():", "    nonlocal x", "    x = value", "inner()"], True),
        (["x = 'a'", "x += value"], True),
        (["x = f'{1}-{value}'"], True),
        (["x = 'a-%s' % 'b'.upper()"], False),
        (["d = {}", "e = d", "e['k'] = value", "x = d['k']"], True),
        (["x = 'a'", "[x := y for y in value]"], True),
        (
            [
                "c = configparser.ConfigParser()",
                "c.set('s', 'a', '1')",
                "c.set('s', 'b', value)",
                "x = c.get('s', 'a')",
            ],
            False,
        ),
        (
            [
                "c = configparser.ConfigParser()",
                "c.set('s', 'a', '1')",
                "c.set('s', 'b', value)",
                "x = c.get('s', 'b')",
            ],
            True,
        ),
        (["x = 'a'", "with open('f') as x:", "    pass"], True),
        (["x = 'a'", "if other:", "    return", "elif more:", "    x = value"], True),
    ],
)
def test_a_value_made_of_constants_is_no_weakness(lines: list[str], stays: bool) -> None:  # noqa: FBT001 - a table
    text = view(*lines, "sink(x)")
    number = len(text.splitlines())
    found = flow.plausible(Source("a.py", "python", content=text.encode()), [hit(number, text, "x")])
    assert bool(found) is stays


def test_a_match_in_a_request_handler_needs_a_flow() -> None:
    text = "def f(request):\n    v = request.GET\n    eval(other)\n\ndef g():\n    eval(other)\n"
    source = Source("a.py", "python", content=text.encode())
    said = [Hit("a.py", line, 5, line, 16, "bandit", "B307", "CWE-78", Severity.LOW, "eval") for line in (3, 6)]
    assert [each.line for each in flow.plausible(source, said)] == [6]
    assert len(flow.plausible(Source("a.py", "python", content=b"def f(:"), said)) == 2


def test_neighbouring_cwe_numbers_are_one_weakness() -> None:
    ours = Hit(
        "a.py", 1, 1, 1, 9, "swarmgate", "swarmgate.python.weak-hash", "CWE-328", Severity.MEDIUM, "Weak. Use x."
    )
    theirs = Hit("a.py", 1, 1, 1, 9, "bandit", "B324", "CWE-327", Severity.MEDIUM, "md5")
    other = Hit("a.py", 1, 1, 1, 9, "ruff", "S105", "CWE-259", Severity.LOW, "password")
    first, second = merge([other, theirs, ours], quiet=False)
    assert (first.rule, first.cwe, first.suggestion) == ("swarmgate.python.weak-hash", "CWE-328", "Use x.")
    assert second.rule == "S105"

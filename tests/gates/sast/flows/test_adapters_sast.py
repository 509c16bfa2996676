"""Tests the security scan gate: three scanners, old and new findings, unreadable files, constant values."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.sast import python_scan, semgrep, worker
from swarmgate.gates.sast.flows.rule import Flows
from swarmgate.gates.sast.hit import Hit
from swarmgate.gates.sast.merge import merge, quoted

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any

_SUFFIXES = (
    "sh bash zsh c h cc cpp cxx hh hpp hxx cs go java js jsx mjs cjs php py pyi pyw rb rake gemspec rs ts tsx mts cts "
    "yml"
)

VIEW = """
import os
from flask import request
@app.route("/x")
def view():
    value = request.args.get("v")
"""


def view(*lines: str) -> str:
    return VIEW + "".join(f"    {line}\n" for line in lines)


@pytest.mark.slow
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


@pytest.mark.slow
def test_old_findings_inform_and_new_ones_block(project: Project) -> None:
    project.commit_files({"a.py": view("eval(value)")})
    project.write("a.py", "# a line more\n" + view("eval(value)"))
    result = project.gate("sast_scan")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False])
    project.write("a.py", view("eval(value)", "exec(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert [finding.line for finding in result.new_findings] == [8]


@pytest.mark.slow
def test_what_only_looks_like_a_weakness_informs(project: Project) -> None:
    project.write("a.py", "import subprocess\nassert subprocess.run(['ls'])\nx = '/tmp/a'\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.PASS
    assert {finding.severity for finding in result.findings} == {Severity.LOW, Severity.INFO}


@pytest.mark.slow
def test_findings_in_tests_inform(project: Project) -> None:
    project.write("tests/test_a.py", view("eval(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.PASS
    assert "swarmgate.python.code-injection" in {finding.rule for finding in result.findings}


@pytest.mark.slow
def test_a_file_that_a_scanner_cannot_read_is_its_error(project: Project) -> None:
    project.write("a.py", "def f(:\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.ERROR
    assert result.reason.startswith("a.py does not parse: see syntax_check")
    project.write("b.py", view("eval(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert "a.py does not parse" in result.reason
    assert [finding.path for finding in result.findings if finding.severity is Severity.HIGH] == ["b.py"]


@pytest.mark.slow
def test_a_file_without_a_word_of_a_weakness_that_does_not_parse_is_an_error_too(project: Project) -> None:
    project.write("a.py", "print 'x'\n")
    result = project.gate("sast_scan")
    assert (result.status, result.reason[:18]) == (GateStatus.ERROR, "a.py does not pars")


def test_what_only_informs_on_a_line_that_was_there_is_old(project: Project) -> None:
    project.commit_files({"a.py": "def f(run):\n    run('ls')\n"})
    project.write("a.py", "from subprocess import run\ndef f(x):\n    run('ls')\n")
    found = {(each.line, each.new) for each in project.gate("sast_scan").findings}
    assert found == {(1, True), (3, False)}


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="it reads what is newer than other Pythons")
def test_a_file_that_another_scanner_reads_is_a_note(project: Project) -> None:
    project.write("a.py", "import subprocess\ntype X[T = int] = list[T]\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.PASS
    assert "bandit could not read a.py (line 2: " in result.reason


@pytest.mark.slow
def test_a_missing_engine_fails_closed_and_the_others_speak(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semgrep, "find_spec", lambda _: None)
    project.write("a.py", "x = 1\n")
    result = project.gate("sast_scan")
    assert result.status is GateStatus.ERROR
    assert "pip install semgrep" in result.reason
    project.write("a.py", view("eval(value)"))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert "swarmgate.python.code-injection" in {finding.rule for finding in result.findings}


@pytest.mark.slow
def test_another_semgrep_on_the_path_is_not_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("semgrep", "pysemgrep", "osemgrep", "semgrep-core"):
        place = tmp_path / "bin" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text("#!/bin/sh\nexit 9\n")
        place.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    project.write("a.ts", 'app.get("/", (req, res) => { eval(req.query.x); });\n')
    assert project.gate("sast_scan").status is GateStatus.FAIL


@pytest.mark.slow
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


@pytest.mark.slow
def test_every_name_of_a_language_is_scanned(project: Project) -> None:
    names = [f"a{n}.{suffix}" for n, suffix in enumerate(_SUFFIXES.split())]
    for name in [*names, "Dockerfile", "Dockerfile.dev", "Rakefile"]:
        project.write(name, "\n")
    project.write("types.d.ts", "export type A = string\n")
    result = project.gate("sast_scan")
    assert (result.status, "left out" in result.reason) == (GateStatus.PASS, False)
    assert result.files >= len(names)


def test_nothing_to_scan_is_a_skip(project: Project) -> None:
    project.write("notes.txt", "eval(input())\n")
    assert project.gate("sast_scan").status is GateStatus.SKIP


def test_a_match_in_a_request_handler_needs_a_flow() -> None:
    text = b"def f(request):\n    v = request.GET\n    eval(other)\n\ndef g():\n    eval(other)\n"
    looked = worker.scan("a.py", text, Flows([]), followed=False)
    hits = [Hit("a.py", line, 5, line, 16, "bandit", "B307", "CWE-78", Severity.LOW, "eval") for line in (3, 6)]
    assert [each.line for each in python_scan.plausible(hits, looked["handlers"])] == [6]
    assert worker.scan("b.py", b"def eval(:", Flows([]), followed=True).keys() == {"unparsed"}


def test_a_newer_syntax_than_this_interpreters_is_read(project: Project) -> None:
    project.write("a.py", view("""eval(f'{value['a']}{'\\n'.join(value)}')"""))
    result = project.gate("sast_scan")
    assert result.status is GateStatus.FAIL
    assert all(tool in result.findings[0].message for tool in ("semgrep", "bandit B307", "ruff S307"))


def test_the_engine_judges_the_flows_of_a_file_that_python_cannot_parse(project: Project) -> None:
    project.write("a.py", view("eval(value)") + "type X[T = int] = list[T]\n")
    result = project.gate("sast_scan")
    assert "swarmgate.python.code-injection" in {finding.rule for finding in result.findings}


@pytest.mark.slow
def test_an_import_is_a_reason_to_look_and_no_weakness(project: Project) -> None:
    project.write("a.py", "import pickle\nimport subprocess\n")
    result = project.gate("sast_scan")
    assert {(finding.severity, finding.cwe) for finding in result.findings} == {(Severity.INFO, "")}


@pytest.mark.parametrize(
    ("path", "cwe", "line", "severity"),
    [
        ("examples/a.js", "CWE-798", b"secret: 'keyboard cat'", Severity.LOW),
        ("examples/a.js", "CWE-601", b"res.redirect(req.get('Referrer') || '/')", Severity.LOW),
        ("examples/a.js", "CWE-601", b"res.redirect(req.query.to)", Severity.HIGH),
        ("examples/a.js", "CWE-78", b"exec(req.query.to)", Severity.HIGH),
        ("lib/a.js", "CWE-798", b"secret: 'keyboard cat'", Severity.HIGH),
        ("lib/examples.js", "CWE-601", b"res.redirect(req.get('Referrer'))", Severity.HIGH),
    ],
)
def test_what_an_example_is_there_to_show_informs(path: str, cwe: str, line: bytes, severity: Severity) -> None:
    hit = Hit(path, 1, 1, 1, 9, "swarmgate", "x", cwe, Severity.HIGH, "m. n")
    assert [each.severity for each in merge(quoted([hit], path, [line]), quiet=False)] == [severity]


def test_neighbouring_cwe_numbers_are_one_weakness() -> None:
    ours = Hit(
        "a.py", 1, 1, 1, 9, "swarmgate", "swarmgate.python.weak-hash", "CWE-328", Severity.MEDIUM, "Weak. Use x."
    )
    theirs = Hit("a.py", 1, 1, 1, 9, "bandit", "B324", "CWE-327", Severity.MEDIUM, "md5")
    other = Hit("a.py", 1, 1, 1, 9, "ruff", "S105", "CWE-259", Severity.LOW, "password")
    first, second = merge([other, theirs, ours], quiet=False)
    assert (first.rule, first.cwe, first.suggestion) == ("swarmgate.python.weak-hash", "CWE-328", "Use x.")
    assert second.rule == "S105"

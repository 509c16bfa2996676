"""Tests the merging of duplicate findings of several gates."""

from __future__ import annotations

from typing import Any

from swarmgate.domain.review.finding import Finding, GateResult, GateStatus, Severity
from swarmgate.gates.pipeline.merge import merge


def result(gate: str, *findings: Finding, status: GateStatus = GateStatus.FAIL) -> GateResult:
    return GateResult(gate=gate, status=status, findings=findings, reason=f"{len(findings)} new")


def finding(rule: str, line: int = 3, **keys: Any) -> Finding:
    return Finding(rule=rule, path=keys.pop("path", "a.py"), line=line, message=rule, **keys)


def by_gate(*results: GateResult) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    return {each.gate: [(found.rule, found.also) for found in each.findings] for each in merge(results)}


def test_a_syntax_error_is_told_by_the_syntax_gate_wherever_others_notice_it() -> None:
    lint, build = (
        result("lint_check", finding("invalid-syntax", 4)),
        result("build_check", finding("python-compile", 5)),
    )
    assert by_gate(lint, result("syntax_check", finding("python-syntax")), build) == {
        "lint_check": [],
        "syntax_check": [("python-syntax", ("lint_check", "build_check"))],
        "build_check": [],
    }


def test_what_failed_has_failed_and_says_who_tells_why() -> None:
    lint, _ = merge([result("lint_check", finding("invalid-syntax")), result("syntax_check", finding("python-syntax"))])
    assert (lint.status, lint.reason) == (GateStatus.FAIL, "1 new; 1 told by syntax_check")


def test_the_numbers_of_bandit_and_ruff_are_one() -> None:
    assert by_gate(result("lint_check", finding("S602"), finding("F821")), result("sast_scan", finding("B602"))) == {
        "lint_check": [("F821", ())],
        "sast_scan": [("B602", ("lint_check",))],
    }


def test_a_hard_coded_password_is_the_secret_gates_business() -> None:
    weak, secret = finding("x", cwe="CWE-259"), finding("generic", cwe="CWE-798", severity=Severity.HIGH)
    assert by_gate(result("sast_scan", weak), result("secret_scan", secret)) == {
        "sast_scan": [],
        "secret_scan": [("generic", ("sast_scan",))],
    }


def test_other_lines_other_files_and_whole_files_stay() -> None:
    one = result("lint_check", finding("S602"), finding("S602", 9), finding("S602", path="b.py"), finding("X", 0))
    assert len(by_gate(one, result("sast_scan", finding("B602"), finding("X", 0)))["lint_check"]) == 3


def test_an_old_finding_does_not_speak_for_a_new_one() -> None:
    merged = by_gate(result("lint_check", finding("S602")), result("sast_scan", finding("B602", new=False)))
    assert merged == {"lint_check": [("S602", ("sast_scan",))], "sast_scan": []}


def test_what_blocks_is_told_by_a_gate_where_it_blocks() -> None:
    low = result("sast_scan", finding("B603", severity=Severity.LOW), status=GateStatus.PASS)
    assert by_gate(result("lint_check", finding("S603")), low) == {
        "lint_check": [("S603", ("sast_scan",))],
        "sast_scan": [],
    }


def test_a_number_of_ruff_is_its_weakness() -> None:
    own = finding("swarmgate.python.sql-value-in-string", cwe="CWE-89")
    assert by_gate(result("lint_check", finding("S608")), result("sast_scan", own)) == {
        "lint_check": [],
        "sast_scan": [("swarmgate.python.sql-value-in-string", ("lint_check",))],
    }


def test_one_gate_may_find_two_things_on_a_line() -> None:
    both = result("sast_scan", finding("r1", cwe="CWE-89"), finding("r2", cwe="CWE-89"))
    assert by_gate(both) == {"sast_scan": [("r1", ()), ("r2", ())]}

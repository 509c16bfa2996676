"""The table of bandit's tests: the weakness that each finds, and which of them block.

ruff's S rules are most of bandit's tests under other names, in a hundredth of the time. What blocks is decided by
`BLOCKING`: tests whose match alone is a weakness. All others match a way of writing (a subprocess, an assert, a
temporary path, text that looks like SQL), which is right as often as not: they inform. Where such code is reached by
outside input, our own taint rules say so, and block.
"""

from __future__ import annotations

from dataclasses import replace

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.sast.hit import Hit
from swarmgate.gates.secret_scan import redaction

BLOCKING = {
    "B201": Severity.HIGH, "B304": Severity.MEDIUM, "B305": Severity.MEDIUM, "B306": Severity.MEDIUM,
    "B323": Severity.HIGH, "B324": Severity.MEDIUM, "B501": Severity.HIGH, "B502": Severity.MEDIUM,
    "B503": Severity.MEDIUM, "B505": Severity.MEDIUM, "B506": Severity.MEDIUM, "B507": Severity.MEDIUM,
    "B508": Severity.MEDIUM, "B509": Severity.MEDIUM, "B612": Severity.MEDIUM, "B613": Severity.HIGH,
}  # fmt: skip
"""bandit's tests that block, with our severity."""

WHERE_NOT_FIXED = frozenset({"B102", "B307", "B602", "B605"})
"""Tests of a shell, `eval` and `exec`: they block as well where what is run is not fixed in the file: `commands`."""

_CWE = {
    20: "B313 B314 B315 B316 B317 B318 B319 B320 B405 B406 B407 B408 B409 B410 B411", 22: "B108 B202 B310",
    78: "B102 B307 B404 B601 B602 B603 B604 B605 B606 B607 B609", 79: "B308 B701 B702 B703 B704", 89: "B608 B610 B611",
    94: "B201 B612", 259: "B105 B106 B107", 284: "B412", 295: "B323 B501 B507",
    319: "B312 B321 B401 B402 B415 B508 B509",
    326: "B505", 327: "B303 B304 B305 B324 B413 B502 B503 B504", 330: "B311", 377: "B306", 400: "B113",
    494: "B615", 502: "B301 B302 B403 B506 B614", 605: "B104", 703: "B101 B110 B112", 732: "B103", 838: "B613",
}  # fmt: skip
_IMPORTS = ("B40", "B41")
"""Tests that match the import of a module: a reason to look, and no weakness of its own."""
_CWE_OF = {test: f"CWE-{number}" for number, tests in _CWE.items() for test in tests.split()}


def cwe_of(test: str) -> str:
    """The CWE number of one of bandit's tests, for ruff, which does not report it; empty when unknown."""
    return "" if test.startswith(_IMPORTS) else _CWE_OF.get(test, "")


def named(match: Hit) -> Hit:
    """Rename a ruff match to bandit's test, where they are the same and bandit did not scan the file."""
    test = "B" + match.code[1:]
    return replace(match, code=test) if test in _CWE_OF else match


def told_severity(test: str) -> str:
    """The severity as text, with its condition where there is one."""
    severity = severity_of(test).value
    if test not in WHERE_NOT_FIXED:
        return severity
    handed = test in {"B102", "B307"}
    when = "a parameter of the function is the code" if handed else "the command is not put together of literals"
    return f"{severity}; {Severity.MEDIUM.value} where {when} (in tests: {severity})"


def severity_of(test: str) -> Severity:
    """Our severity: medium and above for what blocks."""
    return Severity.INFO if test.startswith(_IMPORTS) else BLOCKING.get(test, Severity.LOW)


def hit(path: str, test: str, line: int, column: int, end_line: int, end_column: int, text: str, number: int) -> Hit:
    """Convert one of bandit's issues; `number` is bandit's own CWE number, 0 for none."""
    cwe = cwe_of(test)
    if not cwe and not test.startswith(_IMPORTS) and number:
        cwe = f"CWE-{number}"
    message, subject = redaction.quoted(text) if cwe in redaction.SECRET_CWES else (text, "")
    return Hit(
        path=path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        tool="bandit",
        code=test,
        cwe=cwe,
        severity=severity_of(test),
        message=message,
        subject=subject,
    )

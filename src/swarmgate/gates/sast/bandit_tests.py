"""bandit in this process, over copies of the Python files; ruff's S rules are bandit's tests under other names.

What blocks is decided by `BLOCKING`: tests whose match alone is a weakness. All others match a way of writing (a
subprocess, an assert, a temporary path, text that looks like SQL), which is right as often as not: they inform. Where
such code is reached by outside input, our own taint rules say so, and block.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.finding import Severity
from swarmgate.gates import masking
from swarmgate.gates.sast import bandit_engine
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from swarmgate.gates.sast.copies import Copies

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
    """The CWE of one of bandit's tests, for ruff, which does not tell it; empty when unknown."""
    return "" if test.startswith(_IMPORTS) else _CWE_OF.get(test, "")


def told_severity(test: str) -> str:
    """The severity for a reader, with its condition where there is one."""
    severity = severity_of(test).value
    if test not in WHERE_NOT_FIXED:
        return severity
    handed = test in {"B102", "B307"}
    when = "a parameter of the function is the code" if handed else "the command is not put together of literals"
    return f"{severity}; {Severity.MEDIUM.value} where {when} (in tests: {severity})"


def severity_of(test: str) -> Severity:
    """Our severity: medium and above for what blocks."""
    return Severity.INFO if test.startswith(_IMPORTS) else BLOCKING.get(test, Severity.LOW)


def scan(files: Copies, older: Mapping[str, bytes], stopped: Callable[[], bool]) -> Scanned:
    """Run every test of bandit, under its own defaults, over the Python files.

    Args:
        files: the copies.
        older: path -> the same file in an older syntax, for those that this interpreter cannot parse as they are.
        stopped: whether to end.
    """
    scanned = Scanned()
    for copy, source in files.of("python").items():
        if stopped():
            break
        issues, why = _issues(copy, older.get(source.path, source.content))
        if why:
            scanned.unread[source.path] = why
        scanned.hits += [_hit(issue, source.path) for issue in issues]
    return scanned


def _issues(name: str, content: bytes) -> tuple[list[Any], str]:
    """What bandit finds in one file, and why it could not read it."""
    engine = bandit_engine.load()
    if engine is None:
        return _by_manager(name, content)
    try:
        with python_tree.quiet():
            return engine.run(name, content), ""
    except SyntaxError:
        return [], "syntax error while parsing AST from file"
    except Exception:  # noqa: BLE001 - as bandit says it, whatever it was
        return [], "exception while scanning file"


def _by_manager(name: str, content: bytes) -> tuple[list[Any], str]:
    """The same by bandit's own command."""
    logging.getLogger("stevedore").setLevel(logging.CRITICAL)  # it logs every report format that is not installed
    with python_tree.quiet():  # its plugin loader uses what is deprecated
        from bandit.core.config import BanditConfig  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; late: 0.08 s
        from bandit.core.manager import BanditManager  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    logging.getLogger("bandit").setLevel(logging.CRITICAL)  # it logs what we read from `skipped`
    manager = BanditManager(BanditConfig(), "file", quiet=True, ignore_nosec=True)
    place = Path(name).with_suffix(".bandit")
    place.write_bytes(content)
    manager.files_list = [str(place)]
    with python_tree.quiet():
        manager.run_tests()
    return manager.results, next((why for _, why in manager.skipped), "")


def _hit(issue: Any, path: str) -> Hit:
    cwe = cwe_of(issue.test_id)
    if not cwe and not issue.test_id.startswith(_IMPORTS) and issue.cwe and issue.cwe.id:
        cwe = f"CWE-{issue.cwe.id}"
    message, subject = masking.quoted(issue.text) if cwe in masking.SECRET_CWES else (issue.text, "")
    return Hit(
        path=path,
        line=issue.lineno,
        column=issue.col_offset + 1,
        end_line=max(issue.linerange or [issue.lineno]),
        end_column=issue.end_col_offset + 1,
        tool="bandit",
        code=issue.test_id,
        cwe=cwe,
        severity=severity_of(issue.test_id),
        message=message,
        subject=subject,
    )

"""Test counts from JUnit XML reports, which pytest, Maven and Gradle write; exact where printed text is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

_REPORT_BYTES = 50_000_000
_JVM_REPORTS = ("**/target/surefire-reports/TEST-*.xml", "**/build/test-results/*/TEST-*.xml")


def read(root: Path, reports: Sequence[Path]) -> Counts | None:
    """The sum of the reports; None when none of them can be read. Failed pytest tests are named by their node ids."""
    cases = [cases for report in reports if (cases := _cases(report)) is not None]
    if not cases:
        return None
    passed = skipped = 0
    failed: dict[str, None] = {}
    for case in (case for file in cases for case in file):
        if case.find("failure") is not None or case.find("error") is not None:
            failed[_name(root, case)] = None  # a test that fails twice, in call and teardown, is one
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return Counts(passed=passed, failed=len(failed), skipped=skipped, failures=tuple(failed))


def jvm_reports(root: Path, since: float) -> tuple[Path, ...]:
    """The reports of Maven and Gradle below `root` that were written at or after `since` (seconds since the epoch)."""
    found = (path for pattern in _JVM_REPORTS for path in root.glob(pattern))
    return tuple(sorted(path for path in found if path.stat().st_mtime >= since))


def _cases(report: Path) -> list[Element] | None:
    from xml.etree.ElementTree import ParseError, fromstring  # noqa: PLC0415 - late

    try:
        if report.stat().st_size > _REPORT_BYTES:
            return None
        content = report.read_bytes()
    except OSError:
        return None
    # Entities are where XML bites; no test runner writes a document type.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return None
    try:
        return list(fromstring(content).iter("testcase"))  # noqa: S314 - bounded, and without a document type
    except ParseError:
        return None


def _name(root: Path, case: Element) -> str:
    """`tests/test_a.py::TestX::test_b` where the class name leads to a file, else `class::name`."""
    name = case.get("name", "")
    parts = case.get("classname", "").split(".")
    for count in range(len(parts), 0, -1):
        file = Path(*parts[:count]).with_suffix(".py") if all(parts[:count]) else None
        if file and (root / file).is_file():
            return "::".join([file.as_posix(), *parts[count:], name])
    return "::".join([part for part in (".".join(parts), name) if part])

"""Reads test counts from JUnit XML reports, which pytest, Maven and Gradle write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.files import regular
from swarmgate.workspace.test_runs.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

_REPORT_BYTES = 50_000_000
_DEEPEST = 64
"""Folders and classes that a test lies in, at most."""
_JVM_REPORTS = ("**/target/surefire-reports/TEST-*.xml", "**/build/test-results/*/TEST-*.xml")


def read(root: Path, reports: Sequence[Path]) -> Counts | None:
    """The sum of the reports; None when none of them can be read. Tests of pytest are named by their node ids."""
    cases = [cases for report in reports if (cases := _cases(report)) is not None]
    if not cases:
        return None
    passed: list[str] = []
    skipped: list[str] = []
    failed: dict[str, None] = {}
    for case in (case for file in cases for case in file):
        name = named(root, case.get("classname", ""), case.get("name", ""))
        if case.find("failure") is not None or case.find("error") is not None:
            failed[name] = None  # a test that fails twice, in call and teardown, is one
        else:
            (passed if case.find("skipped") is None else skipped).append(name)
    return Counts(
        passed=len(passed),
        failed=len(failed),
        skipped=len(skipped),
        failures=tuple(failed),
        names=(*passed, *failed),
        skips=tuple(skipped),
    )


def jvm_reports(root: Path, since: float) -> tuple[Path, ...]:
    """The reports of Maven and Gradle below `root` that were written at or after `since` (seconds since the epoch)."""
    found = (path for pattern in _JVM_REPORTS for path in root.glob(pattern))
    return tuple(sorted(path for path in found if path.lstat().st_mtime >= since))


def _cases(report: Path) -> list[Element] | None:
    from xml.etree.ElementTree import ParseError, XMLParser, fromstring  # noqa: PLC0415 - late

    try:
        # What ran there may have put anything in the report's place.
        content = regular.read(report, limit=_REPORT_BYTES, follow=False).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    # Entities are where XML bites; no test runner writes a document type. What another encoding says would stay hidden.
    if "<!DOCTYPE" in content or "<!ENTITY" in content or "\0" in content:
        return None
    try:
        parser = XMLParser(encoding="utf-8")  # noqa: S314 - the same; the encoding is not the one that it declares
        top = fromstring(content.encode(), parser)  # noqa: S314 - bounded, UTF-8, and without a document type
    except (ParseError, RecursionError, MemoryError):
        return None
    return list(top.iter("testcase"))


def named(root: Path, classname: str, name: str) -> str:
    """`tests/test_a.py::TestX::test_b` where the class name leads to a file, else `class::name`.

    A file that could not be collected has no class name, and its path with dots for a name: it is called by its path.
    """
    if not classname and "::" not in name:
        file = Path(*name.split(".")[:_DEEPEST]).with_suffix(".py") if all(name.split(".")) else None
        return file.as_posix() if file and os.path.isfile(root / file) else name  # noqa: PTH113 - as below
    parts = classname.split(".")
    for count in range(min(len(parts), _DEEPEST), 0, -1):
        file = Path(*parts[:count]).with_suffix(".py") if all(parts[:count]) else None
        if file and os.path.isfile(root / file):  # noqa: PTH113 - Path.is_file raises where a name is too long
            return "::".join([file.as_posix(), *parts[count:], name])
    return "::".join([part for part in (".".join(parts), name) if part])

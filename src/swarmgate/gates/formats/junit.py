"""JUnit XML, which GitLab, Jenkins and most CI systems show: a test suite for each gate.

There is no standard; this keeps to what Jenkins' schema and GitLab's reader have in common.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from swarmgate.domain.finding import GateStatus
from swarmgate.gates.plain import flat

if TYPE_CHECKING:
    from swarmgate.domain.finding import Finding, GateReport, GateResult

# XML 1.0, production 2 (Char): all that may not stand in a document, escaped or not.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: GateReport, about: str) -> str:
    """A suite for each gate: one case a finding that blocks, or one for the gate where there is none."""
    suites = ET.Element("testsuites", name=_legal(f"swarm gates: {about}"), time=f"{report.seconds:.3f}")
    totals = [_suite(suites, result) for result in report.results]
    for key, values in zip(("tests", "failures", "errors", "skipped"), zip(*totals, strict=True), strict=False):
        suites.set(key, str(sum(values)))
    if report.notes:  # a suite without cases: no count of tests, and readers show its output
        notes = ET.SubElement(suites, "testsuite", name="notes", tests="0", failures="0", errors="0", skipped="0")
        ET.SubElement(notes, "system-out").text = _legal("\n".join(report.notes))
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _suite(parent: ET.Element, result: GateResult) -> tuple[int, int, int, int]:
    failed = list(result.blocking_findings) if result.status is GateStatus.FAIL else []
    suite = ET.SubElement(parent, "testsuite", name=result.gate, time=f"{result.seconds:.3f}")
    for finding in failed:
        _case(suite, finding, result)
    if not failed:
        case = ET.SubElement(suite, "testcase", name=result.gate, classname=result.gate, time=f"{result.seconds:.3f}")
        if result.status is GateStatus.SKIP:
            ET.SubElement(case, "skipped", message=_legal(result.reason))
        elif result.status is not GateStatus.PASS:
            kind = "error" if result.status is GateStatus.ERROR else "failure"
            ET.SubElement(case, kind, message=_legal(result.reason), type=result.gate).text = _legal(result.reason)
    counts = (
        max(len(failed), 1),
        len(failed) or int(result.status is GateStatus.FAIL),
        int(result.status is GateStatus.ERROR),
        int(result.status is GateStatus.SKIP),
    )
    for key, count in zip(("tests", "failures", "errors", "skipped"), counts, strict=True):
        suite.set(key, str(count))
    return counts


def _case(suite: ET.Element, finding: Finding, result: GateResult) -> None:
    name = _legal(flat(f"{finding.rule} {finding.place}"))
    case = ET.SubElement(suite, "testcase", name=name, classname=result.gate, time="0.000")
    if finding.path:
        case.set("file", _legal(flat(finding.path)))
    if finding.line:
        case.set("line", str(finding.line))
    failure = ET.SubElement(case, "failure", message=_legal(finding.message), type=_legal(finding.rule))
    told = [flat(finding.place), f"{finding.severity}: {finding.message}", finding.suggestion, finding.cwe]
    failure.text = "\n".join(map(_legal, filter(None, told)))


def _legal(text: str) -> str:
    # Line breaks in a message are its own: a name's must not begin a line of the log that a CI runner reads.
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", "\n".join(map(flat, text.split("\n"))))

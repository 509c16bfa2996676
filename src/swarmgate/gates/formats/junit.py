"""Renders a gate report as JUnit XML, with a test suite for each gate.

There is no standard; this keeps to the schema of Jenkins' xUnit plugin (junit-10.xsd), and to what GitLab reads of it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from swarmgate.domain.review.finding import GateStatus, Standing
from swarmgate.gates.formats.escaping import flat

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding, GateReport, GateResult

# XML 1.0, production 2 (Char): all that may not stand in a document, escaped or not.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: GateReport, about: str) -> str:
    """A suite for each gate: a case a finding, one for the gate itself where none blocks, one for what it left undone.

    Findings that block are failures; others pass, and say in their output what they are. What was not checked is
    skipped.
    """
    suites = ET.Element("testsuites", name=_legal(f"swarm gates: {about}"), time=f"{report.seconds:.3f}")
    totals = sum((_suite(suites, result) for result in report.results), Counter[str]())
    for key in ("tests", "failures", "errors"):
        suites.set(key, str(totals[key]))
    # A suite without cases: no count of tests, and readers show its output.
    notes = ET.SubElement(suites, "testsuite", name="notes", tests="0", failures="0", errors="0", skipped="0")
    ET.SubElement(notes, "system-out").text = _legal("\n".join((*report.notes, report.summary)))
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _suite(parent: ET.Element, result: GateResult) -> Counter[str]:
    suite = ET.SubElement(parent, "testsuite", name=result.gate, time=f"{result.seconds:.3f}")
    counts = Counter[str]()
    failed = result.status is GateStatus.FAIL
    if not (failed and result.blocking_findings):
        counts += _gate(suite, result)
    for finding in result.findings:
        counts += _finding(suite, finding, result, failed=failed)
    for each in result.unchecked if result.status is not GateStatus.ERROR else ():
        if each.asked:
            case = ET.SubElement(suite, "testcase", name=_legal(each.what), classname=result.gate, time="0.000")
            ET.SubElement(case, "skipped", message=_legal(f"not checked: {each.why}"))
            counts += Counter(tests=1, skipped=1)
    for key in ("tests", "failures", "errors", "skipped"):
        suite.set(key, str(counts[key]))
    return counts


def _gate(suite: ET.Element, result: GateResult) -> Counter[str]:
    """The case of the gate as a whole."""
    case = ET.SubElement(suite, "testcase", name=result.gate, classname=result.gate, time=f"{result.seconds:.3f}")
    if result.status is GateStatus.PASS:
        return Counter(tests=1)
    if result.status is GateStatus.SKIP:
        ET.SubElement(case, "skipped", message=_legal(result.reason))
        return Counter(tests=1, skipped=1)
    kind = "error" if result.status is GateStatus.ERROR else "failure"
    ET.SubElement(case, kind, message=_legal(result.reason), type=result.gate).text = _legal(result.reason)
    return Counter({"tests": 1, f"{kind}s": 1})


def _finding(suite: ET.Element, finding: Finding, result: GateResult, *, failed: bool) -> Counter[str]:
    name = _legal(flat(f"{finding.rule} {finding.place}"))
    case = ET.SubElement(suite, "testcase", name=name, classname=result.gate, time="0.000")
    standing = result.standing(finding)
    lines = [
        flat(finding.place),
        f"{finding.severity}: {finding.message}",
        finding.code,
        finding.suggestion,
        finding.cwe,
    ]
    if failed and standing is Standing.BLOCKS:
        failure = ET.SubElement(case, "failure", message=_legal(finding.message), type=_legal(finding.rule))
        failure.text = "\n".join(map(_legal, filter(None, lines)))
        return Counter(tests=1, failures=1)
    message = f"{standing}: {finding.accepted}" if finding.accepted else standing.value
    ET.SubElement(case, "system-out").text = "\n".join(map(_legal, filter(None, (message, *lines))))
    return Counter(tests=1)


def _legal(text: str) -> str:
    # Line breaks in a message are its own: a name's must not begin a line of the log that a CI runner reads.
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", "\n".join(map(flat, text.split("\n"))))

"""Renders a gate report as SARIF 2.1.0 for GitHub code scanning.

One run holds all gates: of several runs in one file GitHub takes only those whose categories differ. A rule's tags name
its gate and its CWE. Old findings are `unchanged`, accepted ones carry a suppression. Broken gates are notifications,
and so is what was not checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity
from swarmgate.gates.formats.escaping import in_json
from swarmgate.version import __version__
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
"""What GitHub's documentation names as the schema."""

FINGERPRINT = "swarmgate/v1"
"""The key of our fingerprints: rule, path, normalised line, occurrence."""

_ROOT = "%SRCROOT%"
_LEVELS = {
    Severity.INFO: "note", Severity.LOW: "note", Severity.MEDIUM: "warning",
    Severity.HIGH: "error", Severity.CRITICAL: "error",
}  # fmt: skip
# GitHub: above 9.0 critical, from 7.0 high, from 4.0 medium, else low.
_SCORES = {
    Severity.INFO: "0.1", Severity.LOW: "2.0", Severity.MEDIUM: "5.5", Severity.HIGH: "8.0", Severity.CRITICAL: "9.5",
}  # fmt: skip
_SECURITY = {"secret_scan", "sast_scan"}


def render(report: GateReport, about: str) -> str:
    """The report as SARIF text."""
    return in_json(json.dumps(document(report, about), indent=2, ensure_ascii=False))


def document(report: GateReport, about: str) -> dict[str, Any]:
    """The report as a SARIF log."""
    found = [(result, finding) for result in report.results for finding in result.findings if finding.path]
    rules = _rules(found)
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "swarmgate",
                "semanticVersion": __version__,
                "rules": rules,
                "notifications": [{"id": result.gate} for result in report.results] + [{"id": "gates"}],
            }
        },
        "automationDetails": {"id": "swarmgate/", "description": {"text": about or "a change"}},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, result, places) for result, finding in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules(found: Iterable[tuple[GateResult, Finding]]) -> list[dict[str, Any]]:
    """A descriptor for each rule, in the order of the first finding; the worst finding gives the level."""
    groups: dict[str, list[tuple[GateResult, Finding]]] = {}
    for result, finding in found:
        groups.setdefault(finding.rule, []).append((result, finding))
    return [_rule(rule, members) for rule, members in groups.items()]


def _rule(rule: str, members: list[tuple[GateResult, Finding]]) -> dict[str, Any]:
    findings = [finding for _, finding in members]
    gates = list(dict.fromkeys(result.gate for result, _ in members))
    worst = max((finding.severity for finding in findings), key=lambda severity: severity.rank)
    cwes = sorted({finding.cwe for finding in findings if finding.cwe})
    security = bool(cwes or _SECURITY & set(gates))
    first = findings[0]
    properties: dict[str, Any] = {"tags": [*gates, *(["security"] if security else []), *map(_cwe_tag, cwes)]}
    if security:
        properties["security-severity"] = _SCORES[worst]
    return {
        "id": rule,
        "name": rule,
        "shortDescription": {"text": f"{gates[0]}: {rule}"},
        "fullDescription": {"text": first.message},
        "help": {"text": "\n".join(filter(None, (first.suggestion, f"swarm gates explain {rule}")))},
        "defaultConfiguration": {"level": _LEVELS[worst]},
        "properties": properties,
    }


def _cwe_tag(cwe: str) -> str:
    number = cwe.removeprefix("CWE-")
    return f"external/cwe/cwe-{number:>03}"


def _result(finding: Finding, result: GateResult, places: dict[str, int]) -> dict[str, Any]:
    mend = f" {finding.suggestion}" if finding.suggestion else ""
    fields: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{mend}"},
        "locations": [{"physicalLocation": _location(finding)}],
        "baselineState": "new" if finding.new else "unchanged",
        "properties": {"gate": result.gate, "severity": finding.severity.value, "also": list(finding.also)},
    }
    if finding.fingerprint:
        fields["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
    if finding.accepted:
        fields["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.accepted}]
    return fields


def _location(finding: Finding) -> dict[str, Any]:
    # GitHub wants a line for every result; 1 stands for the whole file.
    region: dict[str, Any] = {"startLine": max(finding.line, 1)}
    if finding.line and finding.column:
        region["startColumn"] = finding.column
    if finding.code:
        region["snippet"] = {"text": finding.code}
    return {"artifactLocation": {"uri": quote(encode(finding.path)), "uriBaseId": _ROOT}, "region": region}


def _invocation(report: GateReport) -> dict[str, Any]:
    broken = [result for result in report.results if result.status is GateStatus.ERROR]
    # What is not about a place in a file cannot be a result that GitHub takes.
    placeless = [
        (result.gate, "warning" if finding.new else "note", finding.message)
        for result in report.results
        for finding in result.findings
        if not finding.path
    ]
    failed = [
        (result.gate, "error", result.reason)
        for result in report.results
        if result.status is GateStatus.FAIL and not any(finding.path for finding in result.findings)
    ]
    unchecked = [
        (result.gate, "warning", f"not checked: {each.what} ({each.why})")
        for result in report.results
        for each in result.unchecked
        if each.asked
    ]
    notifications = [*((result.gate, "error", result.reason) for result in broken), *failed, *placeless, *unchecked]
    return {
        "executionSuccessful": not broken,
        "toolExecutionNotifications": [_notification(*each) for each in notifications],
        "toolConfigurationNotifications": [_notification("gates", "warning", note) for note in report.notes],
    }


def _notification(gate: str, level: str, text: str) -> dict[str, Any]:
    return {"descriptor": {"id": gate}, "level": level, "message": {"text": text}}

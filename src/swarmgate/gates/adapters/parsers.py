"""Parses the output of tools into findings: SARIF 2.1.0, JSON lines, or a regular expression with named groups."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.definition import compiled_pattern
from swarmgate.gates.tools.run import OUTPUT_LIMIT, Broken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_SEVERITIES = {
    "note": Severity.LOW, "none": Severity.INFO, "information": Severity.INFO, "style": Severity.LOW,
    "hint": Severity.INFO, "warning": Severity.MEDIUM, "warn": Severity.MEDIUM, "moderate": Severity.MEDIUM,
    "error": Severity.HIGH, "fatal": Severity.CRITICAL, "blocker": Severity.CRITICAL, "major": Severity.HIGH,
    "minor": Severity.LOW,
}  # fmt: skip


def sarif(output: str, root: Path, gate: str) -> list[Finding] | Broken:
    """The results of every run; those that the tool itself marks as suppressed are left out."""
    try:
        log = json.loads(output)
        return [_sarif_result(result, rules, root, gate) for rules, result in _sarif_results(log)]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        return Broken(f"the output is not SARIF 2.1.0: {error}")


def jsonl(output: str, root: Path, gate: str) -> list[Finding] | Broken:
    """One JSON object a line: `path` and `message`, and if known `rule`, `line`, `column`, `severity`, `suggestion`."""
    found = []
    for number, line in enumerate(output.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_fields(json.loads(line), root, gate))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return Broken(f"line {number} of the output is not an object with `path` and `message`: {error}")
    return found


def regex(output: str, root: Path, gate: str, pattern: str) -> list[Finding] | Broken:
    """Every match of `pattern` in the output, line by line."""
    if len(output) > OUTPUT_LIMIT:
        return Broken(f"the output has more than {OUTPUT_LIMIT:,} characters: findings would be missed")
    compiled = compiled_pattern(pattern)
    matches = (compiled.search(line) for line in output.splitlines())
    return [_fields({k: v for k, v in match.groupdict().items() if v}, root, gate) for match in matches if match]


def severity_of(word: str) -> Severity:
    """Our severity for a tool's word; medium for an unknown one."""
    lowered = word.strip().lower()
    return Severity(lowered) if lowered in set(Severity) else _SEVERITIES.get(lowered, Severity.MEDIUM)


def _fields(raw: Mapping[str, Any], root: Path, gate: str) -> Finding:
    return Finding(
        rule=str(raw.get("rule") or gate),
        path=relative(str(raw["path"]), root),
        line=_number(raw.get("line")),
        column=_number(raw.get("column")),
        severity=severity_of(str(raw.get("severity") or "")),
        message=str(raw["message"]),
        suggestion=str(raw.get("suggestion") or ""),
    )


def _sarif_results(log: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    for run in log["runs"]:
        rules = {rule["id"]: rule for rule in run.get("tool", {}).get("driver", {}).get("rules", [])}
        for result in run.get("results") or ():
            suppressions = result.get("suppressions") or ()
            if not any(each.get("status", "accepted") == "accepted" for each in suppressions):
                yield rules, result


def _sarif_result(result: Mapping[str, Any], rules: Mapping[str, Any], root: Path, gate: str) -> Finding:
    rule = str(result.get("ruleId") or (result.get("rule") or {}).get("id") or gate)
    default = (rules.get(rule, {}).get("defaultConfiguration") or {}).get("level") or "warning"
    place = (result.get("locations") or [{}])[0].get("physicalLocation") or {}
    region = place.get("region") or {}
    return Finding(
        rule=rule,
        path=relative(str((place.get("artifactLocation") or {}).get("uri") or ""), root, uri=True),
        line=_number(region.get("startLine")),
        column=_number(region.get("startColumn")),
        severity=severity_of(str(result.get("level") or default)),
        message=str(result["message"].get("text") or result["message"].get("markdown") or rule),
    )


def relative(name: str, root: Path, *, uri: bool = False) -> str:
    """A tool's spelling of a file as a path of the repository; what lies outside stays as it is."""
    if uri:
        parts = urlsplit(name)
        name = unquote(parts.path) if parts.scheme in {"", "file"} else name
    if not name:
        return ""
    for prefix in (f"{root.as_posix()}/", f"{root.resolve().as_posix()}/"):
        name = name.removeprefix(prefix)
    return posixpath.normpath(name)


def _number(value: object) -> int:
    try:
        return max(int(str(value)), 0)
    except ValueError:
        return 0

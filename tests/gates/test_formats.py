"""Tests the SARIF, JUnit, GitHub and JSON reports with one report that holds every special case."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity, Unchecked
from swarmgate.gates.formats import FORMATS, render

SECRET = Finding(
    rule="aws-access-key-id", path="a dir/ümlaut,x:y.py", line=3, column=5, severity=Severity.CRITICAL, cwe="CWE-89",
    message="100%\nbad: yes, \x1b\x00 \ud7ff\ufffe", suggestion="mend", fingerprint="f" * 64, code="key = …",
)  # fmt: skip
OLD = Finding(rule="B1", path="b.py", line=1, severity=Severity.LOW, message="old", new=False, fingerprint="a" * 64)
LIVED = Finding(rule="B1", path="c.py", message="lived with", accepted="later", fingerprint="b" * 64)
RAW = Finding(rule="B2", path='"caf\\351.py"', severity=Severity.HIGH, message="bytes", also=("lint_check",))
PLACELESS = Finding(rule="B3", path="", message="about nothing in particular")
REPORT = GateReport(
    tree="0" * 40,
    seconds=1.5,
    notes=("this change edits ruff.toml",),
    results=(
        GateResult(gate="secret_scan", status=GateStatus.FAIL, findings=(SECRET,), files=3, reason="1 new", rules=7),
        GateResult(gate="lint", status=GateStatus.FAIL, findings=(OLD, LIVED, RAW, PLACELESS), files=3, reason="2 new"),
        GateResult(gate="build", status=GateStatus.ERROR, reason="make: not found\n<b>&", missing=True),
        GateResult(gate="mine", status=GateStatus.FAIL, reason="it ended with exit code 1"),
        GateResult(gate="extra", status=GateStatus.ERROR, reason="broken", required=False),
        GateResult(gate="quiet", status=GateStatus.SKIP, reason="nothing to do"),
        GateResult(gate="good", status=GateStatus.PASS, files=1),
        GateResult(
            gate="types",
            status=GateStatus.SKIP,
            reason="mypy is not installed",
            unchecked=(Unchecked(what="types", why="mypy is not installed"), Unchecked(what="t", why="n", asked=False)),
        ),
    ),
)
EMPTY = GateReport(tree="0" * 40, results=())

_TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
_NOTIFICATION = {
    "type": "object",
    "required": ["message", "level", "descriptor"],
    "properties": {"message": _TEXT, "level": {"enum": ["none", "note", "warning", "error"]}, "descriptor": {}},
    "additionalProperties": False,
}
_RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"}, "name": {"type": "string"}, "shortDescription": _TEXT, "fullDescription": _TEXT,
        "help": _TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": {"enum": ["note", "warning", "error"]}}},
        "properties": {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}},
    },
    "additionalProperties": False,
}  # fmt: skip
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {
                        "uri": {"type": "string", "pattern": r"^[A-Za-z0-9\-._~!$&'()*+,;=@/%]+$"},
                        "uriBaseId": {"const": "%SRCROOT%"},
                    },
                    "additionalProperties": False,
                },
                "region": {
                    "type": "object",
                    "required": ["startLine"],
                    "properties": {
                        "snippet": _TEXT,
                        "startLine": {"type": "integer", "minimum": 1},
                        "startColumn": {"type": "integer", "minimum": 1},
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}  # fmt: skip
_RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "locations"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "minItems": 1, "items": _LOCATION},
        "baselineState": {"enum": ["new", "unchanged"]},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {"enum": ["inSource", "external"]}, "status": {"enum": ["accepted"]},
                    "justification": {"type": "string"},
                },
                "additionalProperties": False,
            },
        },
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}  # fmt: skip
ESSENTIALS: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "additionalProperties": False,
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string"},
                                    "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
                                    "notifications": {"type": "array", "uniqueItems": True},
                                },
                            }
                        },
                    },
                    "automationDetails": {"type": "object"},
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "additionalProperties": False,
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "toolExecutionNotifications": {"type": "array", "items": _NOTIFICATION},
                                "toolConfigurationNotifications": {"type": "array", "items": _NOTIFICATION},
                            },
                        },
                    },
                    "originalUriBaseIds": {"type": "object"},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": _RESULT},
                },
            },
        },
    },
}
"""What the SARIF 2.1.0 schema demands of the properties that we use, and no others."""


@pytest.mark.parametrize("report", [REPORT, EMPTY])
def test_sarif_fits_the_schema(report: GateReport) -> None:
    document = json.loads(render("sarif", report, "a change"))
    import jsonschema  # type: ignore[import-untyped]  # it ships no types; late: a second and a half for each worker

    schema = jsonschema.Draft7Validator(ESSENTIALS)
    assert [error.message for error in schema.iter_errors(document)] == []
    assert not schema.is_valid({**document, "version": "2.0.0"}), "the schema refuses what does not fit"


def sarif() -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render("sarif", REPORT, "a change"))["runs"][0]
    return run


def test_sarif_rules_bear_cwe_and_severity_as_github_reads_them() -> None:
    run = sarif()
    rules = run["tool"]["driver"]["rules"]
    first = rules[0]
    assert first["properties"] == {
        "tags": ["secret_scan", "security", "external/cwe/cwe-089"],
        "security-severity": "9.5",
    }
    assert "security-severity" not in rules[1]["properties"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_sarif_results_bear_place_state_and_fingerprint() -> None:
    first, old, lived, raw = sarif()["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20dir/%C3%BCmlaut%2Cx%3Ay.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5, "snippet": {"text": "key = …"}},
    }
    assert first["partialFingerprints"] == {"swarmgate/v1": "f" * 64}
    assert (first["baselineState"], old["baselineState"]) == ("new", "unchanged")
    assert lived["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "later"}]
    assert raw["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "caf%E9.py"
    assert raw["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_sarif_tells_what_has_no_place_as_notifications() -> None:
    (invocation,) = sarif()["invocations"]
    assert not invocation["executionSuccessful"]
    document = {each["descriptor"]["id"]: each["level"] for each in invocation["toolExecutionNotifications"]}
    assert document == {"build": "error", "mine": "error", "extra": "error", "lint": "warning", "types": "warning"}
    assert "not checked: types (mypy is not installed)" in [
        each["message"]["text"] for each in invocation["toolExecutionNotifications"]
    ]
    assert [each["message"]["text"] for each in invocation["toolConfigurationNotifications"]] == [*REPORT.notes]


def junit(report: GateReport, about: str = "a\x00b") -> ET.Element:
    text = render("junit", report, about)
    assert not re.search("[\x00-\x08\x0b-\x1f\ufffe\uffff]", text)
    return ET.fromstring(text.encode())  # noqa: S314 - our own


COUNTS = {"name", "tests", "failures", "errors", "time"}
JUNIT = {
    "testsuites": (COUNTS, {"testsuite"}),
    "testsuite": (COUNTS | {"skipped"}, {"testcase", "system-out"}),
    "testcase": ({"name", "classname", "time"}, {"skipped", "error", "failure", "system-out"}),
    "failure": ({"type", "message"}, set[str]()),
    "error": ({"type", "message"}, set[str]()),
    "skipped": ({"type", "message"}, set[str]()),
    "system-out": (set[str](), set[str]()),
}
"""The attributes and the children that junit-10.xsd of Jenkins' xUnit plugin lets an element have, of those we use."""


@pytest.mark.parametrize("report", [REPORT, EMPTY])
def test_junit_fits_the_schema(report: GateReport) -> None:
    for element in junit(report).iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.keys()) <= attributes, element.tag
        assert {child.tag for child in element} <= children
        if element.tag == "testsuite":
            assert {"name", "tests", "failures", "errors"} <= set(element.keys())
            cases = [[child.tag for child in case] for case in element.iter("testcase")]
            counted = {"tests": len(cases)} | {
                key: sum(kind in tags for tags in cases)
                for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
            }
            assert {key: int(element.get(key, "")) for key in counted} == counted
        if element.get("time"):
            assert re.fullmatch(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?", element.get("time", ""))


def test_junit_has_a_suite_for_each_gate_with_a_case_for_each_finding() -> None:
    root = junit(REPORT)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("12", "4", "2")
    suites = {suite.get("name"): suite for suite in root}
    assert [*suites] == [*(result.gate for result in REPORT.results), "notes"]
    (case,) = suites["secret_scan"]
    (failure,) = case
    assert failure.tag == "failure"
    assert failure.text
    assert f"{SECRET.path}:3:5\ncritical: 100%\nbad: yes" in failure.text
    assert [[each.tag for each in case] for case in suites["lint"]] == [
        ["system-out"], ["system-out"], ["failure"], ["failure"],
    ]  # fmt: skip
    assert [(case[0].text or "").split("\n")[0] for case in suites["lint"] if case[0].tag == "system-out"] == [
        "old", "accepted: later",
    ]  # fmt: skip
    assert [[each.tag for each in suites[name][0]] for name in ("build", "mine", "quiet", "good")] == [
        ["error"], ["failure"], ["skipped"], [],
    ]  # fmt: skip
    assert [case[0].get("message") for case in suites["types"]] == [
        "mypy is not installed", "not checked: mypy is not installed",
    ]  # fmt: skip
    assert junit(EMPTY).tag == "testsuites"


def test_junit_tells_the_notes_and_the_summary_and_counts_no_test_for_them() -> None:
    noted = EMPTY.model_copy(update={"notes": ("Nothing differs.", "n/: not <looked> at")})
    (suite,) = junit(noted)
    assert (suite.get("name"), suite.get("tests")) == ("notes", "0")
    output = "Nothing differs.\nn/: not <looked> at\nnothing judged: no gate looked at anything"
    assert [(each.tag, each.text) for each in suite] == [("system-out", output)]


def test_github_commands_are_one_line_each_in_a_group_a_file_and_escaped() -> None:
    group, first, end, *others = render("github", REPORT, "a change").splitlines()
    assert group == "::group::a dir/ümlaut,x:y.py: 1 blocking"
    assert first.startswith(
        "::error file=a dir/ümlaut%2Cx%3Ay.py,line=3,col=5,title=secret_scan%3A aws-access-key-id::100%25%0Abad: yes, "
    )
    assert end == "::endgroup::"
    assert sum(line.startswith("::group::") for line in others) == 2
    assert not any("b.py" in line or "c.py" in line for line in others)
    assert "::error title=build%3A ERROR::make: not found%0A<b>&" in others
    assert "::error title=mine%3A FAIL::it ended with exit code 1" in others
    assert "::warning title=extra%3A ERROR::broken" in others
    assert "::warning title=not checked::types: mypy is not installed" in others
    assert "::warning title=gates::this change edits ruff.toml" in others
    assert others[-1].startswith("swarm gates: rejected: ")


def test_github_groups_the_worst_file_first_and_a_name_begins_no_command() -> None:
    mild = OLD.model_copy(update={"new": True, "path": "0.py"})
    worse = OLD.model_copy(update={"new": True, "path": "z\n::error::x.py", "severity": Severity.HIGH})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(mild, worse), files=1)
    output = render("github", GateReport(tree="0", results=(result,)), "x").splitlines()
    assert [line.split("::")[1] for line in output if line.startswith("::")] == [
        "group", "error file=z%0A%3A%3Aerror%3A%3Ax.py,line=1,title=g%3A B1", "endgroup",
        "group", "notice file=0.py,line=1,title=g%3A B1", "endgroup",
    ]  # fmt: skip


def test_json_says_what_was_judged_and_that_nothing_was() -> None:
    document = json.loads(render("json", REPORT, "a change"))
    assert (document["verdict"], document["judged"], document["notes"]) == ("rejected", "a change", [*REPORT.notes])
    assert document["results"][0]["rules"] == 7
    assert document["counts"] == {"blocks": 3, "informs": 0, "accepted": 1, "old": 1}
    assert sum(document["counts"].values()) == sum(len(result["findings"]) for result in document["results"])
    types, extra = document["unchecked"]
    assert (types, extra["what"]) == ({"what": "types", "why": "mypy is not installed"}, "extra")
    assert document["summary"].endswith("; not checked: types (mypy is not installed), extra (broken)")
    assert json.loads(render("json", EMPTY, ""))["verdict"] == "nothing judged"


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_ends_with_a_line_end(form: str) -> None:
    for report in (REPORT, EMPTY):
        assert render(form, report, "x").endswith("\n")

"""Tests gates that are user-defined commands, with each output parser, over real processes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.definition import GateDefinition

if TYPE_CHECKING:
    Project = Any


def printing(text: str, *, code: int = 1, **keys: Any) -> GateDefinition:
    script = f"import sys; sys.stdout.write({text!r}); sys.exit({code})"
    argv = [sys.executable, "-c", script, "{files}"]
    return GateDefinition.model_validate({"id": "mine", "title": "Mine", "command": argv, **keys})


@pytest.fixture
def changed(project: Project) -> Project:
    project.commit_files({"a.py": "old = 1\n"})
    project.write("a.py", "old = 1\nnew = 2\n")
    return project


def test_exit_code_alone(changed: Project) -> None:
    (result,) = changed.run(printing("all is well", code=0)).results
    assert (result.status, result.files) == (GateStatus.PASS, 1)
    (result,) = changed.run(printing("it is bad", code=1)).results
    assert result.status is GateStatus.FAIL
    assert result.reason.endswith("ended with exit code 1: it is bad")
    (result,) = changed.run(printing("usage: ...", code=2)).results
    assert result.status is GateStatus.ERROR


def test_sarif(changed: Project) -> None:
    def result(line: int, level: str, **more: object) -> dict[str, object]:
        place = {"artifactLocation": {"uri": (changed.root / "a.py").as_uri()}, "region": {"startLine": line}}
        return {
            "ruleId": "R1",
            "level": level,
            "message": {"text": "m"},
            "locations": [{"physicalLocation": place}],
            **more,
        }

    suppressed = result(2, "error", suppressions=[{"kind": "inSource"}])
    log = {"version": "2.1.0", "runs": [{"results": [result(1, "error"), result(2, "error"), suppressed]}]}
    (done,) = changed.run(printing(json.dumps(log), code=0, parser="sarif")).results
    assert done.status is GateStatus.FAIL
    assert [(each.path, each.line, each.new, each.severity) for each in done.findings] == [
        ("a.py", 1, False, Severity.HIGH),
        ("a.py", 2, True, Severity.HIGH),
    ]


def test_jsonl_and_the_blocking_severity(changed: Project) -> None:
    line = json.dumps({"path": "./a.py", "line": 2, "column": 3, "rule": "R", "severity": "warning", "message": "m"})
    (result,) = changed.run(printing(line + "\n\n", parser="jsonl")).results
    assert result.findings[0].place == "a.py:2:3"
    assert (result.status, result.findings[0].severity) == (GateStatus.FAIL, Severity.MEDIUM)
    (result,) = changed.run(printing(line, parser="jsonl", severity="high")).results
    assert result.status is GateStatus.PASS
    assert len(result.new_findings) == 1


def test_regex(changed: Project) -> None:
    pattern = r"^(?P<path>[^:]+):(?P<line>\d+): (?P<severity>\w+): (?P<message>.*)$"
    text = "noise\na.py:2: error: broken\nREADME.md:1: error: elsewhere\n"
    (result,) = changed.run(printing(text, parser="regex", pattern=pattern)).results
    assert [(each.path, each.message, each.new) for each in result.findings] == [
        ("README.md", "elsewhere", False),
        ("a.py", "broken", True),
    ]
    (result,) = changed.run(printing(text, parser="regex", pattern=pattern, baseline="none")).results
    assert len(result.new_findings) == 2


@pytest.mark.slow
@pytest.mark.parametrize("parser", ["sarif", "jsonl"])
@pytest.mark.parametrize("text", ["not json", "[1]", '{"runs": [{"results": [{}]}]}'])
def test_output_that_is_not_understood_is_an_error(changed: Project, parser: str, text: str) -> None:
    (result,) = changed.run(printing(text, parser=parser)).results
    assert result.status is GateStatus.ERROR
    assert result.blocks


def test_a_bad_exit_without_findings_is_an_error(changed: Project) -> None:
    (result,) = changed.run(printing("Traceback", parser="regex", pattern="^(?P<path>x):(?P<message>y)$")).results
    assert result.status is GateStatus.ERROR
    assert "no finding was read from its output: Traceback" in result.reason


@pytest.mark.slow
def test_a_gate_that_prints_a_lot(changed: Project) -> None:
    script = "import sys\nfor _ in range(200): sys.stdout.write('x' * 99_999 + '\\n')"
    keys: dict[str, Any] = {"id": "mine", "title": "Mine", "command": [sys.executable, "-c", script]}
    (result,) = changed.run(GateDefinition.model_validate(keys)).results
    assert result.status is GateStatus.PASS
    regex = {**keys, "parser": "regex", "pattern": "^(?P<path>y):(?P<message>z)$"}
    (result,) = changed.run(GateDefinition.model_validate(regex)).results
    assert result.status is GateStatus.ERROR
    assert "more than" in result.reason


@pytest.mark.slow
def test_many_files_are_split_over_several_calls(project: Project) -> None:
    for number in range(900):
        project.write(f"{'deep' * 30}/{number}.txt", "x\n")
    script = "import sys; sys.exit(len(' '.join(sys.argv)) > 110_000)"
    gate = {"id": "mine", "title": "Mine", "command": [sys.executable, "-c", script, "{files}"], "timeout_s": 60}
    (result,) = project.run(GateDefinition.model_validate(gate)).results
    assert (result.status, result.files) == (GateStatus.PASS, 900)

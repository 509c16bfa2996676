"""The coverage of added lines is measured in swarmgate's own run of the suite: no report, no coverage tool."""

from __future__ import annotations

from typing import Any

import pytest
from tests.project import Project, code, engineer, plain

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome

PART = "src/calc/part_1.1.py"
SIGN = '"""A part."""\n\n\ndef sign(value: int) -> int:\n    """Its sign."""\n'
SIGN += "    if value < 0:\n        return -1\n    if value == 0:\n        return 0\n    return 1\n"
HALF = {
    "tests/test_part.py": "import runpy\n\n\ndef test_part() -> None:\n"
    f"    assert runpy.run_path({PART!r})['sign'](-2) == -1\n"
}
ALL = {
    "tests/test_part.py": "import runpy\n\n\ndef test_part() -> None:\n"
    f"    sign = runpy.run_path({PART!r})['sign']\n    assert [sign(-2), sign(0), sign(7)] == [-1, 0, 1]\n"
}
ASKED: dict[str, Any] = {
    "gates__quality": {"min_changed_line_coverage": 0.9, "min_test_to_code_ratio": "off"},
    "tests": {"must_fail": "off"},
}


def told(project: Project) -> list[str]:
    return [event.note.detail for event in project.events(ev.GuardActed) if event.note.rule == "coverage"]


@pytest.mark.slow
def test_lines_that_no_test_runs_reject_the_attempt_and_an_override_lets_it_pass(project: Project) -> None:
    project.planned(code({PART: SIGN}, task="1.1"), engineer(HALF, attempt="1"), engineer(ALL, attempt="2"), **ASKED)
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert first.stage == "gates: quality_budget"
    assert first.reason.startswith("3 of 6 added lines ran (50%), at least 90% are asked for")
    assert [(each.file, each.line, each.message) for each in first.feedback] == [
        (PART, 8, "No test runs lines 8, 9, 10.")
    ]
    assert "high: src/calc/part_1.1.py:8 No test runs lines 8, 9, 10." in plain(project.swarm("show", "1.1").stdout)
    assert second.outcome is Outcome.COMPLETE
    assert told(project) == ["3 of 6 added lines ran (50%)", "6 of 6 added lines ran (100%)"]
    (kept,) = (project.folder.evidence / "1.1/attempt-2").glob("gates.json")
    assert "coverage of the added lines is measured once the tests have passed" in kept.read_text()
    assert "was not judged" not in kept.read_text()


@pytest.mark.slow
def test_the_user_may_overrule_it(project: Project) -> None:
    project.planned(code({PART: SIGN}, task="1.1"), engineer(HALF), loop={"max_rejections": 1}, **ASKED)
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "zero cannot happen")
    project.swarm("run", exits=3)
    assert project.state.task("1.1").attempts[-1].outcome is Outcome.COMPLETE


LCOV = "SF:src/calc/part.js\\nDA:1,{hits}\\nend_of_record\\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("", "src/calc/part.js: no coverage report in the tree (coverage.xml, lcov.info): the coverage was not judged"),
        (LCOV.format(hits=3), "1 of 1 added lines ran (100%)"),
    ],
)
def test_other_languages_are_read_from_the_report_that_the_test_command_leaves(
    project: Project, report: str, said: str
) -> None:
    files = {PART: '"""A part."""\n', "src/calc/part.js": "export const part = 1;\n"}
    tests = {"must_fail": "off", "unproven": "off"}
    if report:
        tests["command"] = f"{project.test_command} && printf '{report}' > lcov.info"
    project.planned(code(files, task="1.1"), engineer(), **ASKED | {"tests": tests})
    project.swarm("run", exits=3)
    assert told(project) == [said]
    assert not (project.root / "lcov.info").exists()

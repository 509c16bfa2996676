"""What a coder takes away from the tests that were there is said to the reviewer, and stands on record."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, call, code, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect, GuardNote

SOURCE = {"src/calc/part_1.1.py": "VALUE = 1\n"}
BEHIND = {"skip": ["sast_scan", "test_integrity"]}
"""The gate rejects what the reviewer would be told of."""
SECTION = "Existing tests that the change weakens or removes"


def notes(project: Project) -> list[GuardNote]:
    return [event.note for event in project.events(ev.GuardActed) if event.note.rule == "tests-weakened"]


@pytest.mark.slow
@case(
    "lies",
    "the coder deletes or empties a test that was there",
    "the reviewer is told which and how; on record as a warning (rule tests-weakened)",
)
def test_a_weakened_test_is_told_to_the_reviewer_and_on_record(project: Project) -> None:
    weak = "def test_start() -> None:\n    assert True\n\n\ndef test_more() -> None:\n    assert True\n"
    project.planned(code({**SOURCE, "tests/test_calc.py": weak}), tests={"must_fail": "off"}, gates=BEHIND)
    project.swarm("run", exits=3)
    (note,) = notes(project)
    assert (note.effect, note.role, note.step, note.attempt) == (Effect.WARNED, "coder", "code", 1)
    assert note.detail.startswith("existing tests are weakened: tests/test_calc.py: ")
    (brief,) = project.briefs("reviewer", "review")
    assert SECTION in brief
    assert "Each needs a reason in the task." in brief
    assert "tests/test_calc.py: " in brief.partition(SECTION)[2]


@pytest.mark.slow
def test_a_deleted_test_and_a_conftest_that_switches_tests_off_are_told(project: Project) -> None:
    hook = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
    gone = call("delete_file", path="tests/test_calc.py")
    writes = [call("write_file", path=path, content=text) for path, text in {**SOURCE, "conftest.py": hook}.items()]
    project.planned(rule("coder", "code", [*writes, gone, call("finish", summary="done")]), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    note = notes(project)[0]
    assert "tests/test_calc.py is deleted" in note.detail
    assert "conftest.py: `pytest_collection_modifyitems` changes the other tests" in note.detail


@pytest.mark.slow
def test_tests_that_are_added_are_not_told(project: Project) -> None:
    before = (project.root / "tests/test_calc.py").read_text()
    more = f"{before}\n\ndef test_more() -> None:\n    # one\n    assert True\n"
    project.planned(code({**SOURCE, "tests/test_calc.py": more}), tests={"must_fail": "off"})
    project.swarm("run", exits=3)
    assert notes(project) == []
    assert SECTION not in project.briefs("reviewer", "review")[0]

"""Dependencies that an agent brings in: named by the task, or rejected; and the evidence of what is in the tree."""

from __future__ import annotations

import json

import pytest
from tests.project import GOAL, Project, code, delegate, part

pytestmark = pytest.mark.suite("unittest")

PART, LOCK = "src/calc/part_1.1.py", "requirements.txt"


@pytest.mark.slow
def test_a_dependency_that_nobody_asked_for_is_rejected_until_it_is_named(project: Project) -> None:
    files = {PART: part("1"), LOCK: "left-pad==1.3.0\n"}
    project.play(
        code(files),
        delegate("Write the part.", attempt="1"),
        delegate("Write the part, with left-pad for the padding.", attempt="2"),
    )
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert first.stage == "gates: sbom_generate"
    assert "`left-pad` is a new dependency that the task does not name" in first.reason
    assert not second.reason
    place = project.folder.evidence / "1.1/attempt-2/sbom.cdx.json"
    components = json.loads(place.read_text())["components"]
    assert [each["name"] for each in components] == ["left-pad"]


@pytest.mark.slow
def test_an_attempt_that_touches_no_component_leaves_no_list_of_them(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    assert not list(project.folder.evidence.rglob("sbom.cdx.json"))

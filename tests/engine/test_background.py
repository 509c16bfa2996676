"""What the work before has taught reaches the briefs of later tasks."""

from __future__ import annotations

import pytest
from tests.project import Project, delegate, plan

pytestmark = pytest.mark.suite("unittest")

ANSWER = """
## SME Guidance Cache

### Units (Phase 2)
- Question: Which unit has a part?
- Asked: 2026-11-21, task 2.1
- Answer: METRES, always.
"""


@pytest.mark.slow
def test_decisions_of_a_phase_and_answers_of_experts_are_told_in_the_next(project: Project) -> None:
    project.planned(plan("1.1", "2.1"), delegate("Write the part. " + "Mind the house rules. " * 100))
    project.swarm("run", exits=3)
    project.swarm("approve")
    with project.folder.context.open("a") as file:
        file.write(ANSWER)
    project.swarm("run", exits=3)
    first, second = project.briefs("coder", "code")
    assert "Parts are modules." not in first
    assert "## Decided and learnt before\n```text\n- Parts are modules.\n- Small parts.\n```" in second
    assert "## Answers of experts on this task\n```text\nUnits: Which unit has a part?\nMETRES, always.\n```" in second
    assert "## Declared scope" in second
    assert "### src/calc/part_2.1.py: does not exist yet" in second
    assert "METRES" in project.briefs("architect", "delegate")[1]

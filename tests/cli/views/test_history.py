"""`swarm history`: what happened, in order, of a project or of one task."""

from __future__ import annotations

import pytest
from tests.project import Project, plan, review

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_history_tells_it_in_order(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), review("REJECTED", "no unit", task="1.2", attempt="1"))
    project.swarm("run", exits=3)
    lines = [line["text"] for line in project.json("history")]
    words = ["project initialised", "goal: Add parts", "plan saved", "critic: APPROVED", "plan approved", "work begins"]
    places = [next(at for at, line in enumerate(lines) if line.startswith(word)) for word in words]
    assert places == sorted(places)
    of_task = project.json("history", "1.2")
    assert any("REJECTED (reviewer) - no unit" in line["text"] for line in of_task)
    assert len(of_task) < len(lines)
    assert "task 1.1" not in "".join(line["text"] for line in of_task)

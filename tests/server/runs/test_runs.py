from __future__ import annotations

import pytest
from tests.project import plan
from tests.server.runs.conftest import ADA, BO, Served

from swarmgate.domain.events import event as ev
from swarmgate.server.runs.model import Verb

pytestmark = pytest.mark.slow


async def test_a_goal_is_planned_approved_by_name_and_run_to_its_end_in_a_clone(served: Served) -> None:
    served.project.play(plan("1.1"))
    await served.runs.start()
    goal = await served.created()
    assert goal.ended
    assert (goal.ended.exit_code, goal.ended.message) == (3, "")
    swarm = served.swarm(goal)
    assert swarm.approve() == ("the plan",)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3
    assert served.swarm(goal, BO).approve() == ("phase 1",)
    entries = [entry for entry, _ in served.swarm(goal).project.ledger().entries()]
    said = [(entry.event.type, entry.actor) for entry in entries if entry.actor.startswith("user:")]
    assert said == [("goal_set", ADA), ("plan_approved", ADA), ("phase_approved", BO)]
    assert served.swarm(goal).state.finished
    assert served.swarm(goal).state.branch == f"swarm/{goal.id}/parts"
    assert served.project.git("branch", "--format=%(refname:short)") == "main"
    assert not served.project.events(ev.GoalSet)

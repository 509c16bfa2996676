"""What a fleet has to show: workers in processes of their own, a real database, every goal done once.

Four workers and forty goals of three tasks where `SWARMGATE_FLEETS` is set: they take minutes. Else two of each.
"""

from __future__ import annotations

import os

import pytest
from tests.fleet.machines import Machines
from tests.fleet.remote import plain_events
from tests.project import plan

from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal
from swarmgate.ledger.ledger import Ledger

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow, pytest.mark.timeout(1500)]
WHOLE = bool(os.environ.get("SWARMGATE_FLEETS"))
WORKERS, GOALS, TASKS = (4, 40, ["1.1", "1.2", "1.3"]) if WHOLE else (2, 2, ["1.1", "1.2"])


def test_goals_are_done_once_each_and_as_one_process_does_them(machines: Machines) -> None:
    project = machines.remote.project
    project.play(plan(*TASKS)).latency_s = 0.2  # so that no worker has done all before another one has begun
    machines.configure(approve={"auto": ["plan", "phase"]}, dead_s=60)
    goals = [Goal.named(machines.fleet.submit("Add parts").goal, "") for _ in range(GOALS)]
    for _ in range(WORKERS):
        machines.start("--once")
    for process in machines.processes:
        assert process.wait(1200) == 0, machines.said()[-6000:]
    assert set(machines.standing().values()) == {"done"}, machines.said()[-6000:]

    project.configure(approve={"auto": ["plan", "phase"]})
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("run")
    alone = plain_events(project.lines(), pauses=False)
    workers = set()
    for goal in goals:
        assert machines.remote.completing(goal) == TASKS
        assert plain_events(machines.remote.lines(goal), pauses=False) == alone
        with checked_out(machines.remote.site, goal) as found:
            state = Ledger.read(found.folder).state
            assert (state.lease.epoch, state.finished) == (1, True)
            workers.add(state.lease.worker)
    assert workers == {f"w{number}" for number in range(WORKERS)}

"""One blow of each kind over a fleet at work: nothing is done twice, nothing is lost, no ledger is split.

A hundred of them, over forty goals: `benchmarks/fleet_storm.py`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import pytest
from tests.fleet.machines import Machines
from tests.fleet.postgres import Server
from tests.fleet.storms import CLOCK, Calm, Storm, old_worker
from tests.project import plan

from swarmgate.fleet.goals.goal import Goal

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow, pytest.mark.timeout(600)]
TASKS = ["1.1"]
BLOWS: dict[str, Callable[[Storm], None]] = {
    "stop": Storm.stop_and_continue,
    "drop": Storm.drop_database,
    "kill": Storm.kill,
    "restart": Storm.restart_database,
    "remote": Storm.remote_away,
}
ROUNDS = int(os.environ.get("SWARMGATE_FLEETS") or 1)
"""How often each blow falls."""


def test_a_fleet_goes_on_after_every_blow(machines: Machines, server: Server) -> None:
    machines.remote.project.play(plan(*TASKS)).latency_s = 0.3
    machines.configure(approve={"auto": ["plan", "phase"]})
    storm = Storm(machines, server, [], TASKS, random.Random("storm"))  # noqa: S311 - no secret
    machines.start(**({"LD_PRELOAD": str(CLOCK), "FAKETIME": "+1h"} if CLOCK.exists() else {}))
    machines.start()
    old_worker(machines, "0.0.9")
    for name, blow in list(BLOWS.items()) * ROUNDS:
        struck = False
        while not struck:
            storm.goals.append(Goal.named(machines.fleet.submit("Add parts").goal, ""))
            try:
                storm.at_work()
                time.sleep(storm.chance.uniform(0, 1))
                blow(storm)
                struck = True
            except Calm:
                continue
        assert storm.times, name
    machines.wait("done", 240)
    assert set(storm.check().values()) == {0}, storm.check()

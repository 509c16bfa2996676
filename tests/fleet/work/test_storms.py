"""A few blows of each kind over a few goals: nothing is done twice, nothing is lost, no ledger is split."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable

import pytest
from tests.fleet.machines import Machines
from tests.fleet.postgres import Server
from tests.fleet.storms import Calm, Storm, old_worker
from tests.project import plan, until

from swarmgate.fleet.goals.goal import Goal

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]
TASKS = ["1.1", "1.2"]
ALONE = {"auto": ["plan", "phase"]}
BLOWS: dict[str, Callable[[Storm], None]] = {
    "kill": Storm.kill,
    "stop": Storm.stop_and_continue,
    "restart": Storm.restart_database,
    "drop": Storm.drop_database,
    "remote": Storm.remote_away,
}


def storm_over(machines: Machines, server: Server, goals: int, seed: str) -> Storm:
    machines.remote.project.play(plan(*TASKS))
    machines.configure(approve=ALONE)
    made = [Goal.named(machines.fleet.submit("Add parts").goal, "") for _ in range(goals)]
    return Storm(machines, server, made, TASKS, random.Random(seed))  # noqa: S311 - no secret


def settled(storm: Storm) -> None:
    storm.machines.wait("done", 240)
    assert set(storm.check().values()) == {0}, storm.check()


@pytest.mark.parametrize("blow", BLOWS)
def test_a_fleet_goes_on_after_a_blow(machines: Machines, server: Server, blow: str) -> None:
    storm = storm_over(machines, server, 3, blow)
    for _ in range(2):
        machines.start()
    storm.at_work()
    time.sleep(storm.chance.uniform(0, 2))
    try:
        BLOWS[blow](storm)
    except Calm:
        pytest.fail("the goals were done before anything befell them")
    settled(storm)


def test_a_clock_that_is_an_hour_off_changes_nothing(machines: Machines, server: Server) -> None:
    if not shutil.which("faketime"):
        pytest.skip("there is no faketime here: apt-get install faketime")
    storm = storm_over(machines, server, 3, "clock")
    library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
    machines.start(LD_PRELOAD=library, FAKETIME="+1h")
    machines.start(LD_PRELOAD=library, FAKETIME="-1h")
    storm.at_work()
    storm.kill()
    settled(storm)


def test_an_old_worker_leaves_the_goals_of_a_newer_one_and_does_the_others(machines: Machines, server: Server) -> None:
    storm = storm_over(machines, server, 1, "version")
    first = machines.start()
    until(lambda: any(request.headers.get("STEP") == "code" for request in machines.remote.project.requests))
    first.kill()
    old_worker(machines, "0.0.9")
    until(lambda: "elsewhere" in machines.said() and "this is 0.0.9" in machines.said())
    machines.start()
    settled(storm)

"""A remote that cannot be reached for a while: packets vanish, and no connection says that it is broken."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
from tests.fleet.machines import Machines
from tests.fleet.network import Link, linked
from tests.fleet.postgres import Server
from tests.fleet.remote import Remote
from tests.fleet.storms import Storm
from tests.project import plan

from swarmgate.fleet.goals.goal import Goal

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]


@pytest.fixture
def link(remote: Remote) -> Iterator[Link]:
    with linked(remote.path) as made:
        yield made


def test_goals_go_on_after_nothing_reached_their_remote(machines: Machines, server: Server, link: Link) -> None:
    machines.remote.project.play(plan("1.1")).latency_s = 0.3
    away = {"remote": link.address, "base": "main"}
    machines.configure(approve={"auto": ["plan", "phase"]}, fleet__repositories__calc=away)
    goals = [Goal.named(machines.fleet.submit("Add parts").goal, "")]
    storm = Storm(machines, server, goals, ["1.1"], random.Random(1))  # noqa: S311 - no secret
    machines.start()
    storm.at_work()
    link.cut()
    time.sleep(1)
    before = storm.tips()
    time.sleep(3)
    assert storm.tips() == before, "nothing came through"
    link.mend()
    machines.wait("done")
    assert set(storm.check().values()) == {0}, storm.check()

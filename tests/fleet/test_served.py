"""A team server whose goals workers of a fleet work on: it shows what they record, and decides on the remote."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fleet.machines import Machines
from tests.project import plan

from swarmgate.errors import Stale
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.goals.checkout import all_goals
from swarmgate.fleet.goals.goal import Goal as FleetGoal
from swarmgate.server.accounts.model import Account, Principal, Role
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.fleet import bound
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Goal, Verb
from swarmgate.server.runs.runs import Runs
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.runs import Runs as RunsService
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.readings import Readings

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]


def goals_of(machines: Machines, home: Path) -> Goals:
    project = machines.remote.project
    if "origin" not in project.git("remote"):
        project.git("remote", "add", "origin", str(machines.remote.path))
    settings = machines.fleet.config
    return Goals(home, Repositories(home), os.environ, fleet=bound(settings, os.environ))


async def until(so: Callable[[], bool], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not so():  # noqa: ASYNC110 - what is waited for happens in other processes
            await asyncio.sleep(0.1)


def test_a_goal_of_the_server_is_worked_on_by_the_fleet_and_decided_on_the_remote(
    machines: Machines, tmp_path: Path
) -> None:
    machines.remote.project.play(plan("1.1"))
    machines.configure()
    home = tmp_path / "server"
    home.mkdir()
    goals = goals_of(machines, home)
    repo = goals.repositories.register(str(machines.remote.project.root), by="user:ada").id
    account = Account(id="a-000000000001", name="ada", roles={"*": Role.ADMIN}, created=datetime.now(UTC))
    ada = Principal(account=account, via="key")

    async def served() -> Goal:
        runs = Runs(goals, Jobs(home, goals), settings=machines.fleet.config)
        await runs.start()
        try:
            made = goals.create(repo, "Add parts", owner="a", by="user:ada")
            runs.created(made)
            await until(lambda: made.id in all_goals(machines.remote.site))
            machines.start()
            await until(lambda: goals.get(made.id).ended is not None)
            ended = goals.get(made.id).ended
            assert ended is not None
            assert ended.exit_code == 3, ended
            decide = Acting(goals).decide
            with pytest.raises(Stale):
                await decide(ada, made, lambda swarm: swarm.approve(), expect=1)
            seq = goals.swarm(made).state.seq
            assert await decide(ada, made, lambda swarm: swarm.approve(), expect=seq) == ("the plan",)
            await runs.want(made.id, Verb.RUN, by="user:ada")
            await until(lambda: goals.get(made.id).wanted is None)
            ended = goals.get(made.id).ended
            assert ended is not None
            assert ended.exit_code == 3, (ended, goals.swarm(made).status())
            told = Fleet(machines.remote.project.root).approve(made.id)  # by somebody else, elsewhere
            assert told.said == ("phase 1",)
            await until(lambda: goals.swarm(made).state.finished)  # and the server shows it
            access = Access(goals.repositories, goals, Jobs(home, goals))
            shown = await RunsService(access, Readings(goals), runs).fleet(ada)
            assert (shown.configured, shown.problem, [each.name for each in shown.workers]) == (True, "", ["w0"])
            return goals.get(made.id)
        finally:
            await runs.close()

    made = asyncio.run(served())
    assert made.ended
    assert (made.fleet, made.ended.exit_code) == ("calc", 3)
    assert machines.remote.completing(FleetGoal("calc", made.id)) == ["1.1"]
    ledger = (Path(made.path) / ".swarm" / "ledger.jsonl").read_text()
    actors = {line["event"]["type"]: line["actor"] for line in machines.remote.lines(FleetGoal("calc", made.id))}
    assert (actors["goal_set"], actors["plan_approved"]) == ("user:ada", "user:ada")
    assert [line["hash"] for line in machines.remote.lines(FleetGoal("calc", made.id))] == [
        line.rpartition('"hash":"')[2].rstrip('"}') for line in ledger.splitlines()
    ]
    assert (Path(made.path) / "src" / "calc" / "part_1.1.py").is_file()

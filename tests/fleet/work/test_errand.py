"""Commands of the council and of the evaluation that workers run, and their answers."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from tests.fleet.machines import Machines
from tests.fleet.remote import Remote
from tests.project import Project

from swarmgate.errors import FleetError, UsageError
from swarmgate.evaluation import gates
from swarmgate.fleet.evaluation import gates as spread
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.goals.goal import Goal, Standing

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]
EVAL = ["eval", "gates", "stubs", "--sample", "1"]


@pytest.fixture
def fleet(project: Project, remote: Remote) -> Fleet:
    repository = {"remote": str(remote.path), "base": "main"}
    return Fleet(project.root, flags={"fleet": {"home": str(remote.home), "repositories": {"calc": repository}}})


def test_a_worker_runs_an_errand_once_and_its_answer_is_in_git(remote: Remote, fleet: Fleet) -> None:
    goal = Goal.named(fleet.ask(EVAL).goal, "")
    outcome = remote.advance(goal, site=remote.machine("other"))
    assert outcome.standing is Standing.DONE
    answer = fleet.answer_of(goal.lock)
    assert (answer.exit_code, answer.worker) == (0, "w1")
    assert [each["name"] for each in json.loads(answer.stdout)["sets"]] == ["stubs"]
    again = remote.advance(goal)
    assert (again.standing, again.epoch) == (Standing.DONE, 0)


def test_an_errand_that_fails_says_how(remote: Remote, fleet: Fleet) -> None:
    goal = fleet.ask(["eval", "gates", "no-such-set"]).goal
    remote.advance(Goal.named(goal, ""))
    answer = fleet.answer_of(goal)
    assert answer.exit_code == 2
    assert "no-such-set" in answer.stdout


def test_an_errand_ends_with_its_worker_and_is_run_again_elsewhere(remote: Remote, fleet: Fleet) -> None:
    goal = Goal.named(fleet.ask(EVAL).goal, "")
    work = remote.work(goal)
    threading.Timer(0.5, work.end).start()
    assert work.run().standing is Standing.DUE
    assert replace(remote.work(goal), worker="w2").run().standing is Standing.DONE


def test_workers_run_nothing_for_others_that_writes(fleet: Fleet) -> None:
    for argv in (["run"], ["init"], ["worker"], []):
        with pytest.raises(UsageError, match="run no"):
            fleet.ask(argv)


def test_an_evaluation_is_spread_over_workers(machines: Machines) -> None:
    machines.start()
    machines.start()
    told, _ = machines.remote.project.start("fleet", "run", "--", *EVAL).communicate(timeout=120)
    alone = gates.evaluate(("stubs",), sample=1)
    assert json.loads(told) == json.loads(alone.model_dump_json())
    found = spread(["stubs", "broken"], sample=1, fleet=machines.fleet)
    assert [each.name for each in found.sets] == ["stubs", "broken"]
    machines.end()
    assert spread(["broken", "stubs", "broken"], sample=1, fleet=machines.fleet, wait_s=0).sets == found.sets[::-1]
    with pytest.raises(FleetError, match="set stubs has no answer: none came in time") as caught:
        spread(["stubs"], sample=2, fleet=machines.fleet, wait_s=0)
    assert "Run the same command again" in caught.value.hint
    with pytest.raises(UsageError, match="Workers have no labelled set"):
        spread(["owasp=../x"], fleet=machines.fleet)

"""Workers in processes of their own, on a real PostgreSQL and a bare remote."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path

import pytest
from tests.fleet.machines import Machines, entries
from tests.fleet.postgres import Server
from tests.fleet.storms import CLOCK
from tests.project import plan, rule, save, task, until

from swarmgate.fleet.facade import GoalRow
from swarmgate.fleet.goals.checkout import sweep
from swarmgate.fleet.goals.goal import Goal
from swarmgate.fleet.queue import database as queue
from swarmgate.fleet.queue.jobs import TASK, Jobs

ALONE = {"auto": ["plan", "phase"]}
pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]


def test_a_goal_goes_from_one_machine_through_a_worker_to_its_end(machines: Machines) -> None:
    project = machines.remote.project
    project.play(plan("1.1"))
    machines.configure()
    submitted = project.json("fleet", "submit", "Add parts")
    assert (submitted["standing"], submitted["queued"]) == ("due", True)
    machines.start()
    machines.wait("waiting")
    shown = project.json("fleet", "show", submitted["goal"])
    assert shown["status"]["waiting"] == "plan_approval"
    assert "swarm fleet approve" in project.swarm("fleet", "show", submitted["goal"]).stdout
    assert project.json("fleet", "approve", submitted["goal"])["said"] == ["the plan"]
    goal = Goal.named(submitted["goal"], "")
    until(lambda: machines.remote.summaries()[goal.id].tasks == "1/1")
    machines.wait("waiting")
    assert machines.remote.completing(goal) == ["1.1"]
    assert project.json("fleet", "approve", submitted["goal"])["said"] == ["phase 1"]
    machines.wait("done")
    listed = project.json("fleet", "status", "--all")
    assert [worker["name"] for worker in listed["workers"]] == ["w0"]
    assert listed["goals"][0]["tasks"] == "1/1"
    metrics = project.swarm("fleet", "metrics").stdout
    assert 'swarm_fleet_goals{standing="done"} 1' in metrics
    until(lambda: entries(machines.remote.home) == [])


def test_a_worker_that_is_told_to_end_leaves_its_goal_to_the_next(machines: Machines) -> None:
    project = machines.remote.project
    project.play(plan("1.1"))
    machines.configure(approve=ALONE)
    goal = Goal.named(machines.fleet.submit("Add parts").goal, "")
    first = machines.start()
    until(lambda: any(request.headers.get("STEP") == "code" for request in project.requests))
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    assert machines.standing() == {goal.id: "due"}
    assert machines.fleet.status().workers == ()
    machines.start()
    machines.wait("done")
    events = [line["event"] for line in machines.remote.lines(goal)]
    assert [each["reason"] for each in events if each["type"] == "run_paused"] == ["stopped"]
    assert machines.remote.completing(goal) == ["1.1"]


def test_a_step_without_a_safe_point_is_given_back_within_the_time(machines: Machines) -> None:
    project = machines.remote.project
    hangs = {"fault": {"kind": "hang", "times": 1}, "then": {"tool_calls": [save(task("1.1"))]}}
    project.play(rule("architect", "plan", hangs))
    machines.configure(drain_s=4, dead_s=60)
    machines.fleet.submit("Add parts")
    first = machines.start()
    until(lambda: any(request.headers.get("STEP") == "plan" for request in project.requests))
    began = time.monotonic()
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    assert time.monotonic() - began < 15, "the model hangs for longer than that"
    assert "abandoned" in machines.said()
    machines.start()
    machines.wait("waiting", 20)  # and not only when the first one counts as dead


def test_a_worker_is_told_to_end_from_another_machine(machines: Machines) -> None:
    machines.fleet.rebuild()
    first = machines.start()
    until(lambda: machines.fleet.status().workers)
    assert machines.remote.project.json("fleet", "drain") == {"workers": ["w0"]}
    assert first.wait(20) == 0
    machines.remote.project.swarm("fleet", "drain", "w0", exits=2)


def test_a_goal_whose_model_has_reached_its_limit_is_taken_up_again_at_its_end(machines: Machines) -> None:
    project = machines.remote.project
    limited = {"fault": {"kind": "429", "times": 1, "retry_after": 8}, "then": {"tool_calls": [save(task("1.1"))]}}
    project.play(rule("architect", "plan", limited), providers__local={"max_retries": 0})
    machines.configure(providers__local={"max_retries": 0})
    machines.fleet.submit("Add parts")
    machines.start()
    seen: list[GoalRow] = []

    def limited_now() -> bool:
        seen[:] = machines.fleet.status().goals
        return (seen[0].standing, seen[0].job) == ("limit", "queued")

    until(limited_now)
    assert seen[0].at[:16] == seen[0].until[:16]
    machines.wait("waiting")


def test_what_is_decided_while_the_database_is_lost_is_on_record_and_found_again(
    machines: Machines, server: Server
) -> None:
    project = machines.remote.project
    project.play(plan("1.1"))
    machines.configure()
    goal = machines.fleet.submit("Add parts").goal
    machines.remote.advance(Goal.named(goal, ""))
    server.drop(machines.database)
    shown = machines.fleet.status()
    assert (shown.goals[0].goal, shown.workers) == (goal, ())
    assert "is away" in shown.problem
    decided = project.swarm("fleet", "approve", goal)
    assert "on record, and no worker was told" in decided.stdout
    server.create(machines.database.rpartition("=")[2])
    assert project.json("fleet", "rebuild") == {"queued": 1, "goals": 1}
    server.drop(machines.database)
    server.create(machines.database.rpartition("=")[2])
    machines.start()  # a worker that finds an empty database asks the remotes
    until(lambda: machines.remote.summaries()[Goal.named(goal, "").id].tasks == "1/1")


def test_who_works_on_a_goal_is_not_disturbed_by_a_line_that_is_built_anew(machines: Machines, server: Server) -> None:
    project = machines.remote.project
    project.play(plan("1.1")).latency_s = 3.0  # for its sign of life in the new database
    machines.configure(approve=ALONE, dead_s=300)
    goal = Goal.named(machines.fleet.submit("Add parts").goal, "")
    first = machines.start()
    until(lambda: any(request.headers.get("STEP") == "code" for request in project.requests))
    server.drop(machines.database)
    server.create(machines.database.rpartition("=")[2])
    until(lambda: any(each.goal for each in machines.fleet.status().workers))
    os.killpg(first.pid, signal.SIGSTOP)  # however long the other one takes to come
    machines.start()
    until(lambda: "w0 works on it" in machines.said())
    os.killpg(first.pid, signal.SIGCONT)
    machines.wait("done")
    leases = [line["event"] for line in machines.remote.lines(goal) if line["event"]["type"] == "lease_taken"]
    assert [(each["epoch"], each["worker"]) for each in leases] == [(1, "w0")]


@pytest.mark.skipif(not CLOCK.exists(), reason="there is no libfaketime here")
def test_a_worker_whose_clock_is_an_hour_fast_has_nobody_wait_for_it(machines: Machines) -> None:
    machines.remote.project.play(plan("1.1"))
    machines.configure(approve=ALONE, patience_s=0)
    machines.fleet.submit("Add parts")
    machines.fleet.rebuild()
    away = machines.remote.path.with_name("away.git")
    machines.remote.path.rename(away)
    machines.start(LD_PRELOAD=str(CLOCK), FAKETIME="+1h")
    until(lambda: "away" in machines.said())
    away.rename(machines.remote.path)
    machines.wait("done", 120)


def test_as_many_goals_use_a_provider_at_once_as_the_settings_say(machines: Machines) -> None:
    project = machines.remote.project
    hangs = {"fault": {"kind": "hang", "times": 1}, "then": {"tool_calls": [save(task("1.1"))]}}
    project.play(rule("architect", "plan", hangs))
    machines.configure(concurrency={"local": 1})
    for _ in range(2):
        machines.fleet.submit("Add parts")
    machines.start()
    until(lambda: project.requests)
    machines.start()
    until(lambda: "No token of provider local is left" in machines.said())
    assert len(project.requests) == 1


def test_a_job_that_names_no_goal_is_refused_and_one_of_a_goal_that_is_gone_ends(
    machines: Machines, tmp_path: Path
) -> None:
    machines.fleet.rebuild()
    with queue.line(machines.database) as app:
        for name in ("../../../x", "g-0123456789ab"):
            app.configure_task(TASK, lock=name, queueing_lock=name, queue="default").defer(repo="calc", goal=name)
    assert machines.start("--once").wait(60) == 0
    assert "refused" in machines.said()
    assert "gone" in machines.said()
    assert not list(tmp_path.rglob("x-*"))
    with queue.line(machines.database) as app:
        assert Jobs(app).listed() == {}


def test_what_a_worker_left_that_was_killed_is_taken_away(tmp_path: Path) -> None:
    for name in ("dead", "alive"):
        (tmp_path / "work" / name).mkdir(parents=True)
        (tmp_path / "work" / f"{name}.lock").touch()
    with (tmp_path / "work" / "alive.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert sweep(tmp_path) == 1
    assert sorted(each.name for each in (tmp_path / "work").iterdir()) == ["alive", "alive.lock"]


def test_a_machine_works_for_no_queue_that_promises_what_it_lacks(machines: Machines) -> None:
    machines.configure(fleet__queues__tall={"labels": ["tool:no-such-program"]})
    told = machines.remote.project.swarm("worker", "--once", "--queue", "tall", exits=6)
    assert "no-such-program is not on PATH" in told.stderr


def test_a_goal_without_a_database_is_on_record(machines: Machines) -> None:
    machines.configure(database="")
    submitted = machines.fleet.submit("Add parts")
    assert (submitted.queued, submitted.standing) == (False, "due")
    assert "no database" in submitted.problem
    assert "no database" in machines.fleet.status().problem

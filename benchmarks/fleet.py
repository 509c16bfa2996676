"""The fleet in numbers: throughput of workers, the cost of a step, ten thousand waiting goals, pushes a second.

    python benchmarks/fleet.py [throughput|overhead|waiting|pushes|references] [LATENCY_S]

Throughput: goals of one task by 1, 2, 4 and 8 workers whose models answer after 2 s (LATENCY_S), from when all workers
wait and all goals are in line; ideal is linear, the target 90% at 8. Overhead: a step of a worker against one of
`swarm run`, with a remote on the same disk; target 150 ms. Waiting: what it costs to enqueue, pick and list when 100,
1,000 and 10,000 goals wait; target: constant for the first two. Pushes: groups of events a second, from one writer and
from four. References: what a push costs by how many goals the remote has.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import sys
import time
from typing import Any

from fleet_machines import ALONE, fleet, submitted, table
from tests.fleet.machines import Machines

from swarmgate.domain.usage import Usage
from swarmgate.engine import Swarm
from swarmgate.fleet.goals import lease
from swarmgate.fleet.goals.checkout import Site, checked_out
from swarmgate.fleet.goals.goal import Goal, new_id
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.queue import database
from swarmgate.fleet.queue.jobs import Jobs, Place
from swarmgate.fleet.work.advance import Work
from swarmgate.ledger.ledger import Ledger

EACH = 4
"""Goals for each worker."""
PUSHES = 30


def throughput(latency_s: float = 2.0) -> None:
    rows: list[list[object]] = []
    alone = 0.0
    for workers in (1, 2, 4, 8):
        with fleet(["1.1"], latency_s=latency_s) as (machines, _):
            settings = {"approve": ALONE, "dead_s": 120, "heartbeat_s": 10, "poll_s": 0.2}
            machines.configure(**settings)
            machines.fleet.rebuild()  # no worker fills the line by itself
            machines.configure(**settings, database="")
            submitted(machines, EACH * workers)
            machines.configure(**settings)
            for _ in range(workers):
                machines.start()
            while len(machines.fleet.status().workers) < workers:
                time.sleep(0.5)
            used, began = _processor_s(), time.monotonic()
            seconds = _all_done(machines) - began
            machines.end()
            used = _processor_s() - used
            assert set(machines.standing().values()) == {"done"}, machines.said()[-3000:]
        rate = EACH * workers / seconds * 60
        alone = alone or rate
        each = used / (EACH * workers)
        rows.append([workers, EACH * workers, seconds, rate, f"{rate / alone / workers:.0%}", each])
    table(["workers", "goals", "s", "goals a minute", "of linear", "of a processor a goal, s"], rows)


def _all_done(machines: Machines) -> float:
    """Puts all goals in line; when the last one is done."""
    machines.fleet.rebuild()
    with database.line(machines.database) as app:
        jobs = Jobs(app)
        while jobs.listed():
            time.sleep(0.1)
    return time.monotonic()


def overhead() -> None:
    with fleet(["1.1", "1.2"]) as (machines, _):
        first, goal = submitted(machines, 2)
        Work(machines.remote.site, first, "bench").run()  # what gates found is in the cache for both that are measured
        began, used = time.monotonic(), _processor_s()
        outcome = Work(machines.remote.site, goal, "bench").run()
        there, used_there = time.monotonic() - began, _processor_s() - used
        project = machines.remote.project

        async def alone() -> None:
            swarm = Swarm(project.root)
            await swarm.plan("Add parts")
            await swarm.run()

        began, used = time.monotonic(), _processor_s()
        asyncio.run(alone())
        here, used_here = time.monotonic() - began, _processor_s() - used
    rows: list[list[object]] = [
        ["by the clock", outcome.steps, outcome.pushes, here, there, 1000 * (there - here) / outcome.steps],
        ["of a processor", "", "", used_here, used_there, 1000 * (used_there - used_here) / outcome.steps],
    ]
    table(["", "steps", "pushes", "swarm run, s", "worker, s (with its clone)", "more a step, ms"], rows)


def waiting() -> None:
    rows: list[list[object]] = []
    with fleet(["1.1"]) as (machines, _):
        url = machines.database
        with database.line(url) as app:
            jobs, there = Jobs(app), 0
            for many in (100, 1_000, 10_000):
                jobs.enqueue_many([Place(Goal("calc", new_id()), "default") for _ in range(many - there)])
                there = many
                rows.append([many, _enqueue_ms(jobs), asyncio.run(_pick_ms(url)), _list_ms(jobs)])
    table(["goals that wait", "enqueue one, ms", "pick one, ms", "list all, ms"], rows)


def _enqueue_ms(jobs: Jobs, count: int = 50) -> float:
    """The time of one, in the middle of so many that take another line: what waits stays as it is."""
    began = time.monotonic()
    for _ in range(count):
        jobs.enqueue(Place(Goal("calc", new_id()), "aside"))
    return 1000 * (time.monotonic() - began) / count


def _list_ms(jobs: Jobs) -> float:
    began = time.monotonic()
    jobs.listed()
    return 1000 * (time.monotonic() - began)


async def _pick_ms(url: str, count: int = 50) -> float:
    async with database.opened(url) as app:
        worker = await app.job_manager.register_worker()
        began = time.monotonic()
        for _ in range(count):
            job = await app.job_manager.fetch_job(queues=["default"], worker_id=worker)
            assert job
        seconds = time.monotonic() - began
        await app.job_manager.unregister_worker(worker)
    return 1000 * seconds / count


def pushes() -> None:
    rows: list[list[object]] = []
    with fleet(["1.1"]) as (machines, _):
        for writers in (1, 4):
            goals = submitted(machines, writers)
            before = _processor_s()
            rate = _pushed(machines, goals)
            rows.append([writers, rate, 1000 * (_processor_s() - before) / (writers * (PUSHES + 1))])
    table(["writers", "groups of events a second", "of a processor each, ms"], rows)


def _processor_s() -> float:
    """Seconds of a processor that this process and those that it waited for have used so far."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _pushed(machines: Machines, goals: list[Goal]) -> float:
    context = multiprocessing.get_context("fork")
    gate, ended = context.Barrier(len(goals) + 1), context.Queue()
    processes = [context.Process(target=_push, args=(machines.remote.site, goal, gate, ended)) for goal in goals]
    for process in processes:
        process.start()
    gate.wait()
    began = time.monotonic()
    for _ in goals:
        ended.get()
    seconds = time.monotonic() - began
    for process in processes:
        process.join()
    return len(goals) * PUSHES / seconds


def _push(site: Site, goal: Goal, gate: Any, ended: Any) -> None:
    with checked_out(site, goal) as found:
        publication = GoalPublication(found)
        with Ledger.write(found.folder, publication=publication) as ledger:
            lease.take(ledger, goal.id)
            gate.wait()
            for number in range(PUSHES):
                call = Usage(calls=10**number if number < 15 else 10**15 + number)
                publication.reserve(ledger, call, Usage())
            assert publication.pushes == PUSHES + 1
            ended.put(goal.id)


def references() -> None:
    """What a push costs by how many references the remote has: it names all of them to whoever pushes."""
    rows: list[list[object]] = []
    with fleet(["1.1"]) as (machines, _):
        there, remote = 0, machines.remote
        commit = remote.git("rev-parse", "main")
        for many in (100, 1_000, 10_000, 100_000):
            remote.git("pack-refs", "--all")
            packed = remote.path / "packed-refs"
            _, *lines = packed.read_text().splitlines()
            lines += [f"{commit} refs/swarm/goals/{new_id()}" for _ in range(many - there)]
            lines.sort(key=lambda line: line[41:])
            packed.write_text("\n".join(("# pack-refs with: peeled fully-peeled sorted ", *lines, "")))
            there = many
            (goal,) = submitted(machines, 1)
            with checked_out(remote.site, goal) as found:
                publication = GoalPublication(found)
                with Ledger.write(found.folder, publication=publication) as ledger:
                    lease.take(ledger, "bench")
                    used = _processor_s()
                    for number in range(5):
                        publication.reserve(ledger, Usage(calls=10**number), Usage())
                    pushed = 1000 * (_processor_s() - used) / 5
            used = _processor_s()
            with checked_out(remote.site, goal):
                cloned = 1000 * (_processor_s() - used)
            rows.append([many, pushed, cloned])
    table(["goals of the remote", "a push, ms of a processor", "a goal checked out, ms of a processor"], rows)


PARTS = {"references": references, "throughput": throughput, "overhead": overhead, "waiting": waiting, "pushes": pushes}

if __name__ == "__main__":
    if sys.argv[1:2] == ["throughput"] and sys.argv[2:]:
        throughput(float(sys.argv[2]))
    else:
        for name in sys.argv[1:2] or PARTS:
            PARTS[name]()

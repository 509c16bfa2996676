"""Storms over a fleet: what befalls workers, database and remote, how long it takes to go on, and what must hold.

Used by tests with a few blows, and by `benchmarks/fleet_storm.py` with a hundred.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fleet.machines import Machines
from tests.fleet.postgres import Server

from swarmgate.domain.events.event import LeaseTaken
from swarmgate.engine.swarm import Swarm
from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.queue import database
from swarmgate.fleet.queue.jobs import TASK
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.driver import Driver

POLL_S = 0.05
CLOCK = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
"""What has a process see another time, where faketime is there."""


@dataclass
class Storm:
    """A storm over the goals of a fleet; `times` says in seconds how long the fleet took to go on after each blow."""

    machines: Machines
    server: Server
    goals: list[Goal]
    tasks: list[str]
    chance: random.Random
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    # --- blows ---

    def kill(self) -> None:
        """kill -9 of a worker in the middle of its work; another one is started."""
        worker = self.at_work()
        before = self.epochs(worker.goals)
        os.killpg(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
        self.machines.start()
        self._goes_on("kill -9", lambda: self.risen(before))

    def stop_and_continue(self) -> None:
        """SIGSTOP of a worker, for longer than it takes to count as dead, then SIGCONT."""
        worker = self.at_work()
        before = self.epochs(worker.goals)
        os.killpg(worker.process.pid, signal.SIGSTOP)
        try:
            self._goes_on("SIGSTOP", lambda: self.risen(before))
        finally:
            time.sleep(self.chance.uniform(0, 1))
            os.killpg(worker.process.pid, signal.SIGCONT)

    def restart_database(self) -> None:
        """The database server is ended at once, and comes back."""
        self.server.stop()
        time.sleep(self.chance.uniform(0.2, 2))
        self.server.start()
        before = self.tips()
        self._goes_on("database restarted", lambda: self.moved(before))

    def drop_database(self) -> None:
        """The database is dropped and made anew, empty."""
        self.server.drop(self.machines.database)
        self.server.create(self.machines.database.rpartition("=")[2])
        before = self.tips()
        self._goes_on("database dropped", lambda: self.moved(before))

    def remote_away(self) -> None:
        """The remote is out of reach for a while."""
        path = self.machines.remote.path
        away = path.with_name("away.git")
        path.rename(away)
        time.sleep(self.chance.uniform(0.5, 3))
        away.rename(path)
        before = self.tips()
        self._goes_on("remote away", lambda: self.moved(before))

    # --- looking ---

    @dataclass
    class AtWork:
        """A worker's process with the goals that it has."""

        process: subprocess.Popen[str]
        goals: list[Goal]

    def at_work(self) -> AtWork:
        """A worker that works on a goal right now, drawn by lot."""
        names = {f"w{number}": process for number, process in enumerate(self.machines.processes)}
        for _ in range(2400):
            with database.connected(self.machines.database) as connection:
                rows = connection.execute(
                    "SELECT w.name, w.goal FROM swarm_workers w JOIN procrastinate_jobs j ON j.lock = w.goal"
                    " WHERE j.status = 'doing' AND j.task_name = %s AND w.seen > now() - interval '1 s'",
                    (TASK,),
                ).fetchall()
            here = [row for row in rows if row["name"] in names]  # and not the one of an older version
            found = [(names[row["name"]], row["goal"]) for row in here if names[row["name"]].poll() is None]
            if found:
                process, goal = self.chance.choice(found)
                return self.AtWork(process, [Goal.named(goal, "")])
            if self.done():
                raise Calm
            time.sleep(POLL_S)
        raise AssertionError(f"nobody works: {self.machines.standing()}\n{self.machines.said()[-4000:]}")

    def summaries(self) -> dict[str, Summary]:
        """The newest commit of each goal, as the remote has it."""
        return self.machines.remote.summaries()

    def tips(self) -> dict[str, int]:
        """How many lines the ledger of each goal has."""
        return {goal: summary.seq for goal, summary in self.summaries().items()}

    def epochs(self, goals: list[Goal]) -> dict[str, int]:
        found = self.summaries()
        return {goal.id: found[goal.id].epoch for goal in goals}

    def done(self) -> bool:
        return all(summary.standing is Standing.DONE for summary in self.summaries().values())

    def risen(self, before: dict[str, int]) -> bool:
        """Whether somebody else has taken each of these goals, or it was done by then."""
        found = self.summaries()
        return all(found[goal].epoch > epoch or not found[goal].standing.open for goal, epoch in before.items())

    def moved(self, before: dict[str, int]) -> bool:
        """Whether any goal went on, or all are done."""
        return self.tips() != before or self.done()

    def _goes_on(self, what: str, so: Callable[[], bool], seconds: float = 120.0) -> None:
        began = time.monotonic()
        while not so():
            assert time.monotonic() - began < seconds, f"{what}: nobody goes on\n{self.machines.said()[-6000:]}"
            time.sleep(POLL_S)
        self.times[what].append(time.monotonic() - began)

    # --- after ---

    def check(self) -> dict[str, int]:
        """What must hold: each task is done once, none is lost, no ledger is split; the counts, all of them 0.

        Also that every ledger verifies as any other does.
        """
        twice = lost = split = problems = 0
        for goal in self.goals:
            completing = self.machines.remote.completing(goal)
            twice += len(completing) - len(set(completing))
            lost += len(set(self.tasks) - set(completing))
            with checked_out(self.machines.remote.site, goal) as found:
                pieces = growing_log.pieces(Driver(found.root), (found.log,))
                split += sum(len(piece.parents) > 1 for piece in pieces)
                epochs = [event.epoch for event in _leases(found.folder)]
                split += epochs != list(range(1, len(epochs) + 1))
                problems += sum(len(check.problems) for check in Swarm(found.root).verify())
        return {"tasks done twice": twice, "tasks lost": lost, "ledgers split": split, "problems of verify": problems}


class Calm(Exception):
    """All goals are done: there is nobody left to strike."""


def _leases(folder: SwarmFolder) -> list[LeaseTaken]:
    events = (entry.event for entry, _ in Ledger.read(folder).entries())
    return [event for event in events if isinstance(event, LeaseTaken)]


OLD_WORKER = """
import asyncio, sys
from pathlib import Path
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.work.worker import Worker

fleet = Fleet(Path.cwd())
tell = lambda *words: print(*words, flush=True)
asyncio.run(Worker(fleet.config.fleet, fleet.sites, ["default"], tell=tell, name="old", version=sys.argv[1]).run())
"""


def old_worker(machines: Machines, version: str) -> subprocess.Popen[str]:
    """A worker that takes itself for another version."""
    place = machines.remote.home.parent / "worker-old.log"
    with place.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", OLD_WORKER, version],
            cwd=machines.remote.project.root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    machines.processes.append(process)
    return process

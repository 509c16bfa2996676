"""A fleet on paper: what 1,000 workers and 100,000 goals ask of PostgreSQL and of git, and what gives way first.

    python benchmarks/fleet_simulation.py [WORKERS...]

An hour of a fleet, event by event: each worker picks a goal, checks it out, and has steps of a model's time, after each
of which it pushes. Git and the database are servers with so many processors, which serve one request after the other.
What each costs is as `benchmarks/fleet.py` measured it; docs/scale.md says on which machine. The table says how busy
both are, and how long a worker waits for a push.
"""

from __future__ import annotations

import heapq
import random
import statistics
import sys
from dataclasses import dataclass, field

from fleet_machines import table

HOUR_S = 3600.0
STEP_S = 25.0
"""Seconds of a step: the turns of one role, gates and tests; a scripted 2 s answer is far below what models take."""
STEPS, PUSHES_A_STEP = 18, 1.3
"""Of a goal of two tasks, as measured: 23 pushes for 18 steps."""


@dataclass(frozen=True)
class Costs:
    """Seconds of a processor that one request takes, and how many processors there are.

    `push_s` is of the git host alone, with few references; `reference_s` is what each reference of the remote adds to a
    push. `poll_s`: how often an idle worker looks for work.
    """

    push_s: float = 0.020
    reference_s: float = 2.7e-6
    clone_s: float = 0.060
    pick_s: float = 0.0015
    beat_s: float = 0.0010
    git_processors: int = 16
    database_processors: int = 4
    heartbeat_s: float = 10.0
    poll_s: float = 1.0


@dataclass
class Station:
    """A server with some processors: who comes waits until one is free."""

    processors: int
    busy_s: float = 0.0
    waits: list[float] = field(default_factory=list)
    _free: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free = [0.0] * self.processors

    def serve(self, now: float, seconds: float) -> float:
        """When a request that comes now is done."""
        free = heapq.heappop(self._free)
        done = max(now, free) + seconds
        heapq.heappush(self._free, done)
        self.busy_s += seconds
        self.waits.append(done - now)
        return done


def hour(workers: int, goals: int, repositories: int, costs: Costs, seed: int = 1) -> list[object]:
    """One hour of a fleet with enough to do.

    Args:
        workers: that work.
        goals: references of them, over all repositories.
        repositories: that they are spread over; each adds its own references alone to a push.
        costs: of each request.
        seed: of the times that steps take.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    git, line = Station(costs.git_processors), Station(costs.database_processors)
    push_s = costs.push_s + costs.reference_s * 2 * goals / repositories
    # What each worker asks for next, in the order of time: a station that is asked ahead of time would let nobody pass.
    events = [(chance.uniform(0, STEP_S), number, "pick", 0) for number in range(workers)]
    heapq.heapify(events)
    done = 0
    while events[0][0] < HOUR_S:
        now, worker, wants, step = heapq.heappop(events)
        match wants:
            case "pick":
                after = (line.serve(now, costs.pick_s), worker, "clone", 0)
            case "clone":
                after = (git.serve(now, costs.clone_s) + chance.expovariate(1 / STEP_S), worker, "push", 0)
            case "push" if chance.random() < PUSHES_A_STEP - 1:
                after = (git.serve(now, push_s), worker, "again", step)
            case _ if step + 1 < STEPS:
                done += 1
                after = (git.serve(now, push_s) + chance.expovariate(1 / STEP_S), worker, "push", step + 1)
            case _:
                done += 1
                after = (git.serve(now, push_s), worker, "pick", 0)
        heapq.heappush(events, after)
    line.busy_s += workers * HOUR_S / costs.heartbeat_s * costs.beat_s * 3
    busy = git.busy_s / HOUR_S / git.processors
    waits = sorted(git.waits)
    ideal = workers * HOUR_S / STEP_S
    return [
        workers,
        f"{goals:,}",
        repositories,
        len(waits) / HOUR_S,
        f"{busy:.0%}",
        1000 * statistics.median(waits),
        1000 * waits[int(len(waits) * 0.99)],
        f"{line.busy_s / HOUR_S / line.processors:.0%}",
        f"{done / ideal:.0%}",
    ]


HEAD = [
    "workers",
    "goals",
    "repositories",
    "pushes a second",
    "git busy",
    "a push takes, ms",
    "99 of 100 within, ms",
    "database busy",
    "of what models allow",
]

if __name__ == "__main__":
    counts = list(map(int, sys.argv[1:])) or [10, 100, 1000, 3000]
    rows = [hour(workers, goals, 9, Costs()) for workers in counts for goals in (1_000, 100_000)]
    rows += [hour(1000, 100_000, repositories, Costs()) for repositories in (1, 100)]
    table(HEAD, rows)

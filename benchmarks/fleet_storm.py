"""Storms over a fleet: what befalls workers, database and remote at random moments; nothing is lost or done twice.

    python benchmarks/fleet_storm.py [BLOWS] [SEED]

Of the blows (100 by default) four in five hit workers (kill -9, SIGSTOP until they count as dead and SIGCONT); the rest
restart the database, drop it, and take the remote away. One of the four workers has a clock that is an hour ahead,
where faketime is there, and one takes itself for an older version from the middle on. The table says how long the fleet
took to go on after each. Target: 0 tasks done twice, 0 lost, 0 split ledgers.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from fleet_machines import fleet, submitted, table
from tests.fleet.storms import CLOCK, Calm, Storm, old_worker

TASKS = ["1.1", "1.2", "1.3"]
WORKERS = 4
BLOWS: list[Callable[[Storm], None]] = [
    *[Storm.kill, Storm.stop_and_continue] * 6,
    Storm.restart_database,
    Storm.drop_database,
    Storm.remote_away,
]


def main(blows: int = 100, seed: int = 1) -> int:
    chance = random.Random(seed)  # noqa: S311 - no secret
    with fleet(TASKS) as (machines, server):
        storm = Storm(machines, server, submitted(machines, WORKERS), TASKS, chance)
        skewed = {"LD_PRELOAD": str(CLOCK), "FAKETIME": "+1h"}
        for number in range(WORKERS):
            machines.start(**(skewed if number == 0 and CLOCK.exists() else {}))
        began, struck = time.monotonic(), 0
        while struck < blows:
            time.sleep(chance.uniform(0, 2))
            try:
                chance.choice(BLOWS)(storm)
            except Calm:  # all goals are done
                storm.goals += submitted(machines, WORKERS)
                continue
            struck += 1
            if struck == blows // 2:
                old_worker(machines, "0.0.9")
        machines.wait("done", 900)
        print(f"{struck} blows, {len(storm.goals)} goals, {time.monotonic() - began:.0f} s\n")
        rows: list[list[object]] = [
            [what, len(times), statistics.median(times), max(times)] for what, times in sorted(storm.times.items())
        ]
        table(["blow", "times", "goes on after (median), s", "at most, s"], rows)
        found = storm.check()
        table(["what must be 0", "found"], [[what, count] for what, count in found.items()])
        return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))

"""Measures swarmgate's overhead per task: wall time without the model server and the tools' processes.

    python benchmarks/overhead.py [TASKS]

A real run of N tasks of the demo's size. Time in which at least one child process was alive (git, ruff, pytest) and
the time of the model server (in a process of its own; calibrated with bare requests) are taken off. Target: at most
300 ms a task, 150 ms without what makes the clean checkouts. Git is watched with pidfds, so this script needs Linux;
what runs supervised (tests, linters, scanners) is watched by its calls.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from workload import make_project, team

from swarmgate.engine import Swarm
from swarmgate.workspace.process.background import serving
from swarmgate.workspace.process.supervision.call import Call

TASKS = 6


class ChildClock:
    """Watches every child process that is started while it is on; `busy` is when at least one was alive."""

    def __init__(self) -> None:
        self.intervals: list[tuple[float, float]] = []
        self._threads: list[threading.Thread] = []
        self._original = subprocess.Popen.__init__
        self._entered, self._left = Call.__aenter__, Call.__aexit__
        self._since: dict[int, float] = {}

    def __enter__(self) -> Self:
        original = self._original

        def watched(process: Any, *args: Any, **kwargs: Any) -> None:
            started = time.perf_counter()
            original(process, *args, **kwargs)
            thread = threading.Thread(target=self._wait, args=(os.pidfd_open(process.pid), started), daemon=True)
            thread.start()
            self._threads.append(thread)

        async def begun(call: Call) -> Call:
            await self._entered(call)
            self._since[id(call)] = time.perf_counter()
            return call

        async def over(call: Call, *error: Any) -> None:
            self.intervals.append((self._since.pop(id(call)), time.perf_counter()))
            await self._left(call, *error)

        subprocess.Popen.__init__ = watched  # type: ignore[method-assign, assignment]  # measured from outside
        Call.__aenter__, Call.__aexit__ = begun, over  # type: ignore[method-assign, assignment]  # measured from outside
        return self

    def _wait(self, descriptor: int, started: float) -> None:
        select.select([descriptor], [], [])
        self.intervals.append((started, time.perf_counter()))
        os.close(descriptor)

    def __exit__(self, *_: object) -> None:
        subprocess.Popen.__init__ = self._original  # type: ignore[method-assign]  # measured from outside
        Call.__aenter__, Call.__aexit__ = self._entered, self._left  # type: ignore[method-assign]  # measured from outside
        for thread in self._threads:
            thread.join(5)

    def busy(self) -> float:
        """Seconds in which at least one child was alive."""
        total, end = 0.0, 0.0
        for start, stop in sorted(self.intervals):
            total += max(0.0, stop - max(start, end))
            end = max(end, stop)
        return total


def server_time(base_url: str, calls: int) -> float:
    """Seconds that one request takes the server, by bare requests over one connection."""
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    body = json.dumps(
        {"model": "senior", "messages": [{"role": "user", "content": "ROLE: reviewer\nSTEP: review\n\nx"}]}
    )
    taken = []
    for _ in range(calls):
        started = time.perf_counter()
        connection.request("POST", f"{address.path}/chat/completions", body, {"Content-Type": "application/json"})
        connection.getresponse().read()
        taken.append(time.perf_counter() - started)
    connection.close()
    return sorted(taken)[len(taken) // 2]


async def work(folder: Path) -> tuple[float, float, int]:
    """Wall and child seconds of `swarm run` over the whole plan, and the number of model calls."""
    swarm = Swarm(folder)
    await swarm.plan("Parts")
    swarm.approve()
    before = swarm.state.usage.calls
    with ChildClock() as clock:
        started = time.perf_counter()
        await swarm.run()
        wall = time.perf_counter() - started
    return wall, clock.busy(), swarm.state.usage.calls - before


def main() -> None:
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else TASKS
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "script.json"
        script.write_text(json.dumps({"rules": team(tasks)}))
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            make_project(Path(name) / "project", base_url)
            per_call = server_time(base_url, 50)
            wall, children, calls = asyncio.run(work(Path(name) / "project"))
    server = per_call * calls
    own = wall - children - server
    print(f"{tasks} tasks, {calls} model calls")
    print(f"{'':<22}{'total':>10}{'per task':>12}")
    for what, seconds in (("wall", wall), ("tools' processes", children), ("model server", server), ("own", own)):
        print(f"{what:<22}{seconds:>8.2f} s{seconds / tasks * 1000:>9.0f} ms")
    print("target: own at most 300 ms a task")


if __name__ == "__main__":
    main()

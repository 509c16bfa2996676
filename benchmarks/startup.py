"""Measures the start-up time of `swarm --help`, `swarm status` and lists, as a ratio to its imports.

    python benchmarks/startup.py

Targets: at most 2.0 times `python -c "import pydantic, typer, rich"` for the help, 2.5 times for all else. Medians of
interleaved runs, with bytecode in the place where an installation has it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scale import deep_ledger
from workload import make_project

from swarmgate.council.patterns import PATTERNS

RUNS = 15
FLOOR = "import pydantic, typer, rich"
TARGETS = {"swarm --help": 2.0}
OTHERS = 2.5
LISTS = tuple(each.verb for each in PATTERNS.values())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = make_project(Path(name) / "project", "http://127.0.0.1:9/v1")
        deep_ledger(folder, tasks=200, done=150)
        swarm = [sys.executable, "-m", "swarmgate"]
        commands = {
            "floor": [sys.executable, "-c", FLOOR],
            "swarm --help": [*swarm, "--help"],
            "swarm status (200 tasks)": [*swarm, "status", "--repo", str(folder.root)],
            **{f"swarm {verb} list": [*swarm, verb, "list", "--repo", str(folder.root)] for verb in LISTS},
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for command in commands.values():  # writes the bytecode
            subprocess.run(command, check=True, capture_output=True, env=environ)
        for _ in range(RUNS):
            for what, command in commands.items():
                started = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True, env=environ)
                taken[what].append(time.perf_counter() - started)
    floor = statistics.median(taken["floor"])
    print(f"{'command':<28}{'median':>10}{'ratio':>8}{'target':>8}")
    for name, times in taken.items():
        median = statistics.median(times)
        target = "" if name == "floor" else TARGETS.get(name, OTHERS)
        print(f"{name:<28}{median * 1000:>7.0f} ms{median / floor:>8.2f}{target:>8}")


if __name__ == "__main__":
    main()

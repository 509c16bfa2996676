"""Measures the cost of a sandbox: the time of a command in every sandbox of this machine, and without.

python benchmarks/sandbox.py [--rounds N]      medians in milliseconds, all measured in turns in the same run
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.sandbox.choice import Kind, choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {"/bin/true": ["/bin/true"], "python -c pass": [sys.executable, "-c", "pass"]}
KINDS: tuple[Kind, ...] = ("none", "bubblewrap", "landlock", "sandbox-exec")
BOUND_MS = 30
_TIMEOUT_S = 60


async def measure(runners: Sequence[CommandRunner], command: list[str], rounds: int) -> dict[str, float]:
    """The median of each sandbox, in milliseconds; the first round warms up and is left out."""
    taken: dict[str, list[float]] = {runner.sandbox.name: [] for runner in runners}
    for number in range(rounds + 1):
        for runner in runners:
            began = time.perf_counter()
            done = await runner.run(command, timeout_s=_TIMEOUT_S)
            seconds = time.perf_counter() - began
            if not done.ok:
                raise SystemExit(f"{done.command}: exit code {done.exit_code}: {done.output}")
            if number:
                taken[runner.sandbox.name].append(seconds)
    return {name: statistics.median(times) * 1000 for name, times in taken.items()}


def main() -> int:
    """Print the table; 1 where a sandbox takes more than the bound over the command by itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="swarmgate-benchmark-") as folder:
        for name in (".git", ".swarm", "src"):
            (Path(folder) / name).mkdir()
        bounds = confine(Path(folder), environ=os.environ)
        runners = []
        for kind in KINDS:
            try:
                runners.append(CommandRunner(choose(kind), bounds))
            except MissingRequirement as error:
                print(f"{kind}: {error.message}")
        print(f"{'command':16} {'sandbox':14} {'median ms':>10} {'over bare ms':>13}")
        for label, command in COMMANDS.items():
            medians = asyncio.run(measure(runners, command, rounds))
            for name, median in medians.items():
                print(f"{label:16} {name:14} {median:10.1f} {median - medians['none']:13.1f}")
                worst = max(worst, median - medians["none"])
    print(f"worst over the bare command: {worst:.1f} ms; bound: {BOUND_MS} ms")
    return int(worst > BOUND_MS)


if __name__ == "__main__":
    sys.exit(main())

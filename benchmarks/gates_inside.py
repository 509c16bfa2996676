"""Runs the gate pipeline repeatedly in one process, as `swarm run` does, for `benchmarks/gates.py`.

python benchmarks/gates_inside.py PROJECT FILES RUNS
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import gates_projects as projects

from swarmgate.config import load as settings
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.definition import load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.workspace.git.repository import Repository


async def work(project: Path, files: int, runs: int) -> dict[str, list[float]]:
    repository = Repository.discover(project)
    definitions, base = load(project), repository.head_tree()
    options = GatesOptions(quality=settings().gates.quality)

    async def once() -> float:
        started = time.perf_counter()
        await run_pipeline(definitions, repository=repository, base=base, config=options, memory=Memory())
        return time.perf_counter() - started

    times: dict[str, list[float]] = {"warm": [], "unchanged inside": []}
    for number in range(runs + 1):
        projects.change(project, files=files, mark=f"warm_{number}")
        times["warm"].append(await once())
        await once()  # what was fixed is another tree
        times["unchanged inside"].append(await once())
    return {name: each[1:] for name, each in times.items()}  # the first one imports


if __name__ == "__main__":
    print(json.dumps(asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))

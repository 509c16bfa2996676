"""Measures the cost of automation for a run: all capabilities on against none, on the same scripted project.

    python benchmarks/automation.py [--quick]

Target: a loop run with all capabilities on is at most 5 % slower than one with none. Whole `swarm run` processes, the
arms interleaved so that what else the machine does hits all alike; medians of wall time and of processor time (git,
the gates and the tests included), and the medians of the ratios of runs of one round. `default` is what a project has
that says nothing: plan sync alone. Every arm has the crew that writes `status.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from workload import make_project, team

from swarmgate.config import CAPABILITIES
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.process.background import serving

QUICK = "--quick" in sys.argv
TASKS, ROUNDS = (2, 2) if QUICK else (4, 5)
WAITING = 3
MOST = 1.05
"""The wall time of a run with all capabilities on, to that of one with none."""

OFF = "".join(f"{name} = false\n" for name in CAPABILITIES)
ARMS = {
    "none": f"[automation.capabilities]\n{OFF}",
    "default": "",
    "all": '[automation]\nmode = "auto"\n',
}
"""What stands in config.toml."""


class Measured(NamedTuple):
    """Seconds of one run: by the wall clock, and of processors."""

    wall: float
    cpu: float


def main() -> None:
    print("Target: all capabilities on at most 5 % slower than none")
    print(f"{TASKS} tasks, {ROUNDS} interleaved runs of each\n")
    measured: dict[str, list[Measured]] = {arm: [] for arm in ARMS}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        script = place / "script.json"
        script.write_text(json.dumps({"rules": team(TASKS)}))
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            folders = {arm: prepared(place / arm, base_url, settings) for arm, settings in ARMS.items()}
            for number in range(ROUNDS + 1):
                for arm in list(ARMS)[number % len(ARMS) :] + list(ARMS)[: number % len(ARMS)]:
                    one = run(folders[arm], place / f"{arm}-{number}")
                    if number:  # the first of each warms the caches up
                        measured[arm].append(one)
    table(measured)


def prepared(folder: Path, base_url: str, settings: str) -> Path:
    """A project with an approved plan, ready to run."""
    made = make_project(folder, base_url)
    finish(folder, "plan", "Parts", code=WAITING)
    finish(folder, "approve")
    with made.config.open("a") as file:
        file.write(f"\n{settings}")
    return folder


def run(template: Path, folder: Path) -> Measured:
    """One run over the whole plan, in a copy."""
    shutil.copytree(template, folder, symlinks=True)
    before, started = os.times(), time.perf_counter()
    finish(folder, "run", code=WAITING)
    wall, after = time.perf_counter() - started, os.times()
    capabilities_did(folder)
    shutil.rmtree(folder)
    spent = (after.children_user + after.children_system) - (before.children_user + before.children_system)
    return Measured(wall, spent)


def capabilities_did(folder: Path) -> None:
    """Whether those that are on did something: a run in which nothing happened proves nothing."""
    made = SwarmFolder(folder)
    log = made.automation_log.read_text() if made.automation_log.exists() else ""
    if 'mode = "auto"' in made.config.read_text():
        for kind in ("preflight_ran", "doctor_ran"):
            if f'"{kind}"' not in log:
                raise SystemExit(f"all was on, and the journal knows of no {kind}")


def finish(folder: Path, *arguments: str, code: int = 0) -> None:
    """Runs `swarm` to its end and insists on its exit code."""
    command = [sys.executable, "-m", "swarmgate", *arguments, "--repo", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"swarm {' '.join(arguments)}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")


def table(measured: dict[str, list[Measured]]) -> None:
    """Medians, and each arm against the run without automation of the same round."""
    print(f"{'capabilities':<14}{'wall':>9}{'ratio':>8}{'processor':>12}{'ratio':>8}{'ratios of wall time':>36}")
    for arm, runs in measured.items():
        pairs = list(zip(runs, measured["none"], strict=True))
        walls, cpus = sorted(one.wall / none.wall for one, none in pairs), [one.cpu / none.cpu for one, none in pairs]
        missed = "  MISSED" if arm == "all" and median(walls) > MOST else ""
        print(
            f"{arm:<14}{median(one.wall for one in runs):>7.2f} s{median(walls):>8.3f}"
            f"{median(one.cpu for one in runs):>10.2f} s{median(cpus):>8.3f}"
            f"{' '.join(f'{each:.3f}' for each in walls):>36}{missed}"
        )


if __name__ == "__main__":
    main()

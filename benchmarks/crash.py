"""kill -9 at random moments of a scripted run of 6 tasks, each run resumed to the end: nothing lost, nothing doubled.

    python benchmarks/crash.py [KILLS] [SEED]

After each resume: the final tree, the plan (INTERRUPTED lines and ledger positions aside), one commit a task, and
`swarm verify` must be the same as after a run that nobody killed. Target: 100 of 100.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from workload import make_project, team

from swarmgate.workspace.background import serving

TASKS = 6
WAITING = 3
UNITTEST = """import sys
import unittest

sys.path.insert(0, "src")
from pkg.part_{n} import scaled_{n}  # noqa: E402


class TestPart(unittest.TestCase):
    def test_scaled(self) -> None:
        self.assertEqual(scaled_{n}([1], 2), [2])
"""


def swarm(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A `swarm` process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "swarmgate", *arguments, "--repo", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(folder: Path, *arguments: str, code: int = 0) -> None:
    """Runs `swarm` to its end and insists on its exit code."""
    process = swarm(folder, *arguments)
    _, said = process.communicate()
    if process.returncode != code:
        raise SystemExit(f"swarm {' '.join(arguments)}: exit {process.returncode}, not {code}\n{said.decode()}")


def result(folder: Path) -> tuple[str, str, int]:
    """What must be the same: the committed tree, the plan, and how many task commits there are."""
    git = ["git", "-C", str(folder)]
    tree = subprocess.run([*git, "rev-parse", "HEAD^{tree}"], check=True, capture_output=True, text=True).stdout
    log = subprocess.run(
        [*git, "log", "--format=%(trailers:key=Swarm-Task)"], check=True, capture_output=True, text=True
    )
    plan = (folder / ".swarm" / "plan.md").read_text()
    plan = re.sub(r"seq \d+", "seq", re.sub(r"  - Attempt \d+: INTERRUPTED.*\n", "", plan))
    dirty = subprocess.run(
        [*git, "status", "--porcelain", "--", ".", ":!.swarm"], capture_output=True, text=True, check=True
    )
    return tree.strip(), plan + dirty.stdout, log.stdout.count("Swarm-Task")


def prepared(place: Path, base_url: str) -> Path:
    """A project with an approved plan, ready to run."""
    folder = place / "project"
    made = make_project(folder, base_url)
    text = made.config.read_text()
    # unittest starts ten times faster than pytest; what is measured here is the ledger, not the test runner.
    quick = json.dumps(f"{sys.executable} -S -m unittest discover -s tests")
    made.config.write_text(re.sub(r"command = .*", f"command = {quick}", text))
    finish(folder, "plan", "Parts", code=WAITING)
    finish(folder, "approve")
    return folder


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 2026)  # noqa: S311 - moments, not keys
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        script = place / "script.json"
        script.write_text(json.dumps({"rules": unittest_team()}))
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            template = prepared(place, base_url)
            reference = place / "reference"
            shutil.copytree(template, reference, symlinks=True)
            started = time.perf_counter()
            finish(reference, "run", code=WAITING)
            length = time.perf_counter() - started
            expected = result(reference)
            print(f"a run of {TASKS} tasks takes {length:.1f} s; {kills} kills", flush=True)
            same, interrupted = 0, Counter[int]()
            for number in range(kills):
                folder = place / f"run-{number}"
                shutil.copytree(template, folder, symlinks=True)
                process = swarm(folder, "run")
                moment = chance.uniform(0, length)
                time.sleep(moment)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                finish(folder, "run", code=WAITING)
                finish(folder, "verify")
                if result(folder) == expected:
                    same += 1
                else:
                    print(f"kill {number} after {moment:.3f} s: the result differs: {folder}", flush=True)
                interrupted[(folder / ".swarm" / "plan.md").read_text().count("INTERRUPTED")] += 1
                shutil.rmtree(folder)
    print(f"{same} of {kills} identical; attempts interrupted: {dict(sorted(interrupted.items()))}")
    raise SystemExit(0 if same == kills else 1)


def unittest_team() -> list[dict[str, Any]]:
    """The benchmark's team, with tests that unittest can run."""
    rules = team(TASKS)
    for rule in rules:
        if rule["match"].get("role") == "test_engineer":
            n = int(rule["match"]["task"].partition(".")[2])
            write, approve = (reply["tool_calls"][0]["arguments"] for reply in rule["replies"])
            write["content"] = UNITTEST.format(n=n)
            approve["criteria"][0]["tests"] = ["test_scaled"]
    return rules


if __name__ == "__main__":
    main()

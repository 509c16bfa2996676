"""Crash test: kill -9 at random moments of a scripted run of 6 tasks and its approval; nothing lost or doubled.

    python benchmarks/crash.py [KILLS] [SEED]

Each is resumed to the end by the same command again. Then the final tree, the plan (INTERRUPTED lines and ledger
positions aside), one commit a task, and `swarm verify` must be the same as where nobody killed anything. A table says
after which line of the ledger each was killed. One kill in four hits the approval. Target: all of them.
"""

from __future__ import annotations

import contextlib
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

from swarmgate.workspace.process.background import serving

TASKS = 6
WAITING = 3
COUNTING = {"usage_recorded", "turn_ended"}
START = """import unittest


class TestStart(unittest.TestCase):
    def test_start(self) -> None:
        self.assertEqual(1 + 1, 2)
"""
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
    _, errors = process.communicate()
    if process.returncode != code:
        raise SystemExit(f"swarm {' '.join(arguments)}: exit {process.returncode}, not {code}\n{errors.decode()}")


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
    (folder / "tests" / "test_start.py").write_text(START)
    subprocess.run(["git", "commit", "--quiet", "-m", "Tests for unittest", "tests"], cwd=folder, check=True)
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
            approved = place / "approved"
            shutil.copytree(reference, approved, symlinks=True)
            started = time.perf_counter()
            finish(approved, "approve")
            moment = time.perf_counter() - started
            print(f"{TASKS} tasks take {length:.1f} s, their approval {moment:.1f} s; {kills} kills", flush=True)
            runs = Killed("run", template, length, expected, WAITING)
            approvals = Killed("approve", reference, moment, result(approved), 0)
            for number in range(kills):
                case = runs if number % 4 else approvals
                case.once(place / f"killed-{number}", chance)
    print(f"{'killed':<10}{'after':<24}{'kills':>6}{'the same in the end':>22}")
    for each in (approvals, runs):
        for after, count in sorted(each.tried.items()):
            print(f"{each.command:<10}{after:<24}{count:>6}{each.same[after]:>22}")
    same, tried = runs.same + approvals.same, runs.tried + approvals.tried
    print(f"{same.total()} of {tried.total()} the same; attempts interrupted: {dict(sorted(runs.interrupted.items()))}")
    raise SystemExit(0 if same.total() == tried.total() else 1)


class Killed:
    """Kills of one command: in copies of a project, at moments within its length, compared with what is expected."""

    def __init__(self, command: str, template: Path, length: float, expected: object, code: int) -> None:
        self.command, self._template, self._length = command, template, length
        self._expected, self._code = expected, code
        self.tried, self.same, self.interrupted = Counter[str](), Counter[str](), Counter[int]()

    def once(self, folder: Path, chance: random.Random) -> None:
        """One kill, and the same command again to its end."""
        shutil.copytree(self._template, folder, symlinks=True)
        process = swarm(folder, self.command)
        moment = chance.uniform(0, self._length)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        after = last_line(folder)
        if not (self.command == "approve" and after == "phase_approved"):
            finish(folder, self.command, code=self._code)
        finish(folder, "verify")
        self.tried[after] += 1
        if result(folder) == self._expected:
            self.same[after] += 1
        else:
            print(f"`swarm {self.command}` killed after {moment:.3f} s: the result differs: {folder}", flush=True)
        self.interrupted[(folder / ".swarm" / "plan.md").read_text().count("INTERRUPTED")] += 1
        shutil.rmtree(folder)


def last_line(folder: Path) -> str:
    """The type of the last whole line of the ledger, but of those that only count."""
    types = []
    for line in (folder / ".swarm" / "ledger.jsonl").read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            types.append(str(json.loads(line)["event"]["type"]))
    return next(each for each in reversed(types) if each not in COUNTING)


def unittest_team(tasks: int = TASKS) -> list[dict[str, Any]]:
    """The benchmark's team, with tests that unittest can run."""
    rules = team(tasks)
    for rule in rules:
        if rule["match"].get("role") == "test_engineer":
            n = int(rule["match"]["task"].partition(".")[2])
            write, approve = (reply["tool_calls"][0]["arguments"] for reply in rule["replies"])
            write["content"] = UNITTEST.format(n=n)
            approve["criteria"][0]["tests"] = ["test_scaled"]
    return rules


if __name__ == "__main__":
    main()

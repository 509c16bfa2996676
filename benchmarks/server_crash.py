"""Crash test: kill -9 of the team server at random moments with 5 goals and 2 councils at work; nothing is lost.

    python benchmarks/server_crash.py [KILLS] [SEED]

The server is `swarm serve`, asked over HTTP as a program would. Every other kill takes its workers along, as the end of
a container does; the others leave them, and the next server has to find them at work and begin no second one. One kill
in four comes in the middle of an approval. The server is started again at once, what is done makes room for new goals
and councils, and in the end all are finished. Then, of each goal: the lines of its ledger before each kill are there
still, as the first ones of a chain that holds; there is one goal, one approval of the plan and one of each phase; each
task is complete once, with one commit; `swarm verify` finds nothing. Of each council: its journal begins and ends once,
with the lines from before each kill, and the ledger counts each call that was answered once. Target: all of them.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from crash import START, unittest_team
from debate_crash import ROUNDS, SEATS
from debate_crash import rules as debate_rules
from workload import make_project

from swarmgate.config import load
from swarmgate.domain.events import event as ev
from swarmgate.engine import Swarm
from swarmgate.errors import SwarmError
from swarmgate.journal.chain import walk
from swarmgate.journal.lock import live_owner
from swarmgate.project import Project
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Role
from swarmgate.workspace.process.background import serving

KILLS, SEED = 50, 2026
GOALS, COUNCILS, TASKS = 5, 2, 3
_LONGEST_S = 900.0
_LOADING_S = 180.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else SEED)  # noqa: S311 - moments, not keys
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        script = place / "script.json"
        script.write_text(json.dumps({"rules": [*unittest_team(TASKS), *debate_rules()]}))
        served = [sys.executable, "-m", "swarmgate.testing", str(script), "--latency", "0.1", "--until-stdin-closes"]
        with serving(served) as base_url:
            team = Team(place, project(place, base_url))
            try:
                measured(team, kills, chance)
            finally:
                team.kill(workers=True)


def measured(team: Team, kills: int, chance: random.Random) -> None:
    """Kills as often, lets all come to its end, and prints what came of it; exits with 1 where any is not whole."""
    team.serve()
    table = Counter[str]()
    for number in range(1, kills + 1):
        team.work_is_there()
        team.until_at_work()
        end = time.monotonic() + chance.uniform(0.1, 3.0)
        while time.monotonic() < end:
            team.decide()
        at_work = team.at_work()
        before = team.lines()
        workers, approving = number % 2 == 0, number % 4 == 1
        deciding = threading.Thread(target=team.decide if approving else str)
        deciding.start()
        time.sleep(chance.uniform(0.0, 0.05))
        team.kill(workers=workers)
        deciding.join()
        team.keep(before)
        began = time.monotonic()
        team.serve()
        kind = ("with its workers" if workers else "alone") + (", in an approval" if approving else "")
        table[kind] += 1
        table[f"{kind}: goals and councils at work"] += at_work
        print(
            f"{number:3} killed {kind}: {at_work} at work, answers after {time.monotonic() - began:.1f} s", flush=True
        )
    team.finish()
    problems = [*goal_problems(team), *council_problems(team)]
    print(f"\n{'killed':34}{'times':>6}{'at work, on average':>22}")
    for kind in sorted(each for each in table if ":" not in each):
        print(f"{kind:34}{table[kind]:6}{table[f'{kind}: goals and councils at work'] / table[kind]:22.1f}")
    all_of_them = f"{len(team.goals)} goals and {len(team.councils)} councils"
    broken = len({each.partition(":")[0] for each in problems})
    print(f"\nof {all_of_them}, {broken} are not whole after {kills} kills")
    print("\n".join(problems))
    raise SystemExit(1 if problems else 0)


def project(place: Path, base_url: str) -> Path:
    """The registered project: tests by unittest, which starts ten times faster than pytest."""
    folder = place / "project"
    made = make_project(folder, base_url)
    quick = json.dumps(f"{sys.executable} -S -m unittest discover -s tests")
    made.config.write_text(re.sub(r"command = .*", f"command = {quick}", made.config.read_text()))
    (folder / "tests" / "test_start.py").write_text(START)
    subprocess.run(["git", "commit", "--quiet", "-m", "Tests for unittest", "tests"], cwd=folder, check=True)
    return folder


@dataclass
class Team:
    """The server, and what is asked of it: `goals` and `councils` by id, with the lines that were there at kills."""

    place: Path
    project: Path
    goals: dict[str, list[bytes]] = field(default_factory=dict)
    councils: dict[str, list[bytes]] = field(default_factory=dict)
    client: httpx.Client = field(default_factory=httpx.Client)
    process: subprocess.Popen[str] | None = None

    def __post_init__(self) -> None:
        self.home = self.place / "home"
        self.home.mkdir()
        accounts = Accounts(self.home, load().server)
        account = accounts.create("ada", roles={"*": Role.ADMIN})
        self.key = accounts.keys.create(account.id, "benchmark").secret
        accounts.close()

    # --- the server ---

    def serve(self) -> None:
        """Starts it, and returns when it answers."""
        environ = {
            **os.environ,
            "SWARM_SERVER__CONCURRENCY": str(GOALS + COUNCILS),
            "SWARM_SERVER__LIMITS__WRITES_PER_MINUTE": "1000000",
        }
        log = (self.place / "server.log").open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "swarmgate", "serve", "--home", str(self.home), "--port", "0"],
            cwd=self.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        found = next((at for line in self.process.stdout or () if (at := _ADDRESS.search(line))), None)
        if found is None:
            raise SystemExit(f"the server did not start: {(self.place / 'server.log').read_text()[-2000:]}")
        headers = {"Authorization": f"Bearer {self.key}"}
        self.client = httpx.Client(base_url=found[0], headers=headers, timeout=60, trust_env=False)
        end = time.monotonic() + _LONGEST_S
        while not self.ready() and time.monotonic() < end:
            time.sleep(0.05)

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self, *, workers: bool) -> None:
        """Kills it without a word, perhaps with its workers."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdout:
                self.process.stdout.close()
        for pid in self.workers() if workers else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def workers(self) -> list[int]:
        """The processes that hold a lock of a goal or a council."""
        owners = (live_owner(each) for each in self.home.glob("*/*/worker.lock"))
        return [pid for owner in owners if isinstance(pid := owner.get("pid"), int)]

    def at_work(self) -> int:
        """How many goals and councils are worked on now."""
        return len(self.workers())

    # --- what is asked of it ---

    def work_is_there(self) -> None:
        """Begins goals and councils until so many are not done."""
        for _ in range(GOALS - sum(not self.finished(each) for each in self.goals)):
            made = self._post("/v1/goals", {"repo": "project", "text": f"Parts {len(self.goals) + 1}"})
            self.goals[made["id"]] = []
        voices = [{"id": f"v{n}"} for n in range(SEATS)]
        for number in range(COUNCILS - sum(not self.over(each) for each in self.councils)):
            where = {"goal": next(reversed(self.goals))} if number else {"repo": "project"}
            question = f"Well, {len(self.councils) + 1}?"
            request = {"question": question, "participants": voices, "rounds": ROUNDS}
            made = self._post("/v1/councils", {"pattern": "debate", "request": request, **where})
            self.councils[made["id"]] = []

    def until_at_work(self) -> None:
        """Returns when so many are at work: the first workers of a server wait until it has loaded what they need."""
        end = time.monotonic() + _LOADING_S
        while self.at_work() < GOALS and time.monotonic() < end:
            self.decide()

    def decide(self) -> None:
        """Approves what waits, and has go on what was left where its approval was cut off."""
        with suppress(httpx.HTTPError):
            for each in self.client.get("/v1/approvals").json().get("items", ()):
                self.client.post(f"/v1/approvals/{each['id']}", json={"decision": "approve"})
            for each in self.goals:
                run = self.client.get(f"/v1/runs/{each}").json()
                if run.get("state") == "idle" and not self.waits(each):
                    self.client.post("/v1/runs", json={"goal": each})
        time.sleep(0.05)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.post(path, json=body)
        if answer.status_code != 202:
            raise SystemExit(f"POST {path}: {answer.status_code} {answer.text}")
        found: dict[str, Any] = answer.json()
        return found

    def finish(self) -> None:
        """Returns when all is done."""
        end = time.monotonic() + _LONGEST_S
        while not (all(map(self.finished, self.goals)) and all(map(self.over, self.councils))):
            self.decide()
            if time.monotonic() > end:
                open_ones = [
                    *(e for e in self.goals if not self.finished(e)),
                    *(e for e in self.councils if not self.over(e)),
                ]
                print(f"not done after {_LONGEST_S:.0f} s: {', '.join(open_ones)}")
                return

    # --- what is there ---

    def clone(self, goal: str) -> Path:
        """The project of a goal."""
        return self.home / "goals" / goal / "work"

    def finished(self, goal: str) -> bool:
        """Whether every phase is approved."""
        with suppress(SwarmError):
            return Swarm(self.clone(goal)).state.finished
        return False

    def waits(self, goal: str) -> bool:
        """Whether a person has to decide something, or it is done."""
        with suppress(SwarmError):
            return bool(Swarm(self.clone(goal)).status().waiting)
        return True

    def journal(self, council: str) -> Path:
        """The journal of a council."""
        job = json.loads((self.home / "councils" / council / "job.json").read_text())
        return Path(job["path"]) / ".swarm/discussions" / council / "journal.jsonl"

    def over(self, council: str) -> bool:
        """Whether it came to its end."""
        return kinds(self.journal(council))[-1:] == ["completed"]

    def lines(self) -> dict[str, list[bytes]]:
        """The whole lines of all ledgers and journals now."""
        ledgers = {each: whole(self.clone(each) / ".swarm/ledger.jsonl") for each in self.goals}
        return ledgers | {each: whole(self.journal(each)) for each in self.councils}

    def keep(self, lines: dict[str, list[bytes]]) -> None:
        """Keeps what has to be there still in the end."""
        for known in (self.goals, self.councils):
            for each in known:
                if known[each] != lines[each][: len(known[each])]:
                    raise SystemExit(f"{each}: lines that were whole are not there any more")
                known[each] = lines[each]


def whole(path: Path) -> list[bytes]:
    """The whole lines of a journal."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def kinds(path: Path) -> list[str]:
    """The types of the events of a journal, its chain checked."""
    return [json.loads(line)["event"]["type"] for line, _ in walk(b"".join(whole(path)), name=path.name)]


def goal_problems(team: Team) -> Iterator[str]:
    """What is not as it should be of goals."""
    for goal, before in team.goals.items():
        clone = team.clone(goal)
        swarm = Swarm(clone)
        if whole(clone / ".swarm/ledger.jsonl")[: len(before)] != before:
            yield f"{goal}: lines that were whole are not there any more"
        if not swarm.state.finished:
            yield f"{goal}: it is not finished: {swarm.status().waiting or swarm.status().step}"
        events = [entry.event for entry, _ in swarm.project.ledger().entries()]
        for kind, wanted in ((ev.GoalSet, 1), (ev.PlanApproved, 1), (ev.PhaseApproved, 1), (ev.WorkStarted, 1)):
            if (count := sum(isinstance(each, kind) for each in events)) != wanted:
                yield f"{goal}: {count} times {kind.__name__}"
        done = Counter(each.task for each in events if isinstance(each, ev.TaskCompleted))
        if done != Counter(f"1.{n}" for n in range(1, TASKS + 1)):
            yield f"{goal}: tasks completed: {dict(done)}"
        log = ["git", "-C", str(clone), "log", "--format=%(trailers:key=Swarm-Task,valueonly,separator=%x2C)", "main.."]
        commits = subprocess.run(log, check=True, capture_output=True, text=True).stdout.split()
        if sorted(each.partition(" ")[0] for each in commits) != [f"1.{n}" for n in range(1, TASKS + 1)]:
            yield f"{goal}: commits of tasks: {commits}"
        for check in swarm.verify():
            if not check.passed:
                yield f"{goal}: verify: {check}"


def council_problems(team: Team) -> Iterator[str]:
    """What is not as it should be of councils."""
    for council, before in team.councils.items():
        journal = team.journal(council)
        root = journal.parents[3]
        if whole(journal)[: len(before)] != before:
            yield f"{council}: lines that were whole are not there any more"
        found = Counter(kinds(journal))
        if (found["begun"], found["completed"]) != (1, 1):
            yield f"{council}: it began {found['begun']} times and ended {found['completed']} times"
        record = Swarm(root).council.record(council)
        said = [speech.id for held in record.rounds for speech in held.speeches]
        if said != [f"r{n}-msg-{seat:03d}" for n in range(1, ROUNDS + 1) for seat in range(1, SEATS + 1)]:
            yield f"{council}: messages: {said}"
        session, own = f"debate-{council}", Project(root)
        own.writing().close()  # which counts what a killed process could not
        entries = (entry.event for entry, _ in own.ledger().entries())
        counted = sum(
            each.usage.calls for each in entries if isinstance(each, ev.UsageRecorded) and each.source == session
        )
        traces = (own.folder.traces / "council" / session).glob("*.json")
        answered = sum("reply" in json.loads(path.read_text()) for path in traces)
        if counted != answered:
            yield f"{council}: {answered} calls were answered, the ledger counts {counted}"


if __name__ == "__main__":
    main()

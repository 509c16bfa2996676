"""A bare remote with a small project, and what one machine of a fleet does with its goals."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.project import Project

from swarmgate.fleet.goals.checkout import Site, checked_out
from swarmgate.fleet.goals.goal import Goal, Summary
from swarmgate.fleet.goals.submission import decide, submit
from swarmgate.fleet.work.advance import Outcome, Work

TEXT = "Add parts"


@dataclass
class Remote:
    """A bare repository, the project that it was made of, and the home of a machine's clones."""

    project: Project
    path: Path
    home: Path

    @property
    def site(self) -> Site:
        return Site("calc", str(self.path), self.home, "main")

    def machine(self, name: str) -> Site:
        """Another machine's view of it."""
        return Site("calc", str(self.path), self.home.parent / name, "main")

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.path, check=True, capture_output=True, text=True)
        return done.stdout.rstrip("\n")

    def submit(self, text: str = TEXT, **more: Any) -> Goal:
        return submit(self.site, text, settings=self.project.folder.path, **more)[0]

    def approve(self, goal: Goal) -> None:
        decide(self.site, goal, lambda swarm: swarm.approve())

    def work(self, goal: Goal, worker: str = "w1", **more: Any) -> Work:
        site = more.pop("site", self.site)
        return Work(site, goal, worker, **more)

    def advance(self, goal: Goal, worker: str = "w1", **more: Any) -> Outcome:
        return self.work(goal, worker, **more).run()

    def lines(self, goal: Goal) -> list[dict[str, Any]]:
        """The ledger on the remote, as every machine sees it."""
        import json

        with checked_out(self.site, goal) as found:
            return [json.loads(line) for line in found.folder.ledger.read_text().splitlines()]

    def summaries(self) -> dict[str, Summary]:
        """What the newest commit of each goal says, by its id; one call of git, for who asks again and again."""
        listed = self.git("for-each-ref", "--format=%(refname)%00%(contents)%00%01", "refs/swarm/goals")
        records = (each.strip("\n").partition("\0") for each in listed.split("\0\1") if each.strip())
        return {ref.rpartition("/")[2]: Summary.read(text) for ref, _, text in records}

    def completing(self, goal: Goal) -> list[str]:
        """The tasks that commits of the goal's branch on the remote complete, oldest first."""
        form = "--format=%(trailers:key=Swarm-Task,valueonly)"
        listed = self.git("log", "--reverse", form, f"main..refs/heads/{goal.branch}")
        return [line for line in listed.splitlines() if line]


def remote_of(project: Project, folder: Path) -> Remote:
    path = folder / "remote.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(project.root), str(path)], check=True)
    return Remote(project, path, folder / "machine")


_OF_LEASES = ("lease_taken", "budget_reserved")
_OF_TIMES = ("branch", "canary", "seconds", "time", "pid", "host", "place", "hash", "prev", "seq")
_OF_BRIEFS = ("tokens", "brief_tokens", "prompt_tokens", "usd")
"""Briefs say how long gates took and what was cached, so that their tokens are of times, too."""
_MEASURED = ("gates_run", "tests_run")
"""The evidence of these says how long something took, and canaries are drawn by lot."""
_OF_PAUSES = ("run_started", "run_paused")


def plain_events(lines: list[dict[str, Any]], *, pauses: bool = True) -> list[dict[str, Any]]:
    """What happened, less leases, times, and ids of commits that hold times; `pauses`: with begin and end of runs."""
    left_out = (*_OF_LEASES, *(() if pauses else _OF_PAUSES))
    found = [line["event"] for line in lines if line["event"]["type"] not in left_out]
    commits = {event["commit"]: f"commit {event['task']}" for event in found if event["type"] == "task_completed"}
    own = [event for event in found if not (event["type"] == "usage_recorded" and event["role"] == "swarmgate")]
    return [_plain(event, commits) for event in own]


def _plain(value: Any, commits: dict[str, str]) -> Any:
    if isinstance(value, dict):
        left_out = (*_OF_TIMES, "evidence", "gates_evidence") if value.get("type") in _MEASURED else _OF_TIMES
        return {key: _plain(each, commits) for key, each in value.items() if key not in (*left_out, *_OF_BRIEFS)}
    if isinstance(value, list):
        return [_plain(each, commits) for each in value]
    return commits.get(value, value) if isinstance(value, str) else value

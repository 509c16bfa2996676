from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.project import Project

from swarmgate.engine import Swarm
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Change, Council, Ended, Goal
from swarmgate.server.runs.runs import Runs

ADA, BO = "user:ada", "user:bo"


@dataclass
class Served:
    """The rooms of a server, put together as it does, with a registered project that has a scripted model."""

    home: Path
    project: Project
    changes: list[Change] = field(default_factory=list)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.repositories = Repositories(self.home)
        self.repo = self.repositories.register(self.project.root, id="calc", by=ADA).id
        self.goals = Goals(self.home, self.repositories, os.environ)
        self.jobs = Jobs(self.home, self.goals)
        self.again()

    def again(self, concurrency: int = 2) -> Runs:
        """A new queue, as after a restart of the server."""
        self.runs = Runs(self.goals, self.jobs, concurrency=concurrency, on_change=self.changes.append)
        return self.runs

    async def created(self, text: str = "Add parts", by: str = ADA) -> Goal:
        """A goal that is planned, and waits for approval."""
        goal = self.goals.create(self.repo, text, owner="a-1", by=by)
        self.runs.created(goal)
        await self.ended(goal.id)
        return self.goals.get(goal.id)

    async def ended(self, subject: str, *, within_s: float = 240) -> Ended:
        """How the work on it ended that was wanted."""

        def over() -> bool:
            record = self.record(subject)
            return record.wanted is None and subject not in {each.subject for each in self.runs.working()}

        await until(over, within_s)
        ended = self.record(subject).ended
        assert ended is not None, subject
        return ended

    def record(self, subject: str) -> Goal | Council:
        return self.jobs.get(subject) if subject.startswith("k-") else self.goals.get(subject)

    def swarm(self, goal: Goal, actor: str = ADA) -> Swarm:
        return self.goals.swarm(goal, actor)


async def until(condition: Callable[[], bool], within_s: float = 240) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it took too long"
        await asyncio.sleep(0.01)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "home"
    made.mkdir()
    return made


@pytest.fixture
async def served(home: Path, project: Project) -> AsyncIterator[Served]:
    """A server that is not started: `await served.runs.start()`."""
    made = Served(home, project)
    yield made
    await made.runs.close(grace_s=0.1)
    made.repositories.close()

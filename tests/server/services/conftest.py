"""The services over the rooms of a server, with a registered project that somebody works on at a terminal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.project import GOAL, Project, Rule, _after, _template, once, project

from swarmgate.config import load
from swarmgate.engine import Swarm
from swarmgate.server.accounts.model import Account, Principal, Role
from swarmgate.server.services.services import Services
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.serving.rooms import Rooms

__all__ = ["_after", "_template", "once", "project"]


def principal(name: str, roles: dict[str, Role]) -> Principal:
    """Somebody who asks."""
    account = Account(id=f"a-{name:0>12}", name=name, roles=roles, created=datetime.now(UTC))
    return Principal(account=account, via="token")


@dataclass
class House:
    """The services, and who may ask them: an admin, an operator, an approver, a viewer, and somebody of elsewhere."""

    rooms: Rooms
    project: Project
    repo: str

    ada = principal("ada", {"*": Role.ADMIN})
    op = principal("op", {"calc": Role.OPERATOR})
    bo = principal("bo", {"calc": Role.APPROVER})
    cy = principal("cy", {"calc": Role.VIEWER})
    di = principal("di", {"other": Role.ADMIN})

    @property
    def services(self) -> Services:
        return self.rooms.services

    async def checkout(self) -> str:
        """The id of the goal that the registered folder is."""
        found = await self.services.goals.list(self.ada)
        return next(each.id for each in found.items if each.kind == "checkout")

    async def planned(self, *rules: Rule, text: str = GOAL) -> str:
        """A plan at the terminal that waits for approval; the id of the goal."""
        self.project.play(*rules)
        await Swarm(self.project.root).plan(text)
        return await self.checkout()

    async def until(self, goal: str, *, waiting: str = "", within_s: float = 100) -> None:
        """Waits until nothing is wanted of a goal any more; with `waiting`, and it waits for that."""

        async def over() -> None:
            while True:
                view = await self.services.goals.get(self.ada, goal)
                if view.state in {"idle", "failed"} and (not waiting or view.waiting == waiting):
                    return
                await asyncio.sleep(0.02)

        await asyncio.wait_for(over(), within_s)

    async def over(self, operation: str, within_s: float = 100) -> OperationView:
        """An operation when it is over."""

        async def ended() -> OperationView:
            while True:
                view = await self.services.operations.get(self.ada, operation)
                if view.state != "working":
                    return view
                await asyncio.sleep(0.02)

        return await asyncio.wait_for(ended(), within_s)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the server of this test remembers."""
    made = tmp_path.resolve() / "home"
    made.mkdir()
    return made


@pytest.fixture
async def house(home: Path, project: Project) -> AsyncIterator[House]:
    """The rooms of a server whose queue and feed do not work: for what looks, and decides."""
    rooms = Rooms.of(load(), home=home, environ=os.environ, url="http://127.0.0.1")
    repo = rooms.repositories.register(project.root, id="calc", by="user:ada").id
    yield House(rooms, project, repo)
    await rooms.services.operations.close()
    rooms.accounts.close()
    rooms.repositories.close()
    await rooms.limits.aclose()
    await rooms.store.close()


@pytest.fixture
async def working(home: Path, project: Project) -> AsyncIterator[House]:
    """The rooms of a server at work."""
    rooms = Rooms.of(load(), home=home, environ=os.environ, url="http://127.0.0.1")
    repo = rooms.repositories.register(project.root, id="calc", by="user:ada").id
    async with rooms.working():
        yield House(rooms, project, repo)

"""The demo in the page: a small project with a scripted model, and a goal that waits for a person's approvals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from swarmgate.engine.demo.setup import GOAL, stage
from swarmgate.errors import SwarmError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.serving.rooms import Rooms
from swarmgate.workspace.process import temporary

_log = structlog.get_logger("swarmgate.server")

_LOOK_S = 0.3
"""Seconds between two looks whether something waits."""


@contextmanager
def staged() -> Iterator[Path]:
    """A new folder with the demo's `project`, whose models are scripted for the length of the block. It stays.

    Raises:
        MissingRequirement: git or the scripted model cannot be started.
    """
    place = temporary.persistent("swarm-demo").resolve()
    with stage(place / "shortener", live=False, begun=False):
        yield place


async def play(rooms: Rooms, project: Path, *, yes: bool) -> None:
    """Begins the demo's goal in the name of whoever started the server.

    Args:
        rooms: of the server.
        project: the demo's.
        yes: approve whatever waits, for as long as the server lives.
    """
    try:
        await _play(rooms, project, yes=yes)
    except SwarmError as error:
        _log.error("the demo ended early: %s", error.message)


async def _play(rooms: Rooms, project: Path, *, yes: bool) -> None:
    who = Principal(account=await asyncio.to_thread(rooms.accounts.admin), via="session")
    repo = await asyncio.to_thread(rooms.repositories.register, project, by=who.actor)
    goal = await rooms.services.goals.create(who, repo=repo.id, text=GOAL)
    while yes:
        await asyncio.sleep(_LOOK_S)
        for waiting in (await rooms.services.approvals.list(who)).items:
            if waiting.goal == goal.id:
                with suppress(SwarmError):  # a person in the page was first
                    await rooms.services.approvals.decide(who, waiting.id, "approve")

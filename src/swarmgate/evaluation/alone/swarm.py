"""Runs swarmgate on a task, as a user would who approves what can be approved: plan, then work until it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarmgate.domain.state.state import TaskStatus
from swarmgate.domain.state.unattended import Until
from swarmgate.engine.initialise import initialise
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import (
    BudgetExhausted,
    ConfigError,
    EndpointFailed,
    LimitReached,
    MissingRequirement,
    SwarmError,
)
from swarmgate.evaluation.alone.outcome import Ended, Setup

_TITLE = 120


def work(place: Path, statement: str, setup: Setup, test_command: str) -> Ended:
    """Has swarmgate work on a task in a repository.

    Args:
        place: the repository.
        statement: what is asked for; its first line is the goal.
        setup: model, settings and bounds.
        test_command: how the project's tests are run; empty: as swarmgate finds it.

    Raises:
        ConfigError, EndpointFailed, LimitReached, MissingRequirement: nothing can be said of the task.
    """
    initialise(place)
    swarm = Swarm(place, environ=setup.environ, flags=_flags(setup, test_command))
    try:
        asyncio.run(_worked(swarm, statement))
        ended = ""
    except (ConfigError, EndpointFailed, LimitReached, MissingRequirement):
        raise
    except BudgetExhausted as error:
        ended = f"a bound was reached: {error.message}"
    except SwarmError as error:
        ended = error.message
    state = swarm.state
    done = state.finished and any(record.status is TaskStatus.COMPLETE for record in state.tasks.values())
    return Ended(handed_in=done, ended=ended or ("done" if done else "waits for the user"), usage=state.usage)


async def _worked(swarm: Swarm, statement: str) -> None:
    title = next((line.strip() for line in statement.splitlines() if line.strip()), "")[:_TITLE]
    await swarm.plan(title, spec=statement)
    await swarm.run(until=Until.DONE)


def _flags(setup: Setup, test_command: str) -> Mapping[str, Any]:
    budget = {"tokens": setup.tokens, "seconds": setup.seconds or None}
    bounds = {key: value for key, value in budget.items() if value is not None}
    tests = {"tests": {"command": test_command}} if test_command else {}
    return {**setup.flags, **tests, "budget": bounds, "roles": {"default": {"model": setup.model}}}

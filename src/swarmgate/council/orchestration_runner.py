"""What an orchestration needs of the council: one method a pattern, each under a record of a given id."""

from __future__ import annotations

from typing import Protocol

from pydantic import Field

from swarmgate.council.orchestration.model import (
    AskStep,
    CritiqueStep,
    DebateStep,
    DecideStep,
    DiscussStep,
    DispatchStep,
    Leaf,
    Value,
)
from swarmgate.domain.base import Frozen, Text
from swarmgate.domain.usage import Usage


class Came(Frozen):
    """What came of one pattern: its typed outcomes, its text, and the id of its record."""

    fields: dict[str, Value] = Field(default_factory=dict)
    text: Text = ""
    record: str = ""


class Runner(Protocol):
    """Has the council do one pattern, under a record of the given id; one that is there is gone on with, or read.

    Each raises `SwarmError` where nothing came of it; `BudgetExhausted` only for what bounds the whole orchestration.
    """

    async def debate(self, step: DebateStep, record: str) -> Came:
        """Holds a debate."""

    async def discuss(self, step: DiscussStep, record: str) -> Came:
        """Holds a discussion."""

    async def decide(self, step: DecideStep, record: str) -> Came:
        """Has several decide."""

    async def critique(self, step: CritiqueStep, record: str) -> Came:
        """Has one voice improve its work."""

    async def dispatch(self, step: DispatchStep, record: str) -> Came:
        """Has voices work on tasks."""

    async def ask(self, step: AskStep, record: str) -> Came:
        """Asks one voice."""

    def used(self, record: str) -> Usage:
        """What was used under a record, by tries that were killed too."""


async def run(runner: Runner, step: Leaf, record: str) -> Came:
    """Has the runner do the pattern of a step."""
    match step:
        case DebateStep():
            return await runner.debate(step, record)
        case DiscussStep():
            return await runner.discuss(step, record)
        case DecideStep():
            return await runner.decide(step, record)
        case CritiqueStep():
            return await runner.critique(step, record)
        case DispatchStep():
            return await runner.dispatch(step, record)
        case AskStep():
            return await runner.ask(step, record)

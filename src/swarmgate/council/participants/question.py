"""Asks one participant a question, once more if its answer cannot be parsed, and returns its value or failure.

And several at once (`together`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.participant import ROLE, AskedOnceMore, speak, submit
from swarmgate.agents.tools.answers import Form
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed, ModelError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """The result of a question: the value, or why there is none; and what it took.

    `unreached` says of a failed one that its model could not be reached, or gave up.
    """

    value: T | None
    failed: str = ""
    unreached: bool = False
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def took(self) -> dict[str, Any]:
        """The fields that records of participants share: model, prompt_hash, usage, seconds."""
        return {
            "model": self.model,
            "prompt_hash": self.prompt_hash,
            "usage": self.usage,
            "seconds": self.seconds,
        }


async def ask(agent: AgentContext, brief: Brief, *, read: Form[Any, T] | Callable[[str], T]) -> AskResult[T]:
    """Ask a participant.

    Args:
        agent: its context; their bounds hold.
        brief: what it is told.
        read: the form of its answer; or, of prose, what its text comes to. Either may raise `Unread`, for which it is
            asked once more.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come; a model that fails is a failed answer.
    """
    recorded, recorder = with_recorder(agent)
    try:
        if isinstance(read, Form):
            ending = await submit(recorded, brief, read)
        else:
            ending = await speak(recorded, brief, answer=AskedOnceMore(read))
        value, failed, unreached = ending.value, "", False
    except ModelError as error:
        value, failed, unreached = None, error.message, isinstance(error, EndpointFailed)
    return AskResult(value, failed, unreached, recorder.model, recorder.prompt_hash, recorder.usage, recorder.seconds)


async def concurrently(speaking: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once, results in order; the first that raises an error ends the others too, and that error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in speaking]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def brief_for(who: str, step: str, number: int, *sections: Section) -> Brief:
    """The brief of a participant: `who` is its name, `number` the round; 0: none."""
    return Brief(ROLE, step, participant=who, round=number, sections=sections)


def bounded(agent: AgentContext, *, tokens: int, timeout_s: float) -> AgentContext:
    """The agent context under the bounds of one step (tokens and seconds) and its own."""
    own = agent.limits.bounds
    bounds = own.model_copy(
        update={
            "tokens": min(tokens, own.tokens or tokens),
            "wall_time_s": min(timeout_s, own.wall_time_s),
            "idle": max(own.idle, 3),
        }
    )
    return replace(agent, limits=replace(agent.limits, bounds=bounds))

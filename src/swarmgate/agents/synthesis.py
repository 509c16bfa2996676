"""The architect at the end of a debate: makes one verdict of what the voices said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from swarmgate.agents.answers import A, Form
from swarmgate.agents.brief import Brief, Section
from swarmgate.agents.desk import Desk
from swarmgate.agents.participant import submit
from swarmgate.agents.turn import Ending

ROLE, STEP = "architect", "synthesize"

T = TypeVar("T")


def brief_of(sections: Sequence[Section], *, task: str = "", attempt: int = 0) -> Brief:
    """What the architect is told: the question, the material, the whole debate, the count of the votes."""
    return Brief(ROLE, STEP, task=task, attempt=attempt, sections=tuple(sections))


async def synthesize(desk: Desk, brief: Brief, form: Form[A, T]) -> Ending[T]:
    """What the architect's answer comes to; one that is not taken is sent back once.

    Args:
        desk: the architect's surroundings.
        brief: of `brief_of`.
        form: what it has to give.

    Raises:
        NoUsableReply: no answer within the bound; otherwise as `take_turn`.
    """
    return await submit(desk, brief, form)

"""Before a phase: what it is expected to use, and a warning where that is more than a budget has left."""

from __future__ import annotations

from swarmgate.domain.estimate import phase_estimate, shortfalls
from swarmgate.domain.events import Event
from swarmgate.domain.state import State
from swarmgate.engine.context import Context


async def estimate(state: State, ctx: Context) -> list[Event]:
    """The estimate goes on record; too small a budget stops nothing yet, the user may raise it at any time."""
    expected = phase_estimate(state)
    for text in shortfalls(state, expected, ctx.budgets()):
        ctx.tell("notice", text)
    return [expected]

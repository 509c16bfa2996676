"""Ends an attempt as REJECTED when a breaker trips, with the last actions for the next brief."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from swarmgate.domain.events.event import AttemptRejected, Event
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state.state import State, current
from swarmgate.engine.context import Context
from swarmgate.errors import BreakerTripped

Step = Callable[[State, Context], Awaitable[list[Event]]]


def ends_attempt(step: Step) -> Step:
    """The step of a role that judges: where a breaker stops it, the tree goes back to what was to be judged."""

    async def guarded(state: State, ctx: Context) -> list[Event]:
        try:
            return await step(state, ctx)
        except BreakerTripped as error:
            _, _, attempt = current(state)
            ctx.keep_head(attempt)
            ctx.settle_tree(attempt)
            return [rejection_by(state, error)]

    return guarded


def rejection_by(state: State, error: BreakerTripped) -> AttemptRejected:
    """The rejection that a tripped breaker means."""
    task, _, attempt = current(state)
    did = "\n".join(f"- {line}" for line in error.last) or "- nothing: it called no tool"
    told = Remark(severity=Severity.HIGH, message=f"What the role did last:\n{did}")
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage=Stage.of(Judge.BREAKER, error.breaker),
        reason=error.message,
        feedback=(told,),
    )

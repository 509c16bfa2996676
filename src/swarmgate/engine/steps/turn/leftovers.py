"""What a turn left in the work tree that neither git nor anybody else can read is taken away before they look."""

from __future__ import annotations

from swarmgate.agents.authority import RULE
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.engine.context import Context
from swarmgate.ledger.interruption import swept

_TOLD = 5


def sweep(ctx: Context, role: str) -> tuple[str, ...]:
    """Takes away the pipes, sockets and devices that the running step made; gives their paths."""
    found, kept = swept(ctx.folder, ctx.ledger.state.step_time)
    if found:
        more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
        told = f"{len(found)} taken back into {kept}: {', '.join(found[:_TOLD])}{more}: nobody can read that"
        ctx.reports.append(GuardNote(rule=RULE, effect=Effect.REFUSED, detail=told, role=role, count=len(found)))
        ctx.tell("notice", told)
    return found

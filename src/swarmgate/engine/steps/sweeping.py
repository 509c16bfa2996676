"""What a turn left in the work tree that neither git nor anybody else can read is taken away before they look."""

from __future__ import annotations

from datetime import datetime

from swarmgate.agents.authority import RULE
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.engine.context import Context
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace import irregular

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


def swept(folder: SwarmFolder, since: str) -> tuple[tuple[str, ...], str]:
    """What was taken away of all that was made since a time of the ledger, and where it lies."""
    quarantine = folder.quarantine_folder("not-readable")
    began = datetime.fromisoformat(since).timestamp() if since else 0.0
    return irregular.put_away(folder.root, quarantine, since=began), folder.relative(quarantine)

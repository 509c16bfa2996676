"""Going on after a run that died or was stopped at once: the files go back to what the last recorded step left."""

from __future__ import annotations

from swarmgate.domain.events import AttemptInterrupted, Event, TreeRestored
from swarmgate.domain.state import Recovery, State
from swarmgate.engine.context import Context
from swarmgate.engine.steps.attempts import current
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace.repository import Repository


async def recover(state: State, ctx: Context) -> list[Event]:
    """Restores the files; after a crash the attempt ends as INTERRUPTED and the task is delegated anew."""
    events = restored(state, ctx.folder, ctx.repository)
    if state.recovery is Recovery.INTERRUPT:
        events.append(interruption(state, "the run ended without a word (crash or kill)"))
    return events


def restored(state: State, folder: SwarmFolder, repository: Repository) -> list[Event]:
    """Brings the work tree back to the state's tree; what differs is kept in the quarantine."""
    quarantine = folder.quarantine_folder("interrupted")
    paths = repository.restore(state.tree, quarantine=quarantine)
    kept = folder.relative(quarantine) if quarantine.exists() else ""
    return [TreeRestored(tree=state.tree, paths=paths, kept=kept)]


def interruption(state: State, reason: str) -> Event:
    """The end of the running attempt."""
    task, _, attempt = current(state)
    return AttemptInterrupted(task=task.id, attempt=attempt.number, reason=reason)

"""The recover step after a crash, and the clean-up of a given-up task's files before the next task."""

from __future__ import annotations

from swarmgate.domain.events.event import Event
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.recovery.interruption import restoration, restored
from swarmgate.workspace.git.repository import Repository


async def recover(state: State, ctx: Context) -> list[Event]:
    """Restores the files; the step that was cut short is done again, in the same attempt."""
    return [restored(state, ctx.folder, ctx.repository)]


def quarantine_leftovers(state: State, folder: SwarmFolder, repository: Repository) -> list[Event]:
    """The change of a task that was given up goes to the quarantine. What else differs is the user's and stays."""
    if not state.tree:
        return []
    head = repository.head_tree()
    quarantine = folder.quarantine_folder("leftovers")
    left = repository.changes(head, state.tree).paths
    paths = repository.restore(head, quarantine=quarantine, only=left)
    return [restoration(folder, head, paths, quarantine)]

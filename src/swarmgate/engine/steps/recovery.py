"""The recover step after a crash, and the clean-up of a given-up task's files before the next task."""

from __future__ import annotations

from swarmgate.domain.events.event import Event
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.recovery.interruption import ended, interruption, require_recorded, restoration, restored
from swarmgate.workspace.git.repository import Repository


async def recover(state: State, ctx: Context) -> list[Event]:
    """Restores the files; the step that was cut short is done again, in the same attempt."""
    return [restored(state, ctx.folder, ctx.repository)]


def put_away(ledger: Ledger, repository: Repository, reason: str, *, actor: str) -> str:
    """Ends the attempt that a paused run left open, and puts the unfinished change away, on record.

    On another branch than that of the work no file is touched: what lies there cannot be told from the user's.

    Returns:
        Where it is kept; empty: there was nothing.

    Raises:
        IllegalMove: a commit of the attempt was made that a crash left without its event.
    """
    state, folder = ledger.state, ledger.folder
    here, kept = repository.branch() == state.branch, list[str]()
    if state.open:
        require_recorded(state, repository)
        events = ended(state, folder, repository, reason) if here else [interruption(state, reason)]
        kept += [event.kept for event in events if event.type == "attempt_interrupted"]
        state = ledger.append(events, expect=state.seq, actor=actor)
    if here:
        events = quarantine_leftovers(state, folder, repository)
        kept += [event.kept for event in events if event.type == "tree_restored"]
        ledger.append(events, expect=state.seq)
    return ", ".join(filter(None, kept))


def quarantine_leftovers(state: State, folder: SwarmFolder, repository: Repository) -> list[Event]:
    """The change of a task that was given up goes to the quarantine. What else differs is the user's and stays."""
    if not state.tree:
        return []
    head = repository.head_tree()
    quarantine = folder.quarantine_folder("leftovers")
    left = repository.changes(head, state.tree).paths
    paths = repository.restore(head, quarantine=quarantine, only=left)
    return [restoration(folder, head, paths, quarantine)]

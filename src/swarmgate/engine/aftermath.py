"""Clears up after runs that died: before anybody looks at the tree, nothing of theirs is at work in it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace import atomic, leftovers, temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.ledger.folder import SwarmFolder


def clear_up(folder: SwarmFolder, *, crashed: bool) -> Iterator[str]:
    """End the processes of dead runs, and remove their temporary files; yields what the user has to know.

    Args:
        folder: of the project; its ledger is ours to write.
        crashed: the last one who wrote the ledger died.

    Raises:
        WorkspaceError: a process of a dead run cannot be ended.
    """
    if stubborn := leftovers.end(git=crashed):
        raise WorkspaceError(
            f"a run that died left processes which cannot be ended: {', '.join(map(str, stubborn))}",
            hint="End them by hand, then try again: what they write would count as the work of the next run",
        )
    if crashed:
        atomic.sweep(folder.path, spared=folder.quarantine)
        for place in temporary.sweep():
            yield f"temporary files of a run that died cannot be removed: {place}"

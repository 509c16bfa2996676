"""Shares notes with a remote: both histories are joined, so that no machine takes away what another one wrote."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from swarmgate.errors import RemoteAway
from swarmgate.workspace.git import notes
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.git.hosting.remotes import without_login
from swarmgate.workspace.git.hosting.shared_refs import Move

if TYPE_CHECKING:
    from swarmgate.workspace.git.repository import Repository

_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0)
"""Seconds until it is tried again: somebody else pushed at the same moment."""
_STILL = 3
"""After so many tries in a row nobody else has moved them: they were refused."""


def share(repository: Repository, remote: str, ref: str) -> bool:
    """Gives a remote the notes that are here, and takes those that it has.

    Args:
        repository: with the notes.
        remote: its address.
        ref: of the notes, below `refs/notes/`.

    Returns:
        Whether the remote got any.

    Raises:
        RemoteAway: it is out of reach, or does not take them.
        WorkspaceError: git cannot join the histories.
    """
    git, problem, seen = Driver(repository.root), "", list[str]()
    for pause in _PAUSES_S:
        if not notes.tip(git, ref):
            return False
        there = shared_refs.listed(repository.root, remote, [ref]).get(ref, "")
        if there:
            shared_refs.fetch(repository.root, remote, [ref])
            repository.merge_notes(ref, there)
        ours = notes.tip(git, ref)
        if there and _tree(git, ours) == _tree(git, there):
            return False
        problem = shared_refs.push_together(repository.root, remote, [Move(ref, there, ours)])
        if not problem:
            return True
        seen.append(there)
        if seen[-_STILL:] == [there] * _STILL:
            break
        time.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - so that machines do not knock all at once
    place = without_login(remote)
    raise RemoteAway(f"{place} does not take {ref}: {problem[:300]}", hint=f"See what it wants: git push {place} {ref}")


def _tree(git: Driver, commit: str) -> str:
    return git.run("rev-parse", f"{commit}^{{tree}}").decode("ascii").strip()

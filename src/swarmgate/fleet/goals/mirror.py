"""Brings a folder that shows a goal up to what the remote has: its ledger grows there as on a machine that works on it.

Nobody works in such a folder; what is decided about the goal is decided on the remote.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.errors import FleetError
from swarmgate.fleet.goals.checkout import SWARM, require_plain
from swarmgate.fleet.goals.goal import Summary
from swarmgate.journal import chain
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.copies import clones
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.git.trees import blobs

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.fleet.goals.checkout import Site
    from swarmgate.fleet.goals.goal import Goal

_SETTINGS = ("config.toml", "gates", "prompts")
"""What stays as this machine has it: who may push a goal says neither what runs here, nor where its keys go."""
_SEEN = "refs/swarm/seen/"
"""What was fetched; the goal's own reference follows when all of it stands in the folder."""


def shown(root: Path, goal: Goal) -> str:
    """The commit of the goal's ledger that a folder shows; empty: none yet."""
    return growing_log.ends(Driver(root), f"{goal.ref}/").get(goal.ref, "")


def brought_up(site: Site, goal: Goal, root: Path) -> Summary:
    """Has a folder show what the remote has of a goal; what its newest commit says. Processes take turns.

    Args:
        site: of the repository.
        goal: which one.
        root: a clone of the repository that nobody works in; what it shows of the goal is older, or nothing.

    Raises:
        RemoteAway: the remote is out of reach, or has no such goal.
        FleetError: what it has does not go on from what the folder shows.
        LedgerCorrupt: its lines do not fit to each other.
    """
    git, folder = Driver(root), SwarmFolder(root)
    with _turn(folder):
        log, tip = f"{_SEEN}{goal.id}/log", f"{_SEEN}{goal.id}/branch"
        shared_refs.fetch(root, site.remote, [f"{goal.ref}:{log}", f"refs/heads/{goal.branch}*:{tip}*"])
        there, before = growing_log.ends(git, f"{_SEEN}{goal.id}/"), shown(root, goal)
        if there[log] != before:
            if there.get(tip) and there[tip] != _commit(git, f"refs/heads/{goal.branch}"):
                clones.switch(root, goal.branch, there[tip])
            grown = _grown(git, folder, goal, there[log])
            _write_files(git, folder, goal, there[log])
            with folder.ledger.open("ab") as ledger:
                ledger.write(grown)
            Ledger.read(folder).project()
            git.run("update-ref", goal.ref, there[log])
        return Summary.read(git.run("log", "-1", "--format=%B", goal.ref).decode(errors="replace"))


def _commit(git: Driver, ref: str) -> str:
    return growing_log.ends(git, f"{ref}/").get(ref, "")


@contextmanager
def _turn(folder: SwarmFolder) -> Iterator[None]:
    folder.runtime.mkdir(parents=True, exist_ok=True)
    with (folder.runtime / "mirror.lock").open("w") as lock:
        exclusive.take(lock.fileno())
        yield


def _write_files(git: Driver, folder: SwarmFolder, goal: Goal, commit: str) -> None:
    """Writes the files of `.swarm/` that are others than those that stand there, but for settings."""
    with git.index(copied=False) as index:
        git.run("read-tree", f"{commit}:{SWARM}", index=index)
        staged = git.run("ls-files", "--stage", "-z", index=index)
    require_plain(goal.ref, commit, staged)
    listed = (entry.partition(b"\t") for entry in staged.split(b"\0")[:-1])
    entries = [(head.split()[1], os.fsdecode(name)) for head, _, name in listed]
    shown_here = [(blob, name) for blob, name in entries if name.partition("/")[0] not in _SETTINGS]
    found = blobs(git, [blob for blob, _ in shown_here])
    for (_, name), blob in zip(shown_here, found, strict=True):
        place = folder.path / name
        if blob is not None and not (place.is_file() and place.read_bytes() == blob.content):
            place.parent.mkdir(parents=True, exist_ok=True)
            replace(place, blob.content, durable=False)


def _grown(git: Driver, folder: SwarmFolder, goal: Goal, commit: str) -> bytes:
    """The lines of the ledger that the folder has not; each fits to the one before it."""
    lines = b"".join(piece.data or b"" for piece in growing_log.pieces(git, (commit,)))
    own = folder.ledger.read_bytes() if folder.ledger.exists() else b""
    if not lines.startswith(own):
        raise FleetError(
            f"The ledger of {goal.id} at the remote does not go on from the one in {folder.path}.",
            hint=f"Somebody turned it back, or wrote here. Compare: git -C {folder.root} log {goal.ref} {commit}",
        )
    deque(chain.walk(lines, name=goal.ref), maxlen=0)
    return lines[len(own) :]

"""Shares the statements about a goal's commits: all goals of a repository have one reference of notes between them.

They go after the goal itself, when a job ends. What a worker that dies in between leaves out, the next job writes again
from the ledger: a statement is what that says, byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.evidence.attestation import NOTES_REF
from swarmgate.ledger.audit.statements import restore
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.hosting import shared_notes
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.fleet.goals.checkout import Checkout


def share(found: Checkout, *, attest: bool) -> None:
    """Gives the remote the statements about the commits of a goal's completed tasks.

    Args:
        found: the goal, as it was worked on.
        attest: whether they are made at all: `[git] attest`.

    Raises:
        RemoteAway: the remote is out of reach, or does not take them; the next job tries again.
    """
    state = Ledger.read(found.folder).state
    tasks = state.plan.tasks if state.plan else {}
    if not attest or not any(state.task(each).commit for each in tasks):
        return
    repository = Repository(found.root)
    restore(repository, f"{state.base}..refs/heads/{state.branch}")
    shared_notes.share(repository, found.site.remote, NOTES_REF)

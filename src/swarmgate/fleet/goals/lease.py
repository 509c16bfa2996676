"""Takes the lease of a goal: an epoch above every one before, on the remote before anything is done.

What a worker had that lost it goes to the quarantine: references of the machine's object cache, which nothing reads.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from swarmgate.domain.events.event import LeaseTaken
from swarmgate.errors import FleetError, NewerGoal, SwarmError
from swarmgate.fleet.goals.checkout import Checkout
from swarmgate.fleet.goals.goal import now
from swarmgate.ledger.ledger import Ledger
from swarmgate.version import __version__
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.state.state import State

QUARANTINE = "refs/swarm/quarantine/"
_LEASE = re.compile(rb'"event":\{"type":"lease_taken",[^{}]*"version":"([^"]*)"')


def take(ledger: Ledger, worker: str, *, version: str = __version__) -> int:
    """Takes the lease of a goal; returns its epoch.

    Args:
        ledger: open for writing, with the publication of the goal.
        worker: the name of who takes it.
        version: of swarmgate.

    Raises:
        LeaseLost: somebody else was faster.
        RemoteAway: the remote is out of reach.
    """
    epoch = ledger.state.lease.epoch + 1
    ledger.append([LeaseTaken(epoch=epoch, worker=worker, version=version)], expect=ledger.state.seq)
    return epoch


def require_own(checkout: Checkout, state: State) -> None:
    """Requires that the ledger is that of the goal: one of another goal would be worked on twice.

    Raises:
        FleetError: it is another's.
    """
    if state.branch not in ("", checkout.goal.branch):
        raise FleetError(
            f"{checkout.goal.ref} holds a ledger whose work is in {state.branch}: it is that of another goal.",
            hint=f"Who pushed it? See: git log {checkout.log}",
        )


def require_known(checkout: Checkout, *, version: str = __version__) -> None:
    """Requires that no newer swarmgate has written the goal: its events may be others.

    Raises:
        NewerGoal: one has.
    """
    written = [each.decode() for each in _LEASE.findall(checkout.folder.ledger.read_bytes())]
    newest = max(map(_version, written), default=_version("0"))
    if newest > _version(version):
        raise NewerGoal(
            f"Goal {checkout.goal.id} was worked on by swarmgate {newest}, and this is {version}.",
            hint="Upgrade this worker; until then newer ones take the goal.",
        )


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def quarantine(checkout: Checkout, worker: str) -> str:
    """Keeps what a worker has that lost its lease: ledger, branch and files; returns where, empty: nowhere.

    The references stand in the object cache of this machine, and nothing reads them but a person.
    """
    place = f"{QUARANTINE}{checkout.goal.id}/{now().replace(':', '')}-{worker}"
    kept = [f"{checkout.goal.ref}:{place}/ledger"]
    with suppress(SwarmError):
        repository = Repository(checkout.root)
        if repository.branch_exists(checkout.goal.branch):
            kept.append(f"refs/heads/{checkout.goal.branch}:{place}/branch")
        beside = growing_log.Beside(trees={"work": repository.snapshot()})
        growing_log.add(checkout.root, "refs/swarm/files", b"", message="Files\n", parent="", beside=beside)
        kept.append(f"refs/swarm/files:{place}/files")
    with suppress(SwarmError):
        checkout.site.cache.keep(checkout.root, kept)
        return place
    return ""

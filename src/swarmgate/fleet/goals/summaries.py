"""Lists the goals of a repository with their summaries, by the newest commit of each: no ledger is read."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from swarmgate.fleet.goals.checkout import all_goals
from swarmgate.fleet.goals.goal import GOALS, Goal, Summary
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.copies import clones
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from swarmgate.fleet.goals.checkout import Site

STILL_S = 20.0
"""Seconds for which the list of a remote is waited for: who holds it longer stands still, as one that was stopped."""
_SEEN = "refs/seen/"
_FORM = "--format=%(refname)%00%(contents)%00%01"


def summaries(site: Site) -> dict[Goal, Summary]:
    """All goals of a repository. What did not change since the last call on this machine is not fetched again.

    Raises:
        RemoteAway: the remote is out of reach.
    """
    with _list(site) as place:
        if not (place / "HEAD").exists():
            clones.make(place)
        there = all_goals(site)
        if not there:
            return {}
        if there != {ref.removeprefix(_SEEN): commit for ref, commit in growing_log.ends(Driver(place), _SEEN).items()}:
            shared_refs.fetch(place, site.remote, [f"{GOALS}*:{_SEEN}*"], depth=1, prune=True)
        listed = Driver(place).run("for-each-ref", _FORM, _SEEN.rstrip("/")).decode(errors="replace")
    records = (record.strip("\n").partition("\0") for record in listed.split("\0\1") if record.strip())
    pairs = ((Goal.known(site.name, ref.removeprefix(_SEEN)), text) for ref, _, text in records)
    return {goal: Summary.read(text) for goal, text in pairs if goal is not None}


@contextlib.contextmanager
def _list(site: Site) -> Iterator[Path]:
    """The repository that the newest commits are fetched into, held alone: nobody waits for one who stands still.

    It is one of this call's own then, which costs what it fetches.
    """
    place = site.home / "lists" / f"{hashlib.sha256(site.remote.encode()).hexdigest()[:16]}.git"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock, contextlib.ExitStack() as ended:
        try:
            exclusive.take_within(lock.fileno(), STILL_S)
        except BlockingIOError:
            place = ended.enter_context(temporary.folder("goals")) / place.name
        yield place

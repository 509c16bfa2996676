"""Many errands of one purpose: each is asked once, however often the same is wanted, and followed to its end.

The id of an errand is the hash of what it is. Who comes again, with the same command on any machine, finds in git what
was asked and answered, asks only what is missing, and once more what failed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from swarmgate.errors import FleetError, LeaseLost
from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.goals.summaries import summaries
from swarmgate.fleet.work import errand
from swarmgate.fleet.work.errand import Answer

if TYPE_CHECKING:
    from swarmgate.fleet.facade import Fleet
    from swarmgate.fleet.goals.checkout import Site

_AT_ONCE = 4
"""Errands that are pushed, or whose answers are read, at the same time: git waits for the remote."""
_POLL_S = 1.0


@dataclass(frozen=True)
class Errand:
    """A command that a worker is to run, with what goes with it.

    Attributes:
        argv: the command, without `swarm`; `--json` is added.
        files: what it finds in `.swarm/errand/`: names and contents.
        depends: what else its answer depends on, such as settings and code: of another one it is asked anew.
    """

    argv: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...] = ()
    depends: str = ""

    def id(self, attempt: int) -> str:
        """The id of its goal, the first time (0) or after so many that failed."""
        named = {name: hashlib.sha256(content).hexdigest() for name, content in self.files}
        parts = json.dumps([self.argv, named, self.depends, attempt], sort_keys=True)
        return f"g-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Asked:
    """An errand that has its goal; `answer` is there where it was answered before."""

    errand: Errand
    goal: Goal
    answer: Answer | None = None


def ask(fleet: Fleet, wanted: Sequence[Errand], *, repo: str = "") -> list[Asked]:
    """Has each errand be in line, unless it is answered; one that failed is asked once more.

    Args:
        fleet: that has it.
        wanted: the errands.
        repo: the repository that they run in; empty: the only one.

    Raises:
        UsageError: no worker runs such a command for others, or there is no such repository.
        RemoteAway, QueueAway: remote or database are out of reach.
    """
    site = fleet.site(repo)
    known = summaries(site)
    fleet.require_line()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda each: _asked(fleet, site, known, each), wanted))


def _asked(fleet: Fleet, site: Site, known: Mapping[Goal, Summary], wanted: Errand) -> Asked:
    for attempt in count():
        goal = Goal(site.name, wanted.id(attempt))
        there = known.get(goal)
        if there is None:
            try:
                fleet.ask(wanted.argv, repo=site.name, files=dict(wanted.files), name=goal.id)
            except LeaseLost:  # somebody asks the same at this moment
                return Asked(wanted, goal)
            return Asked(wanted, goal)
        if there.standing is not Standing.DONE:
            fleet.put_in_line(goal, there)
            return Asked(wanted, goal)
        if (answer := _answer(site, goal)).exit_code == 0:
            return Asked(wanted, goal, answer)
    raise AssertionError("attempts do not end")


def answers(fleet: Fleet, asked: Sequence[Asked], *, wait_s: float) -> Iterator[tuple[Asked, Answer]]:
    """The answers as they come, those that are there first.

    Args:
        fleet: that has the errands.
        asked: as `ask` gave them.
        wait_s: ends when no answer came for so many seconds; what is missing has none then.

    Raises:
        RemoteAway: the remote is out of reach.
    """
    yield from ((each, each.answer) for each in asked if each.answer is not None)
    left = {each.goal: each for each in asked if each.answer is None}
    since = time.monotonic()
    while left:
        known = {
            goal: each for repo in {goal.repo for goal in left} for goal, each in summaries(fleet.site(repo)).items()
        }
        done = [each for goal, each in left.items() if goal in known and known[goal].standing is Standing.DONE]
        for each in done:
            yield each, _answer(fleet.site(each.goal.repo), left.pop(each.goal).goal)
            since = time.monotonic()
        if left and time.monotonic() - since >= wait_s:
            return
        if left:
            time.sleep(_POLL_S)


def _answer(site: Site, goal: Goal) -> Answer:
    with checked_out(site, goal) as found:
        answer = errand.read(found)
    if answer is None:
        raise FleetError(f"{goal.lock} is done and has no answer.", hint=f"Who pushed it? git log -p {goal.ref}")
    return answer

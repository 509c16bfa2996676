"""Views of goals, kept as long as the files that they are made of stay as they are.

view = await readings.view(goal, "plan", lambda reading: plan_view(goal, reading))
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from swarmgate.domain.events.event import Entry
from swarmgate.domain.state.state import State
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LedgerError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.model import Goal

T = TypeVar("T")

_KEPT = 2000
"""As many views are kept; the one that was asked for least recently goes first."""
_LEDGERS = 200
"""As many ledgers are kept open for reading on."""
_AGE_S = 1.0
"""For how long a view is kept that tells more than the files say which are looked at: a branch, a process that died."""

Identity = tuple[tuple[int, int, int] | None, ...]
"""Of files: inode, bytes and time of the last change, in nanoseconds; None: it is not there."""


@dataclass(frozen=True)
class Reading:
    """A goal as it is at one moment: its facade, its ledger, and the fold over that."""

    goal: Goal
    swarm: Swarm
    ledger: Ledger
    state: State

    @cached_property
    def clean(self) -> Callable[[str], str]:
        """What cleans texts of the project."""
        return self.swarm.project.cleaner()

    def entries(self) -> Iterator[Entry]:
        """The entries of the ledger, in order."""
        return (entry for entry, _ in self.ledger.entries())


class _Kept(NamedTuple):
    identity: Identity
    made: float
    value: Any


class Readings:
    """Views of goals. Belongs to one event loop; the work of making a view is done in threads.

    Args:
        goals: of the server.
    """

    def __init__(self, goals: Goals) -> None:
        self._goals = goals
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()
        self._made: dict[Hashable, asyncio.Future[Any]] = {}

    async def view(self, goal: Goal, name: Hashable, make: Callable[[Reading], T], *, lasting: bool = True) -> T:
        """A view of a goal, made anew only where its files have changed since.

        Args:
            goal: as it is now: what is wanted of it belongs to what a view is made of.
            name: of the view, with all that it depends on beside the goal.
            make: makes it, in a thread.
            lasting: whether it is made of the ledger and its evidence alone; else it is kept for a second at most.

        Raises:
            SwarmError: as `make` does; that is not kept.
        """
        key = (goal.id, name)
        identity = identity_of(goal.path, lasting=lasting)
        kept = self._kept.get(key)
        wanted = (goal.wanted, goal.ended)
        if kept and kept.identity == identity and (lasting or time.monotonic() - kept.made < _AGE_S):
            value, of = kept.value
            if lasting or of == wanted:
                self._kept.move_to_end(key)
                return value  # type: ignore[no-any-return]  # what `make` made under this name
        return await self._anew(key, identity, wanted, lambda: make(self.read(goal)))

    def read(self, goal: Goal) -> Reading:
        """A goal as it is now; to be called in a thread.

        Raises:
            NotAProject: its folder is not there yet.
            LedgerError: its ledger is damaged.
        """
        swarm = self._goals.swarm(goal)
        ledger = self._read_on(goal.id, swarm.folder)
        return Reading(goal, swarm, ledger, ledger.state)

    def root(self, goal: Goal) -> Path:
        """The folder of a goal's project."""
        return Path(goal.path)

    def _read_on(self, id: str, folder: SwarmFolder) -> Ledger:  # noqa: A002 - the field's name
        """The ledger of a goal: what was read before is not read again."""
        known = self._ledgers.get(id)
        if known is not None:
            try:
                known.refresh()
            except LedgerError:  # it was replaced, and may be whole all the same
                known = None
        if known is None:
            known = self._ledgers[id] = Ledger.read(folder)
            while len(self._ledgers) > _LEDGERS:
                self._ledgers.popitem(last=False)
        return known

    async def _anew(self, key: Hashable, identity: Identity, wanted: object, make: Callable[[], T]) -> T:
        """Makes a view, once for all who ask for it at the same time."""
        turn = (key, identity, str(wanted))
        if (under_way := self._made.get(turn)) is not None:
            return await asyncio.shield(under_way)
        began = time.monotonic()
        work = asyncio.ensure_future(asyncio.to_thread(make))
        self._made[turn] = work
        work.add_done_callback(lambda _: self._made.pop(turn, None))
        value = await asyncio.shield(work)
        self._kept[key] = _Kept(identity, began, (value, wanted))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return value


def identity_of(root: str, *, lasting: bool) -> Identity:
    """What the files of a project that views are made of look like from outside.

    Args:
        root: of the project.
        lasting: only the ledger; else also what tells of work that goes on, the plan's files and the settings.
    """
    ledger, *others = _watched(root)
    return (stamp(ledger),) if lasting else (stamp(ledger), *map(stamp, others))


@lru_cache(maxsize=_KEPT)
def _watched(root: str) -> tuple[str, ...]:
    """The files that are looked at, the ledger first: thousands of times a second no path is put together."""
    folder = SwarmFolder(Path(root))
    paths = (folder.ledger, folder.lock, folder.plan_md, folder.plan_json, folder.config, folder.breakers)
    return tuple(map(str, paths))


def stamp(path: str | Path) -> tuple[int, int, int] | None:
    """Of one file; None: it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - half of the time that `Path.stat` takes
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns

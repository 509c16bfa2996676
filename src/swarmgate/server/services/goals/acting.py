"""Decides in the name of who asks: their name stands in the ledger, and what moved on is not decided."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from swarmgate.engine.swarm import Swarm
from swarmgate.errors import Stale, StaleWriter
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.model import Goal
from swarmgate.server.runs.work.isolated import isolated

T = TypeVar("T")


@dataclass(frozen=True)
class Acting:
    """Decisions about goals."""

    goals: Goals

    async def decide(
        self,
        who: Principal,
        goal: Goal,
        decision: Callable[[Swarm], T],
        *,
        expect: int | None = None,
        apart: bool = False,
    ) -> T:
        """Does what somebody decided, in a thread, or in a process of its own.

        Args:
            who: decided; whether they may was asked before.
            goal: whose.
            decision: what they decided.
            expect: the ledger position that they looked at; None: whichever it is at.
            apart: in a process of its own, since it starts programs of the project; `decision` can then be pickled, and
                so can what it returns.

        Raises:
            Stale: it is not there any more; nothing was decided.
            SwarmError: as `decision` does.
        """

        def at_fleet() -> T:
            fleet, project = self.goals.required_fleet(), Path(goal.path)
            try:
                return fleet.decide(goal.fleet, goal.id, project, decision, actor=who.actor, expect=expect)
            except StaleWriter as error:
                fleet.follow(goal.fleet, goal.id, project)
                raise Stale(error.message, seq=self.goals.swarm(goal).state.seq, hint=error.hint) from error

        if goal.fleet:
            return await asyncio.to_thread(at_fleet)
        environ = self.goals.environ
        work = partial(_decided, environ, goal.path, who.actor, expect, decision)
        return await (isolated(environ, work) if apart else asyncio.to_thread(work))

    async def require(self, goal: Goal, expect: int | None) -> None:
        """Lets nobody pass who looked at another ledger position.

        Raises:
            Stale: the ledger is at another one.
        """
        if expect is None:
            return
        seq = await asyncio.to_thread(lambda: self.goals.swarm(goal).state.seq)
        if seq != expect:
            raise Stale(
                f"The ledger has moved on: it was looked at when it was at {expect}, and is at {seq} now.",
                seq=seq,
                hint="Look at what is new, and decide again.",
            )


def _decided(
    environ: Mapping[str, str], project: str, actor: str, expect: int | None, decision: Callable[[Swarm], T]
) -> T:
    swarm = Swarm(project, environ=environ, actor=actor)
    swarm.project = replace(swarm.project, expect=expect)
    try:
        return decision(swarm)
    except StaleWriter as error:
        raise Stale(error.message, seq=swarm.state.seq, hint=error.hint) from error

"""The ledger of a goal, page by page, and its audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.ledger.views.describe import describe
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.paging import numbered
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.record import AuditView, CheckView, EntryView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Ledgers:
    """The ledgers of the goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
    """

    access: Access
    readings: Readings

    async def page(self, who: Principal, goal: str, *, after: str = "", limit: int = 100) -> Page[EntryView]:
        """A part of the ledger, in order; `after` is a `seq`."""
        return await self.readings.view(self._there(who, goal), ("ledger", after, limit), _entries(after, limit))

    async def verify(self, who: Principal, goal: str) -> AuditView:
        """Walks the chain and compares ledger, plan files, evidence and git. Changes nothing."""
        return await self.readings.view(self._there(who, goal), "audit", _audit, lasting=False)

    def _there(self, who: Principal, goal: str) -> Goal:
        found = self.access.goal(who, goal)
        if not self.access.goals_there.ready(found):
            raise unknown("ledger yet")
        return found


def _entries(after: str, limit: int) -> Callable[[Reading], Page[EntryView]]:
    def make(reading: Reading) -> Page[EntryView]:
        part = numbered(reading.entries(), after=after, limit=limit, key=lambda entry: entry.seq)
        rows = (
            EntryView(
                seq=each.seq,
                time=each.time,
                actor=each.actor,
                type=each.event.type,
                text=describe(each.event),
                event=each.event.model_dump(mode="json"),
            )
            for each in part.items
        )
        return Page[EntryView](items=tuple(cleaned(row, reading.clean) for row in rows), next=part.next)

    return make


def _audit(reading: Reading) -> AuditView:
    checks = tuple(
        CheckView(name=each.name, looked_at=each.looked_at, problems=each.problems, warnings=each.warnings)
        for each in reading.swarm.verify()
    )
    found = AuditView(
        goal=reading.goal.id,
        seq=reading.state.seq,
        head=reading.ledger.head,
        passed=not any(each.problems for each in checks),
        checks=checks,
    )
    return cleaned(found, reading.clean)

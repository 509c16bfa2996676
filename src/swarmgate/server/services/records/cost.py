"""What was used: of one goal, of a repository, or of all that somebody may see."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from swarmgate.domain.spending.cost import By, CostReport, CostRow
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.record import CostView, GoalCost


@dataclass(frozen=True)
class Cost:
    """The cost of the goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
    """

    access: Access
    readings: Readings

    async def report(self, who: Principal, *, repo: str = "", goal: str = "", by: By = "day") -> CostView:
        """What was used, with what is not on record yet.

        Args:
            who: asks.
            repo: only of its goals.
            goal: only of this one.
            by: the table. Over several goals, tasks and phases carry the id of their goal.
        """
        goals = (self.access.goal(who, goal),) if goal else self.access.goals(who, repo)
        found = [each for each in await asyncio.gather(*map(self.of, goals)) if each]
        rows = _added((each.goal if len(found) > 1 else "", row) for each in found for row in each.report.by(by))
        total = CostRow(name="total")
        for each in found:
            total = _sum("total", total, each.report.total)
        return CostView(
            repo=repo,
            goal=goal,
            by=by,
            total=total,
            rows=tuple(sorted(rows, key=lambda row: row.name)) if by == "day" else rows,
            goals={each.goal: each.report.total.usage for each in found},
        )

    async def of(self, goal: Goal) -> GoalCost | None:
        """All tables of one goal; None where it cannot be read."""
        try:
            return await self.readings.view(goal, "cost", _cost, lasting=False)
        except SwarmError:  # the list of goals says why
            return None


def _cost(reading: Reading) -> GoalCost:
    report: CostReport = cleaned(reading.swarm.cost(), reading.clean)
    return GoalCost(goal=reading.goal.id, seq=reading.state.seq, report=report)


def _sum(name: str, one: CostRow, other: CostRow) -> CostRow:
    return CostRow(name=name, usage=one.usage + other.usage, unsettled=one.unsettled + other.unsettled)


def _added(rows: Iterable[tuple[str, CostRow]]) -> tuple[CostRow, ...]:
    """Rows of one name as one; what belongs to a goal only is named with it."""
    found: dict[str, CostRow] = {}
    for goal, row in rows:
        own = goal and row.name.startswith(("task ", "phase ", "goal "))
        name = f"{goal}: {row.name}" if own else row.name
        found[name] = _sum(name, found.get(name, CostRow(name=name, usage=Usage())), row)
    return tuple(found.values())

"""Tasks of a goal, and decisions about one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from swarmgate.engine.swarm import Swarm
from swarmgate.errors import UsageError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.views import task_rows, task_view
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.reading.readings import Readings
from swarmgate.server.services.views.goal import TaskRow, TaskView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Tasks:
    """The tasks of the goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
        acting: decides, in the name of who asks.
    """

    access: Access
    readings: Readings
    acting: Acting

    async def list(self, who: Principal, goal: str, *, after: str = "", limit: int = 100) -> Page[TaskRow]:
        """The tasks of a goal in the order of its plan; none while there is no plan."""
        there = self.access.goal(who, goal)
        if not self.access.goals_there.ready(there):
            return Page[TaskRow]()
        rows = await self.readings.view(there, "tasks", task_rows)
        return page(rows, after=after, limit=limit, key=lambda row: row.id)

    async def get(self, who: Principal, goal: str, task: str) -> TaskView:
        """One task, with each of its attempts.

        Raises:
            NotFound: the plan has no such task.
        """
        return await self.readings.view(self._there(who, goal, Role.VIEWER), ("task", task), task_view(task))

    async def retry(
        self, who: Principal, goal: str, task: str, *, note: str = "", if_match: int | None = None
    ) -> TaskView | None:
        """Has a blocked or rejected task tried again; the number of a phase has that judged anew.

        Args:
            who: asks; an operator.
            goal: its id.
            task: its id, or the number of a phase.
            note: goes to architect and coder, or to the reviewers of the phase.
            if_match: the ledger position that was looked at.

        Returns:
            The task as it is now; None of a phase.
        """
        return await self._decide(who, goal, task, lambda swarm: swarm.retry(task, note=note), if_match)

    async def skip(
        self, who: Principal, goal: str, task: str, *, reason: str, if_match: int | None = None
    ) -> TaskView | None:
        """Gives a task up.

        Raises:
            UsageError: no reason is given: it stands in the ledger for whoever asks later.
        """
        _require_reason(reason)
        return await self._decide(who, goal, task, lambda swarm: swarm.skip(task, reason=reason), if_match)

    async def override(
        self, who: Principal, goal: str, task: str, *, reason: str, if_match: int | None = None
    ) -> TaskView | None:
        """Overrules the last rejection of a task, or of a phase by its number.

        Raises:
            IllegalMove: there is none, or it is one that nobody can overrule (secrets, SAST, syntax).
            UsageError: no reason is given.
        """
        _require_reason(reason)
        return await self._decide(who, goal, task, lambda swarm: swarm.override(task, reason=reason), if_match)

    async def undo(
        self,
        who: Principal,
        goal: str,
        task: str,
        *,
        reason: str = "",
        with_dependents: bool = False,
        if_match: int | None = None,
    ) -> TaskView | None:
        """Takes a task back: its commit is reverted by another one, and it is pending again.

        Raises:
            IllegalMove: nothing of it is there, or complete tasks build on it.
            LedgerLocked: a run is going on.
        """
        undo = methodcaller("undo", task, reason=reason, with_dependents=with_dependents)
        return await self._decide(who, goal, task, undo, if_match, apart=True)

    async def _decide(
        self,
        who: Principal,
        goal: str,
        task: str,
        decision: Callable[[Swarm], Any],
        if_match: int | None,
        *,
        apart: bool = False,
    ) -> TaskView | None:
        there = self._there(who, goal, Role.OPERATOR)
        await self._require_known(there, task)
        await self.acting.decide(who, there, decision, expect=if_match, apart=apart)
        return None if task.isdigit() else await self.get(who, goal, task)

    async def _require_known(self, goal: Goal, task: str) -> None:
        """Lets only ids of tasks and numbers of phases pass.

        Raises:
            NotFound: the plan has none such.
        """
        rows = await self.readings.view(goal, "tasks", task_rows)
        if not any(task in (row.id, str(row.phase)) for row in rows):
            raise unknown("task")

    def _there(self, who: Principal, goal: str, role: Role) -> Goal:
        found = self.access.goal(who, goal, role)
        if not self.access.goals_there.ready(found):
            raise unknown("task")
        return found


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise UsageError("A reason is missing: it stands on record for whoever asks later.", hint="say why")

"""The gates of a project: listed, explained, run over a goal's work tree."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.gates.verbs import explain, list_gates
from swarmgate.gates.verbs.request import Request
from swarmgate.gates.verbs.run import judge
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.cleaning import cleaned, cleaner
from swarmgate.server.services.views.record import GateRunView, GateView, RuleView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Gates:
    """The gates of the projects of a server.

    Attributes:
        access: who may see what.
        acting: works in the folder of a goal.
    """

    access: Access
    acting: Acting

    async def list(self, who: Principal, goal: str) -> Page[GateView]:
        """The gates of a goal's project, in the order of the pipeline."""
        root = self._root(who, goal, Role.VIEWER)
        listed = await asyncio.to_thread(list_gates.gates, root)
        return Page[GateView](items=tuple(map(_view, listed)))

    async def explain(self, who: Principal, goal: str, rule: str) -> RuleView:
        """What a rule means, how to mend what it finds, and how to suppress it.

        Raises:
            NotFound: no gate of the project has such a rule.
        """
        root = self._root(who, goal, Role.VIEWER)
        try:
            found = await asyncio.to_thread(explain.explain, root, rule)
        except UsageError as error:
            raise unknown("rule") from error
        return RuleView(rule=found)

    async def run(
        self, who: Principal, goal: str, *, base: str = "", everything: bool = False, only: tuple[str, ...] = ()
    ) -> GateRunView:
        """Runs the gates over the work tree of a goal; no file is changed.

        Args:
            who: asks; an operator.
            goal: its id.
            base: judge what changed since this revision; empty: what is not committed.
            everything: judge every file whole.
            only: these gates; empty: all that are on.

        Raises:
            UsageError: options, names of gates or the revision do not fit.
        """
        root = self._root(who, goal, Role.OPERATOR)
        request = Request(root, base, everything=everything, fix=False)
        there = self.access.goal(who, goal, Role.OPERATOR)
        judged = await asyncio.to_thread(judge, request, only=only)
        clean = await self.acting.decide(who, there, lambda swarm: cleaner(swarm.project))
        found = GateRunView(goal=goal, about=judged.about, verdict=judged.report.verdict, report=judged.report)
        return cleaned(found, clean)

    def _root(self, who: Principal, goal: str, role: Role) -> Path:
        found = self.access.goal(who, goal, role)
        if not self.access.goals_there.ready(found):
            raise unknown("work tree yet")
        return Path(found.path)


def _view(listed: list_gates.Listed) -> GateView:
    gate = listed.gate
    return GateView(
        id=gate.id,
        title=gate.title,
        on=listed.on,
        why=listed.why,
        required=gate.required,
        severity=str(gate.severity),
        tools=tuple(each.name for each in listed.tools if each.installed),
        missing=tuple(each.name for each in listed.tools if each.required and each.problem),
        source=gate.source,
    )

"""The gates of a project: listed, explained, run over a goal's work tree."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.requirements import keys_withheld
from swarmgate.errors import UsageError
from swarmgate.gates.definition import load
from swarmgate.gates.verbs import explain, list_gates
from swarmgate.gates.verbs.request import Request
from swarmgate.gates.verbs.run import judge
from swarmgate.project import Project
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal
from swarmgate.server.runs.work.isolated import isolated
from swarmgate.server.services.operations.operations import Operations
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.views.operation import OperationView
from swarmgate.server.services.views.record import GateRunView, GateView, RuleView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Gates:
    """The gates of the projects of a server.

    Attributes:
        access: who may see what.
        operations: runs of gates are some.
        environ: where `SWARM_*` settings of projects are looked up.
    """

    access: Access
    operations: Operations
    environ: Mapping[str, str]

    async def list(self, who: Principal, goal: str) -> Page[GateView]:
        """The gates of a goal's project, in the order of the pipeline."""
        there = self._there(who, goal, Role.VIEWER)
        listed = await asyncio.to_thread(list_gates.gates, Path(there.path))
        return Page[GateView](items=tuple(map(_view, listed)))

    async def explain(self, who: Principal, goal: str, rule: str) -> RuleView:
        """What a rule means, how to mend what it finds, and how to suppress it.

        Raises:
            NotFound: no gate of the project has such a rule.
        """
        there = self._there(who, goal, Role.VIEWER)
        try:
            found = await asyncio.to_thread(explain.explain, Path(there.path), rule)
        except UsageError as error:
            raise unknown("rule") from error
        return RuleView(rule=found)

    async def start(
        self,
        who: Principal,
        goal: str,
        *,
        base: str = "",
        everything: bool = False,
        only: tuple[str, ...] = (),
        token: str = "",
    ) -> OperationView:
        """Begins a run of the gates over the work tree of a goal; no file is changed.

        Args:
            who: asks; an operator.
            goal: its id.
            base: judge what changed since this revision; empty: what is not committed.
            everything: judge every file whole.
            only: these gates; empty: all that are on.
            token: as of `Operations.begin`.

        Raises:
            UsageError: options do not go together, or there is no such gate.
        """
        there = self._there(who, goal, Role.OPERATOR)
        request = Request(Path(there.path), base, everything=everything, fix=False)
        request.check()
        known = await asyncio.to_thread(lambda: {each.id for each in load(Path(there.path))})
        if missing := [each for each in only if each not in known]:
            raise UsageError(f"There is no gate {missing[0]}.", hint=f"The gates are {', '.join(sorted(known))}.")
        work = partial(_judged, self.environ, there, request, only)
        return await self.operations.begin(who, there, "gates", lambda: isolated(self.environ, work), token=token)

    # --- inside ---

    def _there(self, who: Principal, goal: str, role: Role) -> Goal:
        found = self.access.goal(who, goal, role)
        if not self.access.goals_there.ready(found):
            raise unknown("work tree yet")
        return found


def _judged(environ: Mapping[str, str], goal: Goal, request: Request, only: tuple[str, ...]) -> GateRunView:
    """Judges, in a process of its own: no gate that a project brings sees a provider's key."""
    project = Project(Path(goal.path), environ=environ)
    clean = project.cleaner()
    with keys_withheld(project.config):
        judged = judge(request, only=only)
    told = GateRunView(goal=goal.id, about=judged.about, verdict=judged.report.verdict, report=judged.report)
    return cleaned(told, clean)


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

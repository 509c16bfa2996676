"""The gates of a project: listed, explained, run over a goal's work tree."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.errors import SwarmError, UsageError
from swarmgate.gates.definition import load
from swarmgate.gates.verbs import explain, list_gates
from swarmgate.gates.verbs.request import Request
from swarmgate.gates.verbs.run import judge
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.views.record import GateRunView, GateView, RuleView
from swarmgate.server.services.views.view import Page
from swarmgate.server.store.model import Store

_KIND = "gate-runs"
_KEPT_S = 24 * 3600.0
"""Seconds for which the report of a run is kept."""


@dataclass(frozen=True)
class Gates:
    """The gates of the projects of a server.

    Attributes:
        access: who may see what.
        acting: works in the folder of a goal.
        store: of reports.
        turns: as many runs of gates go on at once; the others wait.
    """

    access: Access
    acting: Acting
    store: Store
    turns: asyncio.Semaphore
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False, repr=False)

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
        self, who: Principal, goal: str, *, base: str = "", everything: bool = False, only: tuple[str, ...] = ()
    ) -> GateRunView:
        """Begins a run of the gates over the work tree of a goal; no file is changed.

        Args:
            who: asks; an operator.
            goal: its id.
            base: judge what changed since this revision; empty: what is not committed.
            everything: judge every file whole.
            only: these gates; empty: all that are on.

        Raises:
            UsageError: options do not go together, or there is no such gate.
        """
        there = self._there(who, goal, Role.OPERATOR)
        request = Request(Path(there.path), base, everything=everything, fix=False)
        request.check()
        known = await asyncio.to_thread(lambda: {each.id for each in load(Path(there.path))})
        if missing := [each for each in only if each not in known]:
            raise UsageError(f"There is no gate {missing[0]}.", hint=f"The gates are {', '.join(sorted(known))}.")
        view = GateRunView(id=f"j-{secrets.token_hex(6)}", goal=goal, state="working")
        await self._keep(view)
        task = asyncio.create_task(self._run(who, there, request, only, view), name=view.id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return view

    async def result(self, who: Principal, run: str) -> GateRunView:
        """A run of the gates, with its report where it is over.

        Raises:
            NotFound: there is none, or none any more, or none that may be seen.
        """
        kept = await self.store.get(_KIND, run)
        if kept is None:
            raise unknown("run of gates")
        view = GateRunView.model_validate_json(kept)
        self.access.goal(who, view.goal)
        if view.state == "working" and not self._at_work(run):
            return view.model_copy(update={"state": "failed", "problem": "the server ended before it was over"})
        return view

    # --- inside ---

    def _at_work(self, run: str) -> bool:
        return any(task.get_name() == run for task in self._tasks)

    async def _run(
        self, who: Principal, goal: Goal, request: Request, only: tuple[str, ...], view: GateRunView
    ) -> None:
        """Judges, and keeps what came of it."""
        try:
            async with self.turns:
                judged = await asyncio.to_thread(judge, request, only=only)
            clean = await self.acting.decide(who, goal, lambda swarm: swarm.project.cleaner())
            told = {"about": judged.about, "verdict": judged.report.verdict, "report": judged.report}
            done = cleaned(view.model_copy(update={"state": "complete", **told}), clean)
        except SwarmError as error:
            told = {"problem": f"{error.message} {error.hint}".strip(), "code": error.code}
            done = view.model_copy(update={"state": "failed", **told})
        await self._keep(done)

    async def _keep(self, view: GateRunView) -> None:
        await self.store.put(_KIND, view.id, view.model_dump_json().encode(), ttl_s=_KEPT_S)

    def _there(self, who: Principal, goal: str, role: Role) -> Goal:
        found = self.access.goal(who, goal, role)
        if not self.access.goals_there.ready(found):
            raise unknown("work tree yet")
        return found


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

"""Who speaks in a project: its roles with their models, and the agents of its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.reports.models import role_models
from swarmgate.errors import SwarmError
from swarmgate.llm.families import family
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.record import AgentView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Agents:
    """The agents of the projects of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
    """

    access: Access
    readings: Readings

    async def list(self, who: Principal, *, repo: str = "", goal: str = "") -> Page[AgentView]:
        """The roles and agents of one goal, or of all projects that may be seen, each once a repository."""
        goals = (self.access.goal(who, goal),) if goal else self.access.goals(who, repo)
        found = await asyncio.gather(*map(self.of, goals))
        rows = {(row.repo, row.kind, row.name): row for several in reversed(found) for row in several}
        return Page[AgentView](items=tuple(rows[key] for key in sorted(rows)))

    async def of(self, goal: Goal) -> tuple[AgentView, ...]:
        """Those of one goal; none where its settings cannot be read."""
        try:
            return await self.readings.view(goal, "agents", lambda reading: tuple(_agents(reading)), lasting=False)
        except SwarmError:  # the list of goals says why
            return ()


def _agents(reading: Reading) -> Iterator[AgentView]:
    repo, project = reading.goal.repo, reading.swarm.project
    for name, each in role_models(project.config, project.folder.root).items():
        yield AgentView(repo=repo, name=name, kind="role", role=name, model=each.model, family=each.family)
    for name, told in reading.swarm.council.agents().items():
        model = str(told.get("model") or "")
        found = AgentView(
            repo=repo,
            name=name,
            kind="agent",
            role=str(told.get("role") or ""),
            model=model,
            family=family(model) if model else "",
            description=str(told.get("description") or ""),
            problem=str(told.get("problem") or ""),
        )
        yield cleaned(found, reading.clean)

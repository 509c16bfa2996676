"""What else the command line looks at in a project: drift, handoff, doctor, preflight, automation, its components."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import UsageError
from swarmgate.gates.verbs import sbom
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.operations.operations import Operations
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.operation import Kind, OperationView, Result
from swarmgate.server.services.views.record import (
    AutomationView,
    CheckView,
    DoctorView,
    DriftView,
    HandoffView,
    PreflightView,
    SbomView,
)

_SPEC = "1.6"
"""The version of CycloneDX."""


@dataclass(frozen=True)
class Checks:
    """Looks at the projects of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
        acting: looks where that starts programs.
        operations: such looks are some.
    """

    access: Access
    readings: Readings
    acting: Acting
    operations: Operations

    async def drift(self, who: Principal, goal: str) -> DriftView:
        """Decisions on record against what came after them."""
        return await self.readings.view(self._there(who, goal), "drift", _drift, lasting=False)

    async def handoff(self, who: Principal, goal: str) -> HandoffView:
        """One page on where the work stands, for somebody else; nothing is written."""
        return await self.readings.view(self._there(who, goal), "handoff", _handoff, lasting=False)

    async def automation(self, who: Principal, goal: str) -> AutomationView:
        """What happens beside the loop, and where it was switched on."""
        return await self.readings.view(self._there(who, goal), "automation", _automation, lasting=False)

    async def doctor(self, who: Principal, goal: str, *, token: str = "") -> OperationView:
        """Begins to look whether everything is there that the work needs; for operators, since it starts the tools."""
        return await self._begin(who, goal, "doctor", _doctor, token)

    async def preflight(self, who: Principal, goal: str, *, token: str = "") -> OperationView:
        """Begins to look whether the current phase can begin; for operators, since it runs what a phase needs."""
        return await self._begin(who, goal, "preflight", _preflight, token)

    async def sbom(self, who: Principal, goal: str) -> SbomView:
        """The components that manifests and lock files of the work tree name.

        Raises:
            NotFound: there is nothing to list.
        """
        return await self.readings.view(self._there(who, goal), "sbom", _sbom, lasting=False)

    async def _begin(
        self, who: Principal, goal: str, kind: Kind, look: Callable[[str, Swarm], Result], token: str
    ) -> OperationView:
        there, looked = self._there(who, goal, Role.OPERATOR), partial(look, goal)
        return await self.operations.begin(
            who, there, kind, lambda: self.acting.decide(who, there, looked, apart=True), token=token
        )

    def _there(self, who: Principal, goal: str, role: Role = Role.VIEWER) -> Goal:
        found = self.access.goal(who, goal, role)
        if not self.access.goals_there.ready(found):
            raise unknown("work tree yet")
        return found


def _drift(reading: Reading) -> DriftView:
    report = cleaned(reading.swarm.automation.drift(), reading.clean)
    return DriftView(goal=reading.goal.id, seq=reading.state.seq, report=report)


def _handoff(reading: Reading) -> HandoffView:
    found = cleaned(reading.swarm.automation.handoff(write=False), reading.clean)
    return HandoffView(goal=reading.goal.id, seq=found.seq, handoff=found)


def _automation(reading: Reading) -> AutomationView:
    report = cleaned(reading.swarm.automation.capabilities(), reading.clean)
    return AutomationView(goal=reading.goal.id, report=report)


def _doctor(goal: str, swarm: Swarm) -> DoctorView:
    checks = tuple(
        CheckView(name=each.name, looked_at=each.looked_at, problems=each.problems, warnings=each.warnings)
        for each in swarm.doctor()
    )
    passed = not any(each.problems for each in checks)
    return cleaned(DoctorView(goal=goal, passed=passed, checks=checks), swarm.project.cleaner())


def _preflight(goal: str, swarm: Swarm) -> PreflightView:
    return PreflightView(goal=goal, report=cleaned(swarm.automation.preflight(), swarm.project.cleaner()))


def _sbom(reading: Reading) -> SbomView:
    try:
        bill = sbom.make(Path(reading.goal.path), spec=_SPEC, environment=False, everything=False)
    except UsageError as error:
        raise unknown("component") from error
    found = SbomView(
        goal=reading.goal.id,
        components=len(bill.components),
        unreadable=bill.unreadable,
        document=json.loads(bill.document),
    )
    return cleaned(found, reading.clean)

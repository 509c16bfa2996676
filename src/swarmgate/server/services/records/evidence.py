"""The evidence of a goal: how complete it is, which files there are, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swarmgate.domain.evidence.report import Standing
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.reports.goal import GoalEvidence, read_goal
from swarmgate.errors import UsageError
from swarmgate.ledger.evidence.archive import read_plain
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.server.accounts.model import Principal
from swarmgate.server.runs.model import Goal
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.record import EvidenceContent, EvidenceFile, EvidenceFiles, EvidenceView

_TYPES = {".json": "application/json", ".patch": "text/x-diff"}
_LONGEST = 2_000_000
"""Bytes of a file that are shown."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of the goals of a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
    """

    access: Access
    readings: Readings

    async def report(self, who: Principal, goal: str, *, task: str = "") -> EvidenceView:
        """How complete the evidence of every attempt is, of all tasks or of one.

        Raises:
            NotFound: the plan has no such task.
        """
        return await self.readings.view(self._there(who, goal), ("evidence", task), _report(task), lasting=False)

    async def list(self, who: Principal, goal: str, task: str, attempt: int) -> EvidenceFiles:
        """The files of one attempt, as the ledger has them.

        Raises:
            NotFound: there is no such attempt.
        """
        there, name = self._there(who, goal), ("files", task, attempt)
        return await self.readings.view(there, name, _files(task, attempt), lasting=False)

    async def read(self, who: Principal, goal: str, task: str, attempt: int, name: str) -> EvidenceContent:
        """One file, as text without keys.

        Raises:
            NotFound: the ledger names no such file, or it is gone, or is not what was recorded.
        """
        there, key = self._there(who, goal), ("file", task, attempt, name)
        return await self.readings.view(there, key, _content(task, attempt, name), lasting=False)

    def _there(self, who: Principal, goal: str) -> Goal:
        found = self.access.goal(who, goal)
        if not self.access.goals_there.ready(found):
            raise unknown("evidence yet")
        return found


def _report(task: str) -> Callable[[Reading], EvidenceView]:
    def make(reading: Reading) -> EvidenceView:
        try:
            report = reading.swarm.automation.evidence(task)
        except UsageError as error:
            raise unknown("task") from error
        return EvidenceView(goal=reading.goal.id, seq=reading.state.seq, report=cleaned(report, reading.clean))

    return make


def _recorded(reading: Reading, task: str, attempt: int) -> tuple[GoalEvidence, ...]:
    """What the ledger has of an attempt: only what it names is ever read, so that no path comes from a request.

    Raises:
        NotFound: there is none.
    """
    try:
        record = read_goal(reading.swarm.project)
    except UsageError as error:
        raise unknown("evidence") from error
    found = tuple(each for each in record.evidence if each.task == task and each.attempt == attempt)
    if not found:
        raise unknown("attempt")
    return found


def _files(task: str, attempt: int) -> Callable[[Reading], EvidenceFiles]:
    def make(reading: Reading) -> EvidenceFiles:
        store = EvidenceStore(reading.swarm.folder)
        files = []
        for each in _recorded(reading, task, attempt):
            path = store.place(task, attempt, each.file)
            size = path.stat().st_size if each.standing is Standing.PRESENT else 0
            standing = str(each.standing or Standing.MISSING)
            files.append(EvidenceFile(name=each.file, size=size, sha256=each.sha256, standing=standing))
        return EvidenceFiles(
            goal=reading.goal.id, task=task, attempt=attempt, seq=reading.state.seq, files=tuple(files)
        )

    return make


def _content(task: str, attempt: int, name: str) -> Callable[[Reading], EvidenceContent]:
    def make(reading: Reading) -> EvidenceContent:
        found = next((each for each in _recorded(reading, task, attempt) if each.file == name), None)
        if found is None or found.standing is not Standing.PRESENT:
            raise unknown("file")
        path = EvidenceStore(reading.swarm.folder).place(task, attempt, name)
        try:
            text = read_plain(path)[:_LONGEST].decode("utf-8", "replace")
        except OSError as error:
            raise unknown("file") from error
        media_type = _TYPES.get(path.suffix, "text/plain")
        return EvidenceContent(name=name, sha256=found.sha256, media_type=media_type, text=reading.clean(text))

    return make

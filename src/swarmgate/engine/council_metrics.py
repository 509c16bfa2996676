"""The facade of the council: the metrics of all patterns, computed from what is on record when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from swarmgate.council.patterns import pattern
from swarmgate.council.records import PART_OF
from swarmgate.council.shared import Shared
from swarmgate.domain.consensus import DecisionOutcome
from swarmgate.domain.critique import CritiqueOutcome
from swarmgate.domain.metrics import PATTERNS, Execution, PatternMetrics, PatternName, measured
from swarmgate.domain.orchestration import Orchestration
from swarmgate.domain.orchestration_places import PATTERN, places
from swarmgate.engine.in_project import InProject
from swarmgate.errors import SwarmError
from swarmgate.ledger import executions
from swarmgate.ledger.sessions import Session, by_record

_RESULT = "result.json"
_EARLY = {"consensus", "convergence"}


class Metrics:
    """Metrics of one project."""

    def __init__(self, shared: InProject) -> None:
        self._shared, self._project = shared, shared.project

    def metrics(self) -> tuple[PatternMetrics, ...]:
        """What is on record, a line each for the patterns that were used, and `total` last; nothing: there is nothing.

        A record that is damaged counts as one, and is named.

        Raises:
            LedgerError: a whole store cannot be read.
        """
        return measured(self.executions())

    def executions(self) -> Iterator[Execution]:
        """Every execution on record."""
        folder, sessions = self._project.folder, by_record(self._project.folder)
        records = [self._execution(name, sessions) for name in self._shared.records.ids()]
        steps = {place: each.id for each in records if each.pattern == PATTERN for place in self._steps(each)}
        for each in (*executions.debates(folder), *executions.dispatches(folder), *executions.chats(folder)):
            whole = steps.get((each.pattern, each.id), "")
            yield each.model_copy(update={"part_of": whole}) if whole else each
        for name in Shared(self._project).records.ids():
            yield self._driven(name, sessions)
        yield from records

    def _execution(self, name: str, sessions: Mapping[str, Iterable[Session]]) -> Execution:
        """One record, from its manifest and its sealed result; of one that is not complete, what its calls used."""
        values: dict[str, Any] = {"id": name}
        try:
            manifest = self._shared.records.manifest(name)
            self._shared.records.check_rounds(name)
            found = self._result(manifest.pattern, name)
        except SwarmError as error:
            return Execution(id=name, pattern=self._pattern(name), status="damaged", why=error.message)
        ended = manifest.status in {"complete", "failed"}
        whole = manifest.status == "complete"
        part_of = manifest.more.get(PART_OF, "")
        values |= {
            "pattern": manifest.pattern,
            "status": manifest.status if ended else "open",
            "rounds": len(manifest.rounds) if whole else None,
            "usage": manifest.usage if whole else executions.at_least(sessions, name, manifest.usage),
            "seconds": manifest.seconds if ended else None,
            "part_of": part_of if isinstance(part_of, str) else "",
        }
        return Execution.model_validate({**values, **found})

    def _driven(self, id: str, sessions: Mapping[str, Iterable[Session]]) -> Execution:  # noqa: A002 - the field's name
        """One record that the driver holds; of an unknown pattern where its first line cannot be read."""
        shared, name = Shared(self._project), "unknown"
        values: dict[str, Any] = {"id": id}
        try:
            name = shared.records.begun(id).pattern
            rules = pattern(name)
            standing = shared.record(rules, id).standing
        except SwarmError as error:
            return Execution.model_validate({**values, "pattern": name, "status": "damaged", "why": error.message})
        whole, ended = standing.over, standing.over or standing.status == "failed"
        values |= {
            "pattern": name,
            "status": standing.status if ended else "open",
            "usage": standing.usage if whole else executions.at_least(sessions, id, standing.usage),
            "seconds": standing.seconds if ended else None,
            "part_of": standing.part_of,
            **rules.measures(standing),
        }
        return Execution.model_validate(values)

    def _steps(self, orchestration: Execution) -> frozenset[tuple[str, str]]:
        """Pattern and id of the records that an orchestration has: debates and dispatches do not say whose they are."""
        if orchestration.status == "damaged":
            return frozenset()
        try:
            asked = Orchestration.model_validate(self._shared.records.manifest(orchestration.id).request)
        except (SwarmError, ValidationError):  # of another version
            return frozenset()
        return frozenset(places(asked))

    def _pattern(self, name: str) -> PatternName:
        """What a damaged record says that it is of."""
        with suppress(SwarmError, ValueError, AttributeError, RecursionError):
            said = json.loads(self._shared.records.get(name, "manifest.json") or "").get("pattern")
            return next((each for each in PATTERNS if each == said), "unknown")
        return "unknown"

    def _result(self, pattern: str, name: str) -> dict[str, float | bool]:
        """What only the result of a decision or critique says."""
        if pattern == "decision" and (decided := self._shared.records.sealed(name, _RESULT, DecisionOutcome)):
            return {"converged": decided.ended_by in _EARLY, "score": decided.score}
        if pattern == "critique" and (improved := self._shared.records.sealed(name, _RESULT, CritiqueOutcome)):
            return {"converged": improved.passed, "improvement": improved.improvement}
        return {}

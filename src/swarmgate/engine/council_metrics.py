"""The facade of the council: the metrics of all patterns, computed from what is on record when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from swarmgate.domain.consensus import DecisionOutcome
from swarmgate.domain.critique import CritiqueOutcome
from swarmgate.domain.metrics import PATTERNS, Execution, PatternMetrics, PatternName, measured
from swarmgate.engine.in_project import InProject
from swarmgate.errors import SwarmError
from swarmgate.ledger import executions

_RESULT = "result.json"
_EARLY = {"consensus", "convergence"}


class Metrics(InProject):
    """Metrics of one project; a part of `engine.council.Council`."""

    def metrics(self) -> tuple[PatternMetrics, ...]:
        """What is on record, a line each for the patterns that were used, and `total` last; nothing: there is nothing.

        A record that is damaged counts as one, and is named.

        Raises:
            LedgerError: a whole store cannot be read.
        """
        return measured(self.executions())

    def executions(self) -> Iterator[Execution]:
        """Every execution on record."""
        folder = self._swarm.folder
        yield from executions.debates(folder)
        yield from executions.dispatches(folder)
        yield from executions.chats(folder)
        yield from (self._execution(name) for name in self._records.ids())

    def _execution(self, name: str) -> Execution:
        """One record, from its manifest and its sealed result."""
        values: dict[str, Any] = {"id": name}
        try:
            manifest = self._records.manifest(name)
            found = self._result(manifest.pattern, name)
        except SwarmError as error:
            return Execution(id=name, pattern=self._pattern(name), status="damaged", why=error.message)
        ended = manifest.status in {"complete", "failed"}
        values |= {
            "pattern": manifest.pattern,
            "status": manifest.status if ended else "open",
            "rounds": len(manifest.rounds) if manifest.status == "complete" else None,
            "usage": manifest.usage,
            "seconds": manifest.seconds if ended else None,
        }
        return Execution.model_validate({**values, **found})

    def _pattern(self, name: str) -> PatternName:
        """What a damaged record says that it is of."""
        with suppress(SwarmError, ValueError, AttributeError, RecursionError):
            said = json.loads(self._records.get(name, "manifest.json") or "").get("pattern")
            return next((each for each in PATTERNS if each == said), "unknown")
        return "unknown"

    def _result(self, pattern: str, name: str) -> dict[str, float | bool]:
        """What only the result of a decision or critique says."""
        if pattern == "decision" and (decided := self._records.sealed(name, _RESULT, DecisionOutcome)):
            return {"converged": decided.ended_by in _EARLY, "score": decided.score}
        if pattern == "critique" and (improved := self._records.sealed(name, _RESULT, CritiqueOutcome)):
            return {"converged": improved.passed, "improvement": improved.improvement}
        return {}

"""The facade of the council: the metrics of all patterns, computed from what is on record when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from swarmgate.council.patterns import pattern
from swarmgate.council.records import PART_OF
from swarmgate.council.shared import Shared
from swarmgate.domain.metrics import PATTERNS, Execution, PatternMetrics, PatternName, measured
from swarmgate.engine.in_project import InProject
from swarmgate.errors import SwarmError
from swarmgate.ledger import executions
from swarmgate.ledger.sessions import Session, by_record


class Metrics:
    """Metrics of one project."""

    def __init__(self, shared: InProject, held: Shared) -> None:
        self._shared, self._held, self._project = shared, held, shared.project

    def metrics(self) -> tuple[PatternMetrics, ...]:
        """What is on record, a line each for the patterns that were used, and `total` last; nothing: there is nothing.

        A record that is damaged counts as one, and is named.

        Raises:
            LedgerError: a whole store cannot be read.
        """
        return measured(self.executions())

    def executions(self) -> Iterator[Execution]:
        """Every execution on record."""
        sessions = by_record(self._project.folder)
        records = [self._execution(name, sessions) for name in self._shared.records.ids()]
        records += [each for name in self._held.records.ids() if (each := self._standing(name, sessions))]
        yield from records

    def _execution(self, name: str, sessions: Mapping[str, Iterable[Session]]) -> Execution:
        """One record, from its manifest; of one that is not complete, what its calls used."""
        values: dict[str, Any] = {"id": name}
        try:
            manifest = self._shared.records.manifest(name)
            self._shared.records.check_rounds(name)
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
        return Execution.model_validate(values)

    def _standing(self, name: str, sessions: Mapping[str, Iterable[Session]]) -> Execution | None:
        """One record, from its fold; None: it is the debate of a dispatch, which is an execution of that.

        Of one that is not complete, what its calls used counts.
        """
        records, known = self._held.records, "unknown"
        try:
            begun = records.begun(name)
            known = next((each for each in PATTERNS if each == begun.pattern), known)
            if known == "debate" and self._is_dispatch(begun.part_of):
                return None
            rules = pattern(begun.pattern)
            standing = records.open(rules, name).standing
        except SwarmError as error:
            return Execution.model_validate({"id": name, "pattern": known, "status": "damaged", "why": error.message})
        ended = standing.over or standing.status == "failed"
        values = {
            "id": name,
            "pattern": known,
            "status": standing.status if ended else "open",
            "usage": standing.usage if standing.over else executions.at_least(sessions, name, standing.usage),
            "seconds": standing.seconds if ended else None,
            "part_of": standing.part_of,
        }
        return Execution.model_validate({**values, **(rules.measures(standing) if standing.over else {})})

    def _is_dispatch(self, name: str) -> bool:
        """Whether that is a dispatch; of one that is damaged nobody knows."""
        with suppress(SwarmError):
            return bool(name) and self._held.records.begun(name).pattern == "dispatch"
        return False

    def _pattern(self, name: str) -> PatternName:
        """What a damaged record says that it is of."""
        with suppress(SwarmError, ValueError, AttributeError, RecursionError):
            said = json.loads(self._shared.records.get(name, "manifest.json") or "").get("pattern")
            return next((each for each in PATTERNS if each == said), "unknown")
        return "unknown"

"""Computes the metrics of all council patterns from their records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from swarmgate.council.patterns import pattern
from swarmgate.council.shared import Shared
from swarmgate.domain.metrics import PATTERNS, Execution, PatternMetrics, measured
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError


class Metrics:
    """Metrics of one project."""

    def __init__(self, shared: Shared) -> None:
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
        for name in self._shared.records.ids():
            if found := self._execution(name):
                yield found

    def _execution(self, name: str) -> Execution | None:
        """One record, from its fold; None: it is the debate of a dispatch, which is an execution of that.

        Of one that is not complete, what its calls used counts.
        """
        records, known = self._shared.records, "unknown"
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
            "usage": standing.usage if standing.over else self._at_least(name, standing.usage),
            "seconds": standing.seconds if ended else None,
            "part_of": standing.part_of,
        }
        return Execution.model_validate({**values, **(rules.measures(standing) if standing.over else {})})

    def _at_least(self, name: str, known: Usage) -> Usage:
        """What was used under a record that is not complete: what it says, or more, where the calls say so."""
        found = self._project.used_under(name)
        return found if found.calls > known.calls else known

    def _is_dispatch(self, name: str) -> bool:
        """Whether that is a dispatch; of one that is damaged nobody knows."""
        with suppress(SwarmError):
            return bool(name) and self._shared.records.begun(name).pattern == "dispatch"
        return False

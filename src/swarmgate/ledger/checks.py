"""The result of one check of the audit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the audit. `problems` are empty when everything fits; the first one is the first that does not."""

    name: str
    looked_at: str
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything fitted."""
        return not self.problems

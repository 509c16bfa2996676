"""The result of one check of the audit."""

from __future__ import annotations

from dataclasses import dataclass

from swarmgate.errors import SwarmError


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the audit. `problems` are empty when everything fits; the first one is the first that does not.

    `warnings` are what the user should know though it fits.
    """

    name: str
    looked_at: str
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything fitted."""
        return not self.problems

    @classmethod
    def failed(cls, name: str, error: SwarmError, looked_at: str = "") -> Check:
        """The check that an error ended, with what to do about it."""
        return cls(name, looked_at, (f"{error.message} -> {error.hint}" if error.hint else error.message,))

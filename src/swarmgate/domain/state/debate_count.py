"""Counts the debates over reviews in a project and what they cost or saved, from `debate_weighed` events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from swarmgate.domain.events.debate import DebateWeighed


@dataclass(frozen=True)
class DebateCount:
    """How often reviews were debated, over all goals.

    `weighed` reviews were looked at, `contested` ones had something that spoke for a debate, `held` were debated.
    `tokens` were used for first looks and debates, `debated` for debates alone; `saved` is what debates would have
    used that were not held, by estimate. `deferral` is the newest measurement on record that speaks against debates.
    """

    weighed: int = 0
    contested: int = 0
    held: int = 0
    tokens: int = 0
    debated: int = 0
    saved: int = 0
    deferral: str = ""

    @property
    def skipped(self) -> int:
        """Contested reviews that were not debated."""
        return self.contested - self.held

    def with_(self, event: DebateWeighed) -> DebateCount:
        """The count with one more review."""
        if event.deferred:
            return replace(self, deferral=event.why)
        return replace(
            self,
            weighed=self.weighed + 1,
            contested=self.contested + (event.held or bool(event.triggers)),
            held=self.held + event.held,
            tokens=self.tokens + event.tokens,
            debated=self.debated + event.debated,
            saved=self.saved + event.saved,
        )

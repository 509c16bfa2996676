"""For people: see `gates.report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.report import lines

if TYPE_CHECKING:
    from swarmgate.domain.finding import GateReport


def render(report: GateReport, about: str) -> str:
    """One line a gate, what was fixed, what was found, the verdict."""
    return "\n".join(lines(report, about))

"""What gates rejected an attempt for, as `swarm gates run` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.finding import GateResult
    from swarmgate.domain.screen import Screen


def lines(results: Sequence[GateResult], screen: Screen) -> list[str]:
    """The findings by file, then a row for each gate."""
    return report.rejection(results, screen)

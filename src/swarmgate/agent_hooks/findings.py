"""Words findings for a model: a line each, what blocks and nothing else, without a secret or a line break of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import GateStatus, Standing
from swarmgate.domain.text.redaction import redact
from swarmgate.gates.formats.escaping import flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.domain.review.finding import GateReport, GateResult

MOST = 30
"""Findings that are listed; of the others the number is told."""
_LONGEST = 400
"""Characters of a line."""


def listed(report: GateReport) -> str:
    """What blocks, a line each; empty: nothing does."""
    lines = [line for result in report.blocking for line in _of(result)]
    shown = [redact(flat(line)[:_LONGEST]) for line in lines[:MOST]]
    return "\n".join([*shown, *([f"and {len(lines) - MOST} more"] if len(lines) > MOST else [])])


def _of(result: GateResult) -> Iterator[str]:
    found = [each for each in result.findings if result.standing(each) is Standing.BLOCKS]
    for each in found:
        fix = f" Fix: {each.suggestion}" if each.suggestion else ""
        yield f"{each.place} {each.severity.value} {each.rule}: {each.message}{fix} [{result.gate}]"
    if not found or result.status is GateStatus.ERROR:
        yield f"{result.gate}: {result.reason}"

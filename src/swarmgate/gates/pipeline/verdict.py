"""Decides the result of one gate from its scanner's findings: what blocks, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, GateResult, GateStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from swarmgate.domain.review.finding import Unchecked
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.outcome import Outcome

_NOTHING = "it looked at nothing"


def judge(
    gate: GateDefinition, outcome: Outcome, *, note: str = "", seconds: float, required: Collection[str] = ()
) -> GateResult:
    """Decide the result of a gate; what is `required` and was not checked is an ERROR."""
    ordered = sorted(outcome.findings, key=lambda each: (each.path, each.line, each.rule, each.column))
    lacking = [each for each in outcome.unchecked if each.what in required and each.what in gate.subjects]
    status, reason = _verdict(gate, outcome, ordered, lacking)
    weakened = f"weakened by {gate.source}: {', '.join(gate.weakened)}" if gate.weakened else ""
    return GateResult(
        gate=gate.id,
        status=status,
        required=gate.required or any(what in required for what in gate.subjects),
        blocks_from=gate.severity,
        reason="; ".join(filter(None, (reason, *outcome.notes, note, weakened))),
        findings=tuple(ordered),
        files=outcome.files,
        rules=outcome.rules,
        seconds=seconds,
        tool=outcome.tool,
        missing=outcome.missing or (bool(lacking) and not outcome.error),
        killed=outcome.killed,
        unchecked=outcome.unchecked,
    )


def _verdict(
    gate: GateDefinition, outcome: Outcome, findings: Sequence[Finding], lacking: Sequence[Unchecked]
) -> tuple[GateStatus, str]:
    if outcome.error:
        return GateStatus.ERROR, outcome.error
    if outcome.failure:
        return GateStatus.FAIL, outcome.failure
    if any(each.counts and each.severity.rank >= gate.severity.rank for each in findings):
        return GateStatus.FAIL, f"new at or above {gate.severity}"
    if lacking:
        reason = "; ".join(f"{each.what}: {each.why}" for each in lacking)
        return GateStatus.ERROR, f"not checked, and required (gates.require): {reason}"
    if outcome.skip or not (outcome.files or findings):
        return GateStatus.SKIP, outcome.skip or _NOTHING
    return GateStatus.PASS, ""

"""From what a scanner said to the result of its gate: what blocks, what is listed, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Finding, GateResult, GateStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.outcome import Outcome

FINDINGS_PER_RULE = 50
"""More of one kind tells a reader nothing new."""


def judge(
    gate: GateDefinition, outcome: Outcome, *, note: str = "", seconds: float, cap: int = FINDINGS_PER_RULE
) -> GateResult:
    """The result of a gate from what its scanner said, with at most `cap` findings of a rule."""
    ordered = sorted(outcome.findings, key=lambda each: (each.path, each.line, each.rule, each.column))
    blocking = [each for each in ordered if each.counts and each.severity.rank >= gate.severity.rank]
    shown, more = _cap(ordered, cap)
    status, reason = _verdict(gate, outcome, ordered, blocking)
    lived_with = sum(bool(each.accepted) for each in ordered)
    accepted = f"{lived_with} accepted" if lived_with else ""
    weakened = f"weakened by {gate.source}: {', '.join(gate.weakened)}" if gate.weakened else ""
    return GateResult(
        gate=gate.id,
        status=status,
        required=gate.required,
        blocks_from=gate.severity,
        reason="; ".join(filter(None, (reason, *outcome.notes, note, accepted, more, weakened))),
        findings=shown,
        files=outcome.files,
        rules=outcome.rules,
        seconds=seconds,
        tool=outcome.tool,
        missing=outcome.missing,
        killed=outcome.killed,
    )


def _verdict(
    gate: GateDefinition, outcome: Outcome, findings: Sequence[Finding], blocking: Sequence[Finding]
) -> tuple[GateStatus, str]:
    if outcome.error:
        return GateStatus.ERROR, outcome.error
    if outcome.failure:
        return GateStatus.FAIL, outcome.failure
    if blocking:
        old = sum(not each.new for each in findings)
        before = f", {old} stood there before" if old else ""
        return GateStatus.FAIL, f"{len(blocking)} new at or above {gate.severity}{before}"
    if outcome.skip:
        return GateStatus.SKIP, outcome.skip
    return GateStatus.PASS, ""


def _cap(findings: Sequence[Finding], most: int) -> tuple[tuple[Finding, ...], str]:
    """At most so many findings a rule, new and severe ones first, in the given order; and what is left out."""
    ranked = sorted(range(len(findings)), key=lambda n: (not findings[n].counts, -findings[n].severity.rank, n))
    seen: Counter[str] = Counter()
    kept = set()
    for n in ranked:
        seen[findings[n].rule] += 1
        if seen[findings[n].rule] <= most:
            kept.add(n)
    more = [f"{rule}: {count - most} more not listed" for rule, count in sorted(seen.items()) if count > most]
    return tuple(findings[n] for n in sorted(kept)), "; ".join(more)

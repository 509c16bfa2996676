"""Renders a gate report as one JSON object, with the verdict as a word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Standing
from swarmgate.gates.formats.escaping import in_json

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateReport


def render(report: GateReport, about: str) -> str:
    """The report as JSON text."""
    return in_json(json.dumps(document(report, about), indent=2, ensure_ascii=False))


def document(report: GateReport, about: str) -> dict[str, Any]:
    """The report as JSON-ready data; `verdict` is `passed`, `rejected` or `nothing judged`.

    `summary` is the last line that people see, `unchecked` what it says of what was not checked; `counts` add up to all
    findings.
    """
    fields: dict[str, Any] = {
        "verdict": report.verdict,
        "judged": about,
        "reason": report.reason,
        "summary": report.summary,
    }
    fields |= {"unchecked": [each.model_dump(include={"what", "why"}) for each in report.unchecked]}
    fields |= {"counts": {each.value: report.counts.get(each, 0) for each in Standing}}
    return fields | report.model_dump(mode="json")

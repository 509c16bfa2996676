"""Rejections as text for the next brief."""

from __future__ import annotations

from typing import Any

from swarmgate.agents.feedback import feedback_text
from swarmgate.domain.events import AttemptKind
from swarmgate.domain.evidence import Remark
from swarmgate.domain.finding import Severity
from swarmgate.domain.state import Attempt, Outcome


def attempt(number: int, outcome: Outcome, **more: Any) -> Attempt:
    fields: dict[str, Any] = {"kind": AttemptKind.CODER, "scope": (), "instructions": "", "tree": "", "seq": 1}
    return Attempt(number=number, outcome=outcome, started="", **{**fields, **more})


def test_stage_reason_and_remarks_are_told() -> None:
    remark = Remark(
        severity=Severity.HIGH, file="a.py", line=3, message="no exp", quote="payload = {}", suggestion="add exp"
    )
    attempts = [
        attempt(1, Outcome.REJECTED, stage="reviewer", reason="Missing claim", feedback=(remark,)),
        attempt(2, Outcome.INTERRUPTED, reason="stopped by the user"),
        attempt(3, Outcome.RUNNING),
    ]
    assert feedback_text(attempts, ("use argon2",)) == (
        "Attempt 1: REJECTED by reviewer: Missing claim\n"
        "- [high] a.py:3: no exp\n"
        "  quoted: payload = {}\n"
        "  suggestion: add exp\n"
        "\n"
        "Attempt 2: INTERRUPTED: stopped by the user\n"
        "\n"
        "The user says:\n"
        "- use argon2"
    )


def test_nothing_to_tell_is_nothing() -> None:
    assert feedback_text([attempt(1, Outcome.RUNNING)]) == ""

"""Rejections as text for the next brief."""

from __future__ import annotations

from typing import Any

from swarmgate.agents.briefs.feedback import feedback_text
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.state import Attempt, Outcome


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


def test_the_feedback_of_a_tenth_attempt_is_no_longer_than_that_of_a_sixth() -> None:
    remarks = tuple(Remark(severity=Severity.HIGH, message="m" * 9_000) for _ in range(20))
    attempts = [attempt(n, Outcome.REJECTED, stage="tests", reason="r" * 900, feedback=remarks) for n in range(1, 31)]
    sixth, tenth, last = (feedback_text(attempts[:count], ("n" * 50,) * count) for count in (5, 9, 29))
    assert len(sixth) <= len(tenth) <= len(sixth) + 50
    assert len(last) < 16_000
    assert last.startswith("24 attempts before these\n\nAttempt 25: REJECTED by tests: rrr")
    assert "Attempt 29: REJECTED by tests: " in last
    assert last.count("- [high] mmm") == 3
    assert "\n- and 17 more\n" in last
    assert last.count("\n- nnn") == 5


def test_an_interruption_does_not_hide_the_rejection_before_it() -> None:
    remark = Remark(severity=Severity.HIGH, message="no exp")
    attempts = [
        attempt(1, Outcome.REJECTED, stage="tests", reason="old", feedback=(remark,)),
        attempt(2, Outcome.REJECTED, stage="reviewer", reason="new", feedback=(remark,)),
        attempt(3, Outcome.INTERRUPTED, reason="crash"),
    ]
    assert feedback_text(attempts) == (
        "Attempt 1: REJECTED by tests: old\n\nAttempt 2: REJECTED by reviewer: new\n- [high] no exp\n\n"
        "Attempt 3: INTERRUPTED: crash"
    )

"""What earlier attempts were rejected for, as text for the architect's and the coder's next brief."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.domain.evidence import Remark, Review
from swarmgate.domain.state import Attempt, Outcome


def feedback_text(attempts: Iterable[Attempt], notes: Sequence[str] = ()) -> str:
    """Every ended attempt with stage, reason and remarks, the newest last, then the user's notes; empty for none."""
    ended = (attempt for attempt in attempts if attempt.outcome in (Outcome.REJECTED, Outcome.INTERRUPTED))
    parts = [_attempt(attempt) for attempt in ended]
    if notes:
        parts.append("The user says:\n" + "\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts)


def review_text(review: Review) -> str:
    """A verdict with its reasons."""
    return "\n".join([f"{review.verdict}: {review.summary}", *map(remark_text, review.findings)])


def remark_text(remark: Remark) -> str:
    """One finding: severity, place and message, then what it quotes and suggests."""
    place = f"{remark.file}:{remark.line}" if remark.file and remark.line else remark.file
    lines = [f"- [{remark.severity}] {place + ': ' if place else ''}{remark.message}"]
    if remark.quote:
        lines.append(f"  quoted: {remark.quote}")
    if remark.suggestion:
        lines.append(f"  suggestion: {remark.suggestion}")
    return "\n".join(lines)


def _attempt(attempt: Attempt) -> str:
    by = f" by {attempt.stage}" if attempt.stage else ""
    head = f"Attempt {attempt.number}: {attempt.outcome}{by}: {attempt.reason}"
    return "\n".join([head, *map(remark_text, attempt.feedback)])

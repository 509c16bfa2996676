"""Renders why earlier attempts were rejected, for the next brief of the architect and of the coder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.agents.briefs.brief import Section, bullets, cut, one_line
from swarmgate.domain.events.event import PhaseStage
from swarmgate.domain.review.evidence import Remark, Review
from swarmgate.domain.state.state import Attempt, Outcome, PhaseRecord
from swarmgate.domain.task.failure_patterns import Level, Observation

_EARLIER, _LINE = 4, 240
"""Attempts before the newest that have a line, and its characters."""

_REMARKS, _REMARK = 12_000, 3_000
"""Characters of the remarks of the newest attempt, and of one of them."""

_NOTES = 5
"""As many of the user's newest notes are told."""


def feedback_text(attempts: Iterable[Attempt], notes: Sequence[str] = ()) -> str:
    """The outcomes of the attempts so far, the newest last, then the user's notes; empty for none.

    The newest rejection is told in full. Of the others the last `_EARLIER` have a line each and the rest is counted:
    the brief of a tenth attempt is no longer than that of a sixth.
    """
    ended = [attempt for attempt in attempts if attempt.outcome in (Outcome.REJECTED, Outcome.INTERRUPTED)]
    newest = next((attempt for attempt in reversed(ended) if attempt.outcome is Outcome.REJECTED), None)
    others = [attempt for attempt in ended if attempt is not newest]
    counted, listed = others[:-_EARLIER], others[-_EARLIER:]
    parts = [f"{len(counted)} attempts before these"] if counted else []
    for attempt in ended:
        if attempt is newest:
            parts.append(_attempt(attempt))
        elif attempt in listed:
            parts.append(cut(one_line(_head(attempt)), _LINE, "..."))
    if notes:
        parts.append("The user says:\n" + "\n".join(f"- {note}" for note in notes[-_NOTES:]))
    return "\n\n".join(parts)


def patterns_section(observed: Iterable[Observation]) -> Section:
    """The section on failure patterns of the attempts so far; without text where there are none."""
    return Section(
        "What the attempts so far show",
        bullets(each.advice for each in observed),
        "Measured by swarmgate. Another attempt of the same kind will be rejected too.",
    )


def warning_section(observed: Iterable[Observation]) -> Section:
    """What the architect has to hear before anything else; without text below that level."""
    return Section(
        "STOP AND THINK: the attempts at this task repeat a pattern",
        bullets(each.text for each in observed if each.level >= Level.ARCHITECT),
        "swarmgate measured it. If it goes on, the task is stopped. Delegate differently: name the cause, change the "
        "approach, the order of the work or the scope, and say what must not be tried again.",
    )


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
    """An attempt with its remarks, as many as there is room for."""
    lines, room = [_head(attempt)], _REMARKS
    for number, remark in enumerate(attempt.feedback):
        text = cut(remark_text(remark), _REMARK, "...")
        if len(text) > room:
            lines.append(f"- and {len(attempt.feedback) - number} more")
            break
        room -= len(text)
        lines.append(text)
    return "\n".join(lines)


def _head(attempt: Attempt) -> str:
    by = f" by {attempt.stage}" if attempt.stage else ""
    return f"Attempt {attempt.number}: {attempt.outcome}{by}: {attempt.reason}"


def findings(record: PhaseRecord, stage: PhaseStage, round: int) -> str:  # noqa: A002 - the event's word
    """What reviewers of a phase objected to in a round at a stage; empty where none did."""
    given = (each for each in record.reviews if (each.stage, each.round) == (stage, round))
    return "\n\n".join(review_text(each.review) for each in given if not each.review.approved and not each.failed)

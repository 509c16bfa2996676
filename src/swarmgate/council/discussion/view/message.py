"""Renders one message of a discussion, and the measures of a round, for participants and people."""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.agents.briefs.brief import one_line
from swarmgate.council.discussion.findings import Assessment
from swarmgate.council.discussion.model import Framing, Link, Measured, Message, Position, Shift, ShiftKind, Step
from swarmgate.council.discussion.view import entries

QUOTE = "| "
"""What stands before each line of a participant."""


def quoted(text: str) -> Iterator[str]:
    """The lines of a participant, each behind a bar, whatever it ends them with."""
    return (f"{QUOTE}{line}".rstrip() for line in text.strip("\r\n").splitlines())


def facts(message: Message) -> Iterator[str]:
    """All typed fields of a message but its prose, a line each."""
    yield from map(_link, message.links)
    if message.position:
        yield from _position(message.position, declared=message.step is Step.POSITION)
    if message.would_change_if:
        yield f"would change if: {one_line(message.would_change_if)}"
    if message.shift:
        yield _shift(message.shift)
    if message.framing:
        yield from _framing(message.framing)
    if message.assessment:
        yield from _assessment(message.assessment)


def _link(link: Link) -> str:
    steel_man = f"; steel-man: {one_line(link.steel_man)}" if link.steel_man else ""
    comment = f"; why: {one_line(link.comment)}" if link.comment else ""
    return f"{link.kind} {link.to}{steel_man}{comment}"


def _position(position: Position, *, declared: bool) -> Iterator[str]:
    unknown = "confidence unknown" if declared else "as sure as before"
    sure = unknown if position.confidence is None else f"confidence {position.confidence:.2f}"
    yield f"position, {sure}: {one_line(position.position)}"
    if position.conditions:
        yield f"conditions: {'; '.join(map(one_line, position.conditions))}"
    if position.would_change_if:
        yield f"would change if: {one_line(position.would_change_if)}"
    if position.key_risk:
        yield f"key risk: {one_line(position.key_risk)}"


def _shift(shift: Shift) -> str:
    if shift.refused:
        return f"position shift none: {shift.refused}"
    moved_by = f", moved by {', '.join(shift.cites)}" if shift.kind is not ShiftKind.NONE else ""
    before = f"; before: {one_line(shift.previous_position)}" if shift.previous_position else ""
    return f"position shift {shift.kind}{moved_by}{f': {one_line(shift.reason)}' if shift.reason else ''}{before}"


def _framing(framing: Framing) -> Iterator[str]:
    yield f"disagreement budget: {framing.disagreement_budget} of 10"
    for each in framing.fault_lines:
        between = f"{' against '.join(map(one_line, each.between))}: " if each.between else ""
        description = f" - {one_line(each.description)}" if each.description else ""
        yield f"fault line: {between}{one_line(each.axis)}{description}"
    for asked in framing.questions:
        yield f"question to {', '.join(asked.to) or 'all'}: {one_line(asked.text)}"


def _assessment(assessment: Assessment) -> Iterator[str]:
    yield f"scores, of 5: {', '.join(f'{name} {score}' for name, score in scores(assessment))}"
    for name in ("summary", "key_takeaway", "cause"):
        if text := getattr(assessment, name):
            yield f"{name.replace('_', ' ')}: {one_line(text)}"
    for group in entries.assessed(assessment):
        yield from (f"{_KINDS[group.title]}: {one_line(each.line)}" for each in group.entries)
    yield from (f"open question: {one_line(entries.question(each).line)}" for each in assessment.open_questions)
    focus = f": {one_line(assessment.focus)}" if assessment.focus else ""
    reason = f", because: {one_line(assessment.recommendation_reason)}" if assessment.recommendation_reason else ""
    yield f"recommends to go on with {assessment.recommendation}{focus}{reason}"


_KINDS = {"Insights": "insight", "Agreements, says the moderator": "agreed", "Active disagreements": "disagreed"}


def scores(assessment: Assessment) -> Iterator[tuple[str, int]]:
    """The scores that the moderator gave, 1 to 5, by name."""
    yield "genuine disagreement", assessment.genuine_disagreement
    yield "evidence", assessment.evidence_quality
    yield "steel-manning", assessment.steel_manning
    yield "novel insights", assessment.novel_insights
    yield "position evolution", assessment.position_evolution
    yield "overall", assessment.overall


def measured_line(number: int, measured: Measured) -> str:
    """The measures of a round, as participants read them."""
    return (
        f"Measured in round {number}: counters {measured.counters} ({measured.steel_mans} with a steel-man), "
        f"supports {measured.supports}, questions {measured.questions}, shifts of position {measured.shifts}; "
        f"disagreement of the whole round {measured.disagreement:g} of 10."
    )

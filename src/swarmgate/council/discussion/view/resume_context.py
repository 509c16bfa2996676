"""Renders `context/summary.md`: what somebody needs to know to take a discussion up, made from the record alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.discussion.argument.graph import graph, summary_of
from swarmgate.council.discussion.findings import Assessment
from swarmgate.council.discussion.model import DiscussionRecord, DiscussionRound, Measured
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.views.formatting import many
from swarmgate.council.views.markdown import item, section
from swarmgate.domain.text.markdown import line

SUMMARY = "context/summary.md"

_LEAST, _MOST = 1_500, 3_000
"""Characters of the whole text. A discussion of which there is less to tell has fewer."""

_BOUNDS = ((500, 12), (300, 10), (220, 8), (160, 6), (110, 5), (70, 4), (50, 3), (25, 2))
"""Characters of a line and lines of a section, from the widest to those with which any discussion fits."""

_ALL = "artifacts/synthesis.md"
_TITLE = 100
"""Characters of a topic in a heading."""


def summary(record: DiscussionRecord) -> str:
    """The text: at most 3,000 characters, and at least 1,500 where there is that much to tell.

    What does not fit is cut with `...`, and it is said how many lines are left out.
    """
    sections = list(_sections(record))
    fitting = (_document(record, sections, *bounds) for bounds in _BOUNDS)
    text = next((each for each in fitting if len(each) <= _MOST), _document(record, sections, *_BOUNDS[-1]))
    for title, lines in _more(record):
        found = _taken(lines, _MOST - len(text) - len(title) - 8, _LEAST - len(text) if title == _LAST else _MOST)
        text += "".join(f"\n{each}" for each in section(title, found))
    return text


def _document(record: DiscussionRecord, sections: Sequence[tuple[str, Sequence[str]]], size: int, most: int) -> str:
    topic = line(cut(one_line(record.discussion.topic), _TITLE, "..."))
    head = f"# Summary so far: {topic}\n\nDiscussion {record.discussion.id}: {line(phrases.bounds(record))}.\n"
    parts = [part for title, lines in sections for part in section(title, _bounded(lines, size, most))]
    return "\n".join((head, *parts))


def _bounded(lines: Sequence[str], size: int, most: int) -> Iterator[str]:
    for each in lines[:most]:
        yield item(cut(one_line(each), size, "..."))
    if len(lines) > most:
        yield f"- {many(len(lines) - most, 'more line')}: {_ALL}"


def _taken(lines: Iterator[str], room: int, wanted: int) -> list[str]:
    """As many lines as fit, until there are the characters that are wanted."""
    taken: list[str] = []
    size = 0
    for each in lines:
        made = item(cut(one_line(each), 160, "..."))
        if size >= wanted or size + len(made) + 1 > room:
            break
        taken.append(made)
        size += len(made) + 1
    return taken


# --- what it tells ---


def _sections(record: DiscussionRecord) -> Iterator[tuple[str, Sequence[str]]]:
    rounds = phrases.all_rounds(record)
    message = phrases.last_assessed(record)
    last = message.assessment if message else None
    problem = record.cast.problem_definition if record.cast else None
    yield "Topic", [record.discussion.topic, *(phrases.problem(problem) if problem else ())]
    yield "Constraints", phrases.constraints(record)
    counted = dict(phrases.measures(rounds))
    yield "Progress, the newest round first", [_progress(each, counted[each.number]) for each in reversed(rounds)]
    yield "Where it stands", list(_state(record, rounds, last))
    stands = phrases.positions_now(record).items()
    held = (f"{who}, confidence {phrases.percent(each.confidence)}: {each.position}" for who, each in stands)
    yield "Positions now", list(held)
    yield "Open disagreements", [entries.disagreement(each).line for each in last.active_disagreements] if last else []
    yield "To address next", list(_next(record, rounds, last))
    yield "Quality over the rounds", list(_quality(rounds))
    yield "Tensions", list(phrases.tensions(record.cast)) if record.cast else []
    yield "Conclusion", [record.conclusion.executive_summary] if record.conclusion else []


_LAST = "Said last"


def _more(record: DiscussionRecord) -> Iterator[tuple[str, Iterator[str]]]:
    """What is told as well where there is room: how positions went; and, to the least length, what was said last."""
    evolution = graph(phrases.all_rounds(record)).evolution
    yield "Position evolution", (f"{each.expert}: {phrases.path(each)}" for each in evolution)
    said = [each for held in phrases.all_rounds(record) for each in held.messages if not each.failed]
    yield _LAST, (f"{each.id} {each.author}, {each.step}: {summary_of(each)}" for each in reversed(said))


def _progress(held: DiscussionRound, counted: Measured) -> str:
    given = next((each.assessment for each in held.messages if each.assessment), None)
    told = " ".join(filter(None, (given.summary, given.key_takeaway))) if given else ""
    return f"Round {held.number}: {told or phrases.counts(counted)}"


def _state(record: DiscussionRecord, rounds: Sequence[DiscussionRound], last: Assessment | None) -> Iterator[str]:
    yield phrases.status(record)
    held = rounds[-1] if rounds else None
    if held:
        at = "over" if held.measured else f"at work, after step {held.done[-1]}" if held.done else "at its beginning"
        yield f"Round {held.number} is {at}"
        yield from filter(None, [held.direction])
        framings = [each.framing for each in held.messages if each.framing]
        yield from (f"Fault line: {each.axis}" for framing in framings for each in framing.fault_lines)
    if last:
        yield from (f"Agreed: {entries.agreement(each).line}" for each in last.agreements)


def _next(record: DiscussionRecord, rounds: Sequence[DiscussionRound], last: Assessment | None) -> Iterator[str]:
    if last:
        because = f", because {last.recommendation_reason}" if last.recommendation_reason else ""
        yield f"The moderator recommends {last.recommendation}{because}"
        yield from filter(None, [last.focus])
    yield from (f"Warning: {each}" for each in (rounds[-1].warnings if rounds else ()))
    yield from (each.text for each in reversed(phrases.open_questions(record)))


def _quality(rounds: Sequence[DiscussionRound]) -> Iterator[str]:
    given = {each.round: each.assessment.overall for held in rounds for each in held.messages if each.assessment}
    scores = list(given.values())
    if len(scores) > 1:
        way = "improving" if scores[-1] > scores[0] else "declining" if scores[-1] < scores[0] else "steady"
        yield f"It is {way}: {' -> '.join(map(str, scores))} of 5"
    for number, each in reversed(phrases.measures(rounds)):
        score = f"overall {given[number]} of 5, " if number in given else ""
        yield f"Round {number}: {score}disagreement {each.disagreement:g} of 10, {many(each.shifts, 'shift')}"

"""Phrases that the files, the page and the replay of a discussion share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmgate.council.discussion.argument.graph import Evolution, Stand
from swarmgate.council.discussion.argument.structure import measured
from swarmgate.council.discussion.findings import Conclusion, OpenQuestion
from swarmgate.council.discussion.model import (
    CONTRIBUTIONS,
    Cast,
    Choice,
    DiscussionRecord,
    DiscussionRound,
    Extent,
    Measured,
    Message,
    Position,
    ProblemDefinition,
    ShiftKind,
    Step,
)
from swarmgate.council.discussion.view.entries import Entry, question
from swarmgate.council.views.formatting import many


def all_rounds(record: DiscussionRecord) -> tuple[DiscussionRound, ...]:
    """The finished rounds and the one at work."""
    return (*record.rounds, *([record.partial] if record.partial else []))


def measures(rounds: Sequence[DiscussionRound]) -> list[tuple[int, Measured]]:
    """The measures of each round by number, those of the unfinished one included."""
    return [(each.number, each.measured or measured(each, rounds[:at])) for at, each in enumerate(rounds)]


def calls(held: DiscussionRound, extent: Extent) -> str:
    """How often models were called in a round, and how many of its messages are contributions, beside their bounds."""
    made = sum(each.usage.calls for each in held.messages)
    contributed = sum(each.step in CONTRIBUTIONS and not each.human for each in held.messages)
    least, most = extent.calls
    return (
        f"Calls of round {held.number}: {made}; contributions {contributed}, of {least} to {most}. The others are "
        "positions, the moderator's, the record, and answers asked for again or with tools."
    )


def status(record: DiscussionRecord) -> str:
    """How far it is: `complete`, `paused by the user, after round 1`, `failed: all 2 experts failed ...`."""
    sign = " " if record.why.startswith("by ") else ": "
    return f"{record.status}{sign}{record.why}" if record.why else str(record.status)


def bounds(record: DiscussionRecord) -> str:
    """`standard, 2 of at most 3 rounds, complete`."""
    asked = record.discussion
    return f"{asked.mode}, {len(record.rounds)} of at most {many(asked.rounds, 'round')}, {status(record)}"


def names(cast: Cast | None) -> dict[str, str]:
    """The names of the experts by id."""
    return {each.id: each.name for each in cast.experts} if cast else {}


def problem(given: ProblemDefinition) -> Iterator[str]:
    """What is to be solved, its scope, and each criterion, a line each."""
    yield from filter(None, (given.statement, f"Scope: {given.scope}" if given.scope else ""))
    yield from (f"Solved when: {each}" for each in given.success_criteria)


_CAME_UP = {
    "came-up": "came up",
    "absent": "did not come up",
    "unproven": "is claimed to have come up, unproven",
    "unclaimed": "was not looked up",
}


def change_conditions(conclusion: Conclusion) -> Iterator[str]:
    """`operator (r1-msg-002): an outage a month - came up, and it moved [r1-msg-006]`, for each expert."""
    for each in conclusion.change_conditions:
        moved = ", and it moved" if each.moved else ", and it did not move" if each.status == "came-up" else ""
        cites = f" [{', '.join(each.cites)}]" if each.cites else ""
        yield f"{each.author} ({each.source}): {each.text} - {_CAME_UP[each.status]}{moved}{cites}"


def tensions(cast: Cast) -> Iterator[str]:
    """`economist against ecologist: growth`, a line each."""
    for each in cast.tensions:
        yield f"{' against '.join(each.between)}: {each.axis}{f' - {each.description}' if each.description else ''}"


def failures(record: DiscussionRecord) -> list[str]:
    """Who failed where, and why."""
    return [
        f"{each.author} failed in round {each.round}, {each.step} ({each.id}): {each.failed}"
        for held in all_rounds(record)
        for each in held.messages
        if each.failed
    ]


def choice(made: Choice) -> str:
    """`After round 1, the user: inject - must cost nothing`; `After the last round: the synthesis`."""
    if made.by == "bounds":
        return "After the last round: the synthesis"
    text = f" - {made.text}" if made.text else ""
    constraint = f"; constraint - {made.constraint}" if made.constraint else ""
    return f"After round {made.after}, the {made.by}: {made.kind}{text}{constraint}"


def constraints(record: DiscussionRecord) -> list[str]:
    """What choices asked for, each once, in order."""
    return list(dict.fromkeys(each for held in all_rounds(record) for each in held.constraints))


def positions_now(record: DiscussionRecord) -> dict[str, Position]:
    """The last position that each expert declared, by id; one who moved without a number is as sure as before."""
    now: dict[str, Position] = {}
    for each in (each for held in all_rounds(record) for each in held.messages):
        if each.position:
            before = now.get(each.author)
            keeps = each.position.confidence is None and before is not None and each.step is not Step.POSITION
            sure = {"confidence": before.confidence} if keeps and before else {}
            now[each.author] = each.position.model_copy(update=sure)
    return now


def last_assessed(record: DiscussionRecord) -> Message | None:
    """The newest message with an assessment."""
    assessed = [each for held in all_rounds(record) for each in held.messages if each.assessment]
    return assessed[-1] if assessed else None


def percent(confidence: float | None) -> str:
    """`70%`; `unknown` where none was declared that can be read."""
    return "unknown" if confidence is None else f"{confidence:.0%}"


def shift(stand: Stand) -> str:
    """`minor`, `none (a claimed shift was refused: it cites nothing)`, or a dash where a position was declared."""
    if stand.refused:
        return f"none ({stand.refused})"
    return str(stand.shift) if stand.shift is not ShiftKind.NONE else "-"


def path(evolution: Evolution) -> str:
    """`70% -> 55% (minor shift in r1-msg-007, moved by r1-msg-005)`."""
    steps = []
    for each in evolution.stands:
        moved = f" ({each.shift} shift in {each.message}, moved by {', '.join(each.cites)})"
        refused = f" (in {each.message}, {each.refused})" if each.refused else ""
        steps.append(percent(each.confidence) + (moved if each.shift is not ShiftKind.NONE else refused))
    return " -> ".join(steps)


def round_findings(held: DiscussionRound) -> Iterator[str]:
    """What a round came to, in the moderator's words, and what swarmgate warns of; a line each."""
    given = next((each.assessment for each in held.messages if each.assessment), None)
    if given:
        yield from filter(None, [given.summary])
        yield from [f"Key takeaway: {given.key_takeaway}"] if given.key_takeaway else []
    yield from advice(held)


def advice(held: DiscussionRound) -> Iterator[str]:
    """Why the moderator recommends what it does after a round, and what swarmgate warns of; a line each."""
    given = next((each.assessment for each in held.messages if each.assessment), None)
    if given:
        yield from [f"Why {given.recommendation}: {given.recommendation_reason}"] if given.recommendation_reason else []
    yield from (f"Warning: {each}" for each in held.warnings)


def counts(counted: Measured) -> str:
    """`2 counters, 1 support, 0 shifts; disagreement 6.7 of 10`."""
    words = ", ".join(many(getattr(counted, f"{noun}s"), noun) for noun in ("counter", "support", "shift"))
    return f"{words}; disagreement {counted.disagreement:g} of 10"


def open_questions(record: DiscussionRecord, *, places: bool = False) -> list[Entry]:
    """Every open question once, as it was first asked; `places`: with where that was, `round 1` or `synthesis`.

    Why it is open, and how to go about it, is what was said last.
    """
    asked = [
        (each, f"round {message.round}")
        for held in all_rounds(record)
        for message in held.messages
        if message.assessment
        for each in message.assessment.open_questions
    ]
    asked += [(each, "synthesis") for each in record.conclusion.open_questions] if record.conclusion else []
    first: dict[str, OpenQuestion] = {}
    where: dict[str, list[str]] = {}
    for each, place in asked:
        same = "".join(letter for letter in each.question.casefold() if letter.isalnum()) or each.question
        told = {name: text for name in ("why_open", "suggested_approach") if (text := getattr(each, name))}
        first[same] = first.get(same, each).model_copy(update=told)
        known = where.setdefault(same, [])
        known += [place] if place not in known else []
    return [question(each, *(where[same] if places else ())) for same, each in first.items()]

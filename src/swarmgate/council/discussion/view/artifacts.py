"""Renders the files that a discussion writes beside its rounds: summary, arguments, measures.

All of them are made from the record alone, of a discussion that is over or not; the same record gives the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from swarmgate.council.discussion.argument.graph import Graph, graph
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.council.discussion.model import DiscussionRecord
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.discussion.view.mermaid import mermaid
from swarmgate.council.discussion.view.page import page
from swarmgate.council.discussion.view.resume_context import SUMMARY, summary
from swarmgate.council.views.formatting import cost
from swarmgate.council.views.markdown import item, quote, section, table
from swarmgate.domain.text.markdown import line
from swarmgate.domain.text.printable import escaped

_TITLE = 100
"""Characters of a topic in a heading."""


def artifacts(record: DiscussionRecord) -> dict[str, str]:
    """The text of each file by its name inside of the discussion's folder.

    All of them are as large as all messages together: they are made where it ends, or pauses.
    """
    whole = graph(phrases.all_rounds(record))
    experts = phrases.names(record.cast)
    return {
        "artifacts/synthesis.md": _document(_synthesis(record, whole)),
        "artifacts/open-questions.md": _document(_open_questions(record)),
        "artifacts/argument-graph.json": _graph_json(record, whole),
        "artifacts/argument-graph.mmd": mermaid(whole, experts),
        "artifacts/position-evolution.md": _document(_evolution(record, whole)),
        SUMMARY: summary(record),
        "artifacts/discussion.html": page(record, whole),
    }


def _document(blocks: Iterator[str]) -> str:
    return "\n".join(blocks)


def _title(what: str, record: DiscussionRecord) -> str:
    topic = " ".join(record.discussion.topic.split())
    short = topic if len(topic) <= _TITLE else f"{topic[:_TITLE]}..."
    return f"# {what}: {line(short)}\n\nDiscussion {record.discussion.id}: {line(phrases.bounds(record))}.\n"


def _problem(record: DiscussionRecord) -> Iterator[str]:
    problem = record.cast.problem_definition if record.cast else None
    return map(item, phrases.problem(problem) if problem else ())


def _graph_json(record: DiscussionRecord, whole: Graph) -> str:
    """Nodes, edges and evolution as `argument.graph.Graph` has them, and what was measured in each round."""
    measured = [
        {"round": number, **each.model_dump(mode="json")}
        for number, each in phrases.measures(phrases.all_rounds(record))
    ]
    content = {"discussion": record.discussion.id, **whole.model_dump(mode="json"), "measured": measured}
    return escaped(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


# --- synthesis.md ---


def _synthesis(record: DiscussionRecord, whole: Graph) -> Iterator[str]:
    yield _title("Synthesis", record)
    yield from section("Problem", _problem(record))
    if record.conclusion:
        yield from _concluded(record.conclusion, whole)
    else:
        yield "There is no synthesis: below is what the moderator and the links say so far.\n"
        yield from _so_far(record)
        yield from section("Position evolution", _paths(whole))
    yield from section("Open questions", map(_entry, phrases.open_questions(record)))
    if record.conclusion:
        yield from section("Meta observations", [quote(record.conclusion.meta_observations)])
        yield from section("Corrected by swarmgate", map(item, record.conclusion.noted))
    if found := list(_rounds(record)):
        yield "## Round by round\n"
        yield from found
    yield from section("Measured", _measured(record))
    yield from section("Choices", (item(phrases.choice(each)) for each in record.choices))
    yield from section("Cost", [line(cost(record.usage, record.seconds))])
    yield from section("Voices that failed", map(item, phrases.failures(record) or ["none"]))


def _concluded(conclusion: Conclusion, whole: Graph) -> Iterator[str]:
    yield from section("Executive summary", [quote(conclusion.executive_summary)])
    for group in entries.concluded(conclusion):
        title = f"{group.title}: {group.how}" if group.how else group.title
        yield from section(title, map(_entry, group.entries))
    told = [*_quoted(conclusion.position_evolution), *map(_entry, entries.journeys(conclusion))]
    yield from section("Position evolution", [*told, *_paths(whole)])
    yield from section("What would change minds", map(item, phrases.change_conditions(conclusion)))


def _quoted(text: str) -> list[str]:
    return [f"{quote(text)}\n"] if text else []


def _entry(each: entries.Entry) -> str:
    return item(each.text, each.cites, *map(line, each.details))


def _so_far(record: DiscussionRecord) -> Iterator[str]:
    message = phrases.last_assessed(record)
    for group in entries.assessed(message.assessment) if message and message.assessment else ():
        yield from section(group.title, map(_entry, group.entries))


def _rounds(record: DiscussionRecord) -> Iterator[str]:
    """What each round came to, and how it was taken up after a pause."""
    for held in phrases.all_rounds(record):
        title = f"Round {held.number}{f': {line(held.topic)}' if held.topic else ''}"
        yield from section(title, map(item, phrases.round_findings(held)), level=3)
        for each in record.reopenings:
            if each.after == held.number:
                yield from section(f"Taken up after round {held.number}", map(item, entries.reopening(each)), level=3)


def _paths(whole: Graph) -> Iterator[str]:
    return (item(f"{each.expert}: {phrases.path(each)}") for each in whole.evolution)


def _measured(record: DiscussionRecord) -> Iterator[str]:
    rounds = phrases.all_rounds(record)
    given = {
        each.round: each.assessment.overall for held in rounds for each in held.messages if each.assessment is not None
    }
    head = ("Round", "Counters", "With steel-man", "Supports", "Questions", "Shifts", "Shifts refused")
    rows = [
        (
            number,
            each.counters,
            each.steel_mans,
            each.supports,
            each.questions,
            each.shifts,
            each.refused_shifts,
            each.unresolved,
            f"{each.disagreement:g}",
            given.get(number, "-"),
        )
        for number, each in phrases.measures(rounds)
    ]
    if rows:
        yield table((*head, "Ids not shown", "Disagreement, of 10", "Moderator's score, of 5"), rows)
        yield "\nCounts come from links between messages. The moderator's score is its own; below 3 there is a warning."


# --- the others ---


def _open_questions(record: DiscussionRecord) -> Iterator[str]:
    yield _title("Open questions", record)
    yield "\n".join(map(_entry, phrases.open_questions(record, places=True))) or "None was named."
    yield ""


def _evolution(record: DiscussionRecord, whole: Graph) -> Iterator[str]:
    yield _title("Position evolution", record)
    named = phrases.names(record.cast)
    head = ("Round", "Message", "Step", "Confidence", "Shift", "Moved by", "Why", "Position")
    for each in whole.evolution:
        rows = [
            (
                stand.round,
                stand.message,
                stand.step,
                phrases.percent(stand.confidence),
                phrases.shift(stand),
                ", ".join(stand.cites) or "-",
                stand.reason or "-",
                stand.position or "-",
            )
            for stand in each.stands
        ]
        yield from section(f"{each.expert}, {line(named.get(each.expert, 'a fixed role'))}", [table(head, rows)])
    if not whole.evolution:
        yield "Nobody has declared a position yet.\n"
    told = entries.journeys(record.conclusion) if record.conclusion else []
    yield from section("As the synthesis has it", map(_entry, told))

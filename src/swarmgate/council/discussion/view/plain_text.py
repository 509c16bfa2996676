"""Renders a discussion as plain text, round by round, for `swarm discuss show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swarmgate.council.discussion.argument.graph import graph
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.council.discussion.model import Cast, DiscussionRecord, DiscussionRound, Message
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.discussion.view.message import facts, measured_line
from swarmgate.council.views.formatting import cost, indented, item


def text_lines(record: DiscussionRecord) -> list[str]:
    """The whole discussion. The lines hold text of models: whoever prints them makes it printable."""
    asked = record.discussion
    lines = [f"Discussion {asked.id}", *indented(asked.topic, 2), f"  {phrases.bounds(record)}"]
    if record.cast:
        lines += _cast(record.cast)
    if asked.material:
        lines += ["", "Material:", *indented(asked.material, 2)]
    measured = dict(phrases.measures(phrases.all_rounds(record)))
    for held in phrases.all_rounds(record):
        lines += ["", *_round(held)]
        lines += ["", *indented(measured_line(held.number, measured[held.number]), 2)]
        lines += indented(phrases.calls(held, asked.extent), 2)
        lines += [line for each in phrases.round_findings(held) for line in indented(each, 2)]
        lines += [
            line
            for each in record.reopenings
            if each.after == held.number
            for told in entries.reopening(each)
            for line in item(told, 2)
        ]
        lines += [f"  {phrases.choice(each)}" for each in record.choices if each.after == held.number]
    return [*lines, "", *conclusion_lines(record)]


def conclusion_lines(record: DiscussionRecord) -> list[str]:
    """How it ended, or where it stands: the synthesis, how positions went, who failed, the cost."""
    lines = [*_concluded(record.conclusion)] if record.conclusion else [f"No synthesis yet: {phrases.status(record)}"]
    paths = (f"{each.expert}: {phrases.path(each)}" for each in graph(phrases.all_rounds(record)).evolution)
    lines += _items("Confidence over the rounds", paths)
    lines += _items("Open questions", (each.words for each in phrases.open_questions(record)))
    lines += _items("Voices that failed", phrases.failures(record))
    return [*lines, cost(record.usage, record.seconds)]


def _concluded(conclusion: Conclusion) -> Iterator[str]:
    yield f"Synthesis by {conclusion.author}:"
    yield from indented(conclusion.executive_summary, 2)
    for group in entries.concluded(conclusion):
        title = f"{group.title}, {group.how}" if group.how else group.title
        yield from _items(title, (each.words for each in group.entries))
    journeys = (each.words for each in entries.journeys(conclusion))
    yield from _items("Position evolution", [*filter(None, [conclusion.position_evolution]), *journeys])
    yield from _items("What would change minds", phrases.change_conditions(conclusion))
    yield from _items("Meta observations", filter(None, [conclusion.meta_observations]))
    yield from _items("Corrected by swarmgate", conclusion.noted)


def _cast(cast: Cast) -> Iterator[str]:
    for each in cast.experts:
        model = f" ({each.model})" if each.model else ""
        yield from item(f"{each.id}, {each.name}{model}: {each.expertise}", 2)
    yield from (line for each in phrases.tensions(cast) for line in item(f"tension: {each}", 2))
    problem = phrases.problem(cast.problem_definition) if cast.problem_definition else ()
    yield from (line for each in problem for line in item(f"problem: {each}", 2))
    yield from (line for each in cast.dropped for line in item(f"left out: {each}", 2))


def _round(held: DiscussionRound) -> Iterator[str]:
    took = f" ({held.seconds:.1f} s)" if held.measured else ", not finished"
    yield f"Round {held.number}{took}"
    if held.direction:
        yield from indented(f"direction: {held.direction}", 2)
    yield from (line for each in held.constraints for line in indented(f"constraint: {each}", 2))
    yield from (f"  {each}" for each in held.forced)
    for message in held.messages:
        yield from _message(message)


def _message(message: Message) -> Iterator[str]:
    model = ", a person" if message.human else f" ({message.model})" if message.model else ""
    about = "" if message.human else f"  {cost(message.usage, message.seconds)}"
    yield ""
    yield f"  {message.id} {message.author}{model}, {message.step}{about}"
    if message.failed:
        yield f"    failed: {message.failed}"
    yield from indented(message.text, 4)
    yield from (f"    - {each}" for each in facts(message))
    yield from (f"    noted: {each}" for each in message.noted)
    if message.unresolved:
        yield f"    names what it was not shown: {', '.join(message.unresolved)}"
    if message.condensed:
        yield f"    saw as a gist: {', '.join(message.condensed)}"


def _items(title: str, texts: Iterable[str]) -> Iterator[str]:
    lines = [line for each in texts for line in item(each, 2)]
    if lines:
        yield f"{title}:"
        yield from lines

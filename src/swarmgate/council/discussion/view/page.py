"""Renders a discussion as one self-contained HTML page, without scripts and with all text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.discussion.argument.graph import Graph
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.council.discussion.model import DiscussionRecord, Expert, Message, Relation
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.discussion.view.message import facts
from swarmgate.council.discussion.view.svg_layout import HEIGHT, WIDTH, positions, relations
from swarmgate.council.views.formatting import cost
from swarmgate.domain.review.votes import MESSAGE_ID
from swarmgate.html import rendered

_TITLE = 100
"""Characters of a topic in the title; a longer one stands below, whole."""

_EXPERT = ("expertise", "thinking_style", "bias", "reply_tendency", "stakes", "blind_spots", "model")
_HOW = {"argument": "resolved by argument", "majority": "resolved by majority", "unproven": "claimed, unproven"}


def page(record: DiscussionRecord, graph: Graph) -> str:
    """The whole page.

    Args:
        record: of the discussion, over or not.
        graph: of all its rounds.
    """
    conclusion = record.conclusion
    known = [each for each in graph.evolution if any(stand.confidence is not None for stand in each.stands)]
    return rendered(
        __file__,
        "discussion.html",
        record=record,
        graph=graph,
        words=phrases,
        cost=cost,
        asked=record.discussion,
        title=cut(one_line(record.discussion.topic), _TITLE, "..."),
        ids=frozenset(node.id for node in graph.nodes),
        pieces=re.compile(f"({MESSAGE_ID.pattern})").split,
        found=[*_found(record), *(_told(conclusion) if conclusion else ())],
        observed=conclusion.meta_observations if conclusion else "",
        open_questions=_words(phrases.open_questions(record, places=True)),
        reopened=entries.reopening,
        experts=[(each, _expert_text(each)) for each in record.cast.experts] if record.cast else (),
        width=WIDTH,
        height=HEIGHT,
        relations=relations(graph),
        counters=_counters(graph),
        positions=positions(known),
        paths=[f"{each.expert}: {phrases.path(each)}" for each in graph.evolution],
        measured=_measured(record),
        facts=_facts,
    )


# --- what came of it ---


def _found(record: DiscussionRecord) -> list[tuple[str, list[str]]]:
    """What was concluded, or what the moderator found last, by title."""
    if record.conclusion:
        found: dict[str, list[str]] = {}
        for group in entries.concluded(record.conclusion):
            how = f" ({group.how})" if group.how else ""
            found.setdefault(group.title, []).extend(
                "\n".join((f"{each.head}{how}", *each.details)) for each in group.entries
            )
        return list(found.items())
    message = phrases.last_assessed(record)
    groups = entries.assessed(message.assessment) if message and message.assessment else []
    return [(group.title, _words(group.entries)) for group in groups]


def _words(found: Sequence[entries.Entry]) -> list[str]:
    return [each.words for each in found]


def _told(conclusion: Conclusion) -> list[tuple[str, list[str]]]:
    return [
        ("Position evolution", [*filter(None, [conclusion.position_evolution]), *_words(entries.journeys(conclusion))]),
        ("What would change minds", [*phrases.change_conditions(conclusion)]),
    ]


def _expert_text(expert: Expert) -> str:
    fields = ((name.replace("_", " "), getattr(expert, name)) for name in _EXPERT)
    return "\n".join(f"{name}: {value}" for name, value in fields if value)


# --- the structure ---


def _counters(graph: Graph) -> list[list[object]]:
    """A row for each author: how often it countered each of them."""
    counts = graph.between(Relation.COUNTERS)
    return [[each, *(counts.get((each, other), 0) or "" for other in graph.authors)] for each in graph.authors]


def _measured(record: DiscussionRecord) -> list[list[object]]:
    return [
        [number, m.counters, m.steel_mans, m.supports, m.questions, m.shifts, m.refused_shifts, f"{m.disagreement:g}"]
        for number, m in phrases.measures(phrases.all_rounds(record))
    ]


def _facts(message: Message) -> Iterator[str]:
    yield from facts(message)
    yield from (f"noted: {each}" for each in message.noted)
    if message.unresolved:
        yield f"names what it was not shown: {', '.join(message.unresolved)}"
    if message.condensed:
        yield f"saw as a gist: {', '.join(message.condensed)}"

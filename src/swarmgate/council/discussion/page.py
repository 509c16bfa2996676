"""A discussion as one HTML page that needs nothing else: no script, nothing loaded, whatever was said is text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from swarmgate.agents.brief import cut, one_line
from swarmgate.council.discussion import words
from swarmgate.council.discussion.drawing import positions, relations, text
from swarmgate.council.discussion.windowing import facts
from swarmgate.domain.argument_graph import Graph
from swarmgate.domain.debate import MESSAGE_ID
from swarmgate.domain.discussion import Cast, Cited, Conclusion, DiscussionRecord, DiscussionRound, Message, Relation

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #666; --box: #f5f5f5; --rule: #ccc;
--red: #b2182b; --green: #1b7837; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181818; --soft: #a0a0a0; --box: #242424;
--rule: #444; --red: #ff8a8a; --green: #7bd47b; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 58rem; padding: 0 1rem; color: var(--ink);
background: var(--paper); }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; border-bottom: 1px solid var(--rule);
margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: .2rem; } a { color: inherit; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--box); padding: .6rem; margin: .3rem 0; }
.about, .facts { color: var(--soft); font-size: .85rem; } .failed { color: var(--red); } li { margin: .25rem 0;
overflow-wrap: anywhere; } article { border-left: 3px solid var(--rule); padding-left: .8rem; margin: 1rem 0; }
article:target { border-color: var(--red); } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border: 1px solid var(--rule); padding: .25rem .5rem; text-align: left; } td.n { text-align: right; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 13px; } .tick, .count { font-size: 12px; }
.count { stroke: var(--paper); stroke-width: 4; paint-order: stroke; }
.grid { stroke: var(--rule); } .author { fill: var(--box); stroke: var(--ink); } .ring { fill: var(--paper);
stroke-width: 2.5; } .counters { stroke: var(--red); stroke-dasharray: 6 4; fill: none; }
.counters-head { fill: var(--red); }
.supports { stroke: var(--green); fill: none; } .supports-head { fill: var(--green); }
"""

_TITLE = 100
"""Characters of a topic in the title; a longer one stands below, whole."""


def page(record: DiscussionRecord, graph: Graph) -> str:
    """The whole page.

    Args:
        record: of the discussion, over or not.
        graph: of all its rounds.
    """
    asked = record.discussion
    ids = frozenset(node.id for node in graph.nodes)
    title = cut(one_line(asked.topic), _TITLE, "...")
    body = [_tag("h1", title), _tag("p", f"Discussion {asked.id}: {words.bounds(record)}", "about")]
    body += [] if title == asked.topic else [_said(asked.topic, ids)]
    body += [_tag("p", words.cost(record.usage, record.seconds), "about")]
    body += _list("Voices that failed", words.failures(record), ids, "h3")
    body += [*_synthesis(record, ids), *(_cast(record.cast) if record.cast else ()), *_structure(record, graph)]
    for held in words.all_rounds(record):
        body += _round(record, held, ids)
    if asked.material:
        body.append(f"<details><summary>The material</summary>{_said(asked.material, frozenset())}</details>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


# --- pieces ---


def _tag(name: str, said: object, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f"<{name}{mark}>{text(str(said))}</{name}>"


def _linked(said: str, ids: frozenset[str]) -> str:
    """A text whose ids of messages on this page lead there."""

    def anchor(found: re.Match[str]) -> str:
        return f'<a href="#{found[0]}">{found[0]}</a>' if found[0] in ids else found[0]

    return MESSAGE_ID.sub(anchor, text(said))


def _said(said: str, ids: frozenset[str]) -> str:
    return f'<div class="said" dir="auto">{_linked(said, ids)}</div>'


def _list(title: str, items: Iterable[str], ids: frozenset[str], level: str = "h3") -> Iterator[str]:
    listed = list(items)
    if listed:
        yield _tag(level, title)
        yield f"<ul>\n{''.join(f'<li>{_linked(each, ids)}</li>{chr(10)}' for each in listed)}</ul>"


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table whose first column names its rows."""
    lines = [f"<tr>{''.join(_tag('th', each) for each in head)}</tr>"]
    for name, *cells in rows:
        lines.append(f"<tr>{_tag('th', name)}{''.join(_tag('td', each, 'n') for each in cells)}</tr>")
    return f'<div class="wide"><table>\n{chr(10).join(lines)}\n</table></div>'


# --- what came of it ---


def _synthesis(record: DiscussionRecord, ids: frozenset[str]) -> Iterator[str]:
    yield _tag("h2", "Synthesis")
    if record.conclusion:
        yield from _concluded(record.conclusion, ids)
    else:
        yield _tag("p", "There is no synthesis: the discussion is not over.", "about")
        message = words.last_assessed(record)
        if message and message.assessment:
            yield from _list("Agreements, says the moderator", message.assessment.agreements, ids)
            yield from _list("Active disagreements", message.assessment.active_disagreements, ids)
    asked = words.open_questions(record)
    yield from _list("Open questions", (f"{each} ({', '.join(where)})" for each, where in asked.items()), ids)


_HOW = {"argument": "resolved by argument", "majority": "resolved by majority", "unproven": "claimed, unproven"}


def _concluded(conclusion: Conclusion, ids: frozenset[str]) -> Iterator[str]:
    yield _said(conclusion.executive_summary, ids)
    yield from _list("Insights", map(_cited, conclusion.insights), ids)
    agreed = (f"{each.text}{_cites(each.cites)} ({_HOW[each.resolved_by]})" for each in conclusion.agreements)
    yield from _list("Agreements", agreed, ids)
    yield from _list("Minority report", map(_cited, conclusion.minority_report), ids)
    debates = (f"{each.topic}{_cites(each.cites)}: {each.why}" for each in conclusion.unresolved_debates)
    yield from _list("Unresolved debates", debates, ids)
    yield from _list("Recommendations", map(_cited, conclusion.recommendations), ids)
    for title, said in (
        ("Position evolution", conclusion.position_evolution),
        ("Meta observations", conclusion.meta_observations),
    ):
        if said:
            yield _tag("h3", title) + _said(said, ids)


def _cites(cites: Sequence[str]) -> str:
    return f" [{', '.join(cites)}]" if cites else ""


def _cited(each: Cited) -> str:
    dissent = f" Dissent: {each.dissent}" if each.dissent else ""
    lost = f" (names what is not there: {', '.join(each.unresolved)})" if each.unresolved else ""
    return f"{each.text}{_cites(each.cites)}{dissent}{lost}"


def _cast(cast: Cast) -> Iterator[str]:
    yield _tag("h2", "Experts and tensions")
    fields = ("expertise", "thinking_style", "bias", "reply_tendency", "stakes", "blind_spots", "model")
    for each in cast.experts:
        yield _tag("h3", f"{each.id}: {each.name}")
        told = ((name.replace("_", " "), getattr(each, name)) for name in fields)
        yield _tag("div", "\n".join(f"{name}: {value}" for name, value in told if value), "said")
    yield from _list("Tensions", words.tensions(cast), frozenset())


# --- the structure ---


def _structure(record: DiscussionRecord, graph: Graph) -> Iterator[str]:
    if not graph.nodes:
        return
    yield _tag("h2", "Who countered whom")
    yield _tag("p", "Red and dashed: counters. Green: supports. The number is how often.", "about")
    yield relations(graph)
    authors, counters = graph.authors, graph.between(Relation.COUNTERS)
    rows = ((each, *(counters.get((each, other), 0) or "" for other in authors)) for each in authors)
    yield _table(("row counters column", *authors), rows)
    yield _tag("h2", "Positions over rounds")
    about = "Each dot is a position. Ring: minor shift; diamond: major shift; cross: a shift that was refused."
    yield _tag("p", about, "about")
    yield positions([each for each in graph.evolution if any(stand.confidence is not None for stand in each.stands)])
    paths = (f"{each.expert}: {words.path(each)}" for each in graph.evolution)
    yield from _list("In numbers", paths, frozenset(node.id for node in graph.nodes))
    yield _tag("h2", "Measured")
    head = ("Round", "Counters", "Steel-mans", "Supports", "Questions", "Shifts", "Refused", "Disagreement, of 10")
    yield _table(
        head,
        (
            (
                number,
                m.counters,
                m.steel_mans,
                m.supports,
                m.questions,
                m.shifts,
                m.refused_shifts,
                f"{m.disagreement:g}",
            )
            for number, m in words.measures(words.all_rounds(record))
        ),
    )


# --- what was said ---


def _round(record: DiscussionRecord, held: DiscussionRound, ids: frozenset[str]) -> Iterator[str]:
    unfinished = "" if held.measured else ", not finished"
    yield _tag("h2", f"Round {held.number}{unfinished}")
    notes = [f"direction: {held.direction}"] if held.direction else []
    notes += [f"constraint: {each}" for each in held.constraints]
    yield from (_tag("p", each, "about") for each in (*notes, *held.forced))
    for each in held.messages:
        yield from _message(each, ids)
    yield from (_tag("p", words.choice(each), "about") for each in record.choices if each.after == held.number)


def _message(message: Message, ids: frozenset[str]) -> Iterator[str]:
    person = ", a person" if message.human else ""
    yield f'<article id="{text(message.id)}">'
    yield _tag("h3", f"{message.id} {message.author}{person}, {message.step}")
    if not message.human:
        model = f"{message.model}; " if message.model else ""
        yield _tag("p", f"{model}{words.cost(message.usage, message.seconds)}", "about")
    if message.failed:
        yield _tag("p", f"failed: {message.failed}", "failed")
    if message.text:
        yield _said(message.text, ids)
    listed = [*facts(message), *(f"noted: {each}" for each in message.noted)]
    listed += [f"names what it was not shown: {', '.join(message.unresolved)}"] if message.unresolved else []
    listed += [f"saw as a gist: {', '.join(message.condensed)}"] if message.condensed else []
    if listed:
        yield f'<ul class="facts">\n{"".join(f"<li>{_linked(each, ids)}</li>{chr(10)}" for each in listed)}</ul>'
    yield "</article>"

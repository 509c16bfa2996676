"""Renders a running discussion for a terminal: participants, the result of each round, and how it ended."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from swarmgate.council.discussion.model import (
    Cast,
    Discussion,
    DiscussionRecord,
    DiscussionRound,
    Expert,
    Extent,
    Message,
    Step,
)
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.discussion.view.message import facts, measured_line, scores
from swarmgate.council.discussion.view.plain_text import conclusion_lines

_WIDTH = 110
_TRAITS = {
    "thinking_style": "thinks",
    "bias": "bias",
    "reply_tendency": "replies",
    "stakes": "stakes",
    "blind_spots": "blind spots",
    "model": "model",
}


def cast_lines(discussion: Discussion, cast: Cast) -> list[str]:
    """Who takes part, with the fixed roles and the tension map."""
    fixed = ", ".join(f"{role}{_with(cast.models.get(role, ''))}" for role in discussion.extent.roles)
    rounds = f"{discussion.rounds} round{'s' if discussion.rounds > 1 else ''}"
    lines = [f"A {discussion.mode} discussion of at most {rounds}, with {fixed}, and these experts:"]
    for expert in cast.experts:
        lines += ["", *_expert(expert)]
    lines += ["", "Tensions:" if cast.tensions else "Tensions: none were named."]
    for each in cast.tensions:
        text = f": {each.description}" if each.description else ""
        lines += _item(f"{' <-> '.join(each.between)} ({each.axis}){text}")
    if cast.problem_definition:
        lines += ["Problem:", *(line for each in phrases.problem(cast.problem_definition) for line in _item(each))]
    return [*lines, *(f"Left out: {each}" for each in cast.dropped)]


def _with(model: str) -> str:
    return f" ({model})" if model else ""


def _expert(expert: Expert) -> Iterator[str]:
    yield f"  {expert.id}: {expert.name}"
    yield from _wrapped(expert.expertise, 4)
    for name, word in _TRAITS.items():
        if value := getattr(expert, name):
            yield from _wrapped(f"{word}: {value}", 4)


def round_lines(held: DiscussionRound, extent: Extent) -> list[str]:
    """The result of a round: counted measures and calls, the moderator's own scores, and who failed."""
    lines = [measured_line(held.number, held.measured)] if held.measured else [f"Round {held.number}"]
    lines += _wrapped(phrases.calls(held, extent), 2)
    given = next((each.assessment for each in reversed(held.messages) if each.assessment), None)
    if given:
        text = ", ".join(f"{name} {score}" for name, score in scores(given))
        lines.append(f"  The moderator's own scores, of 5: {text}")
        for title, text in (("What it came to", given.summary), ("Key takeaway", given.key_takeaway)):
            lines += _wrapped(f"{title}: {text}", 2) if text else []
        about = f": {given.focus}" if given.focus else ""
        why = f" ({given.recommendation_reason})" if given.recommendation_reason else ""
        lines += _wrapped(f"The moderator recommends to {_RECOMMENDED[given.recommendation]}{about}{why}", 2)
        for group in entries.assessed(given):
            title = _TITLES.get(group.title, group.title)
            lines += [f"  {title}:", *(line for each in group.entries for line in _item(each.words, 4))]
    lines += [line for each in held.warnings for line in _wrapped(f"Warning: {each}", 2)]
    lines += [f"  Forced: {each}" for each in held.forced]
    failed = (f"  {each.author} failed, {each.step}: {each.failed}" for each in held.messages if each.failed)
    return [*lines, *failed]


def reopening_lines(record: DiscussionRecord) -> list[str]:
    """How the moderator took the discussion up after the last round; nothing where it was not left."""
    last = record.reopenings[-1] if record.reopenings else None
    if last is None or last.after != len(record.rounds):
        return []
    return ["The moderator takes it up again:", *(line for each in entries.reopening(last) for line in _item(each))]


_TITLES = {"Agreements, says the moderator": "Agreed", "Active disagreements": "Still divided"}
_RECOMMENDED = {
    "continue": "go on",
    "deep-dive": "go deeper",
    "different-angle": "look from a different angle",
    "synthesize": "synthesise",
}


def last_step_lines(record: DiscussionRecord, after: Step) -> list[str]:
    """The messages of the last finished step, an item for each."""
    held = record.partial or (record.rounds[-1] if record.rounds else None)
    return [
        line
        for each in (held.messages if held else ())
        if each.step is after and not each.human
        for line in _message_lines(each)
    ]


def _message_lines(message: Message) -> Iterator[str]:
    failed = f"failed: {message.failed}" if message.failed else ""
    text = ": ".join(filter(None, (f"{message.id} {message.author}", failed or message.text)))
    yield from _item(text)
    yield from (line for each in facts(message) for line in _item(each, 4))


def outcome_lines(record: DiscussionRecord) -> list[str]:
    """How a discussion ended, or how far it is: the synthesis, who failed, what was counted, and the cost."""
    *text, took = conclusion_lines(record)
    counted = [f"  - {measured_line(each.number, each.measured)}" for each in record.rounds if each.measured]
    counted += [f"  - {phrases.calls(each, record.discussion.extent)}" for each in record.rounds]
    return [*text, *(["Counted, by the links between messages and by calls:", *counted] if counted else []), took]


def _item(text: str, by: int = 2) -> list[str]:
    first, *more = _wrapped(text, 0) or [""]
    return [f"{' ' * by}- {first}", *(f"{' ' * (by + 2)}{line}" for line in more)]


def _wrapped(text: str, by: int) -> list[str]:
    lines = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, _WIDTH - by, break_long_words=False, break_on_hyphens=False) or [""]
    ]
    return [f"{' ' * by}{line}".rstrip() for line in lines]

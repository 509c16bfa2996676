"""Parses answers in a critique: versions (text) and evaluations (scores and suggestions).

Scores are a list of objects, or an object of numbers or objects by criterion; or the criteria stand at the top level.
An object may be wrapped: `{"evaluation": {"scores": ...}}`. Whoever gives two scores for one criterion is not read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from swarmgate.agents.briefs.brief import cut
from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.council.critique.model import Criterion, Score
from swarmgate.council.critique.scoring import clamped
from swarmgate.council.limits import MATERIAL

_SCORES = ("scores", "evaluations", "ratings", "criteria")
_SUGGESTIONS = ("suggestions", "improvements", "recommendations", "feedback")
_WRAPPERS = ("evaluation", "result", "assessment", "review", "critique", "answer", "response")
_NAME = ("criterion", "name", "id", "criteria", "criterionname")
_NUMBER = ("score", "value", "rating")
_REASON = ("reason", "feedback", "rationale", "comment")
_TEXT = ("text", "suggestion", "change", "description")
_DEPTH = 5
_MOST_SUGGESTIONS = 20
_LONGEST = 2_000
"""Characters of a reason or a suggestion that are kept."""

_VERSION_FORM = "Answer with the whole text of the version and nothing else."
_FENCED = re.compile(r"\A\s*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?P<body>.*\n)?[ \t]*(?P=fence)[ \t]*\s*\Z", re.DOTALL)


class Scored(Arguments):
    """The score of one criterion."""

    criterion: str = Field(description="Its name.")
    score: float = Field(description="From 0 to 1.")
    reason: str = Field("", description="The place and the flaw, where it is below 1.")


class Judgement(Answer):
    """An evaluation; `names` are those of the criteria."""

    wrapped: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ()
    scores: tuple[Scored, ...] = called(*_SCORES, description="One entry for every criterion.")
    suggestions: tuple[str, ...] = called(
        *_SUGGESTIONS, default=(), description="What to change and where, the most important first."
    )

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, what it may be wrapped in, and the criteria, which may stand without `scores`."""
        return (*super().spellings(), *_WRAPPERS, *map(squeezed, cls.names))

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """A score for each criterion in their order, and the suggestions of all layers."""
        layers = Layers(found, cls.names)
        return {"scores": scores_in(layers), "suggestions": suggestions_in(layers)}


def evaluation_of(criteria: Sequence[Criterion]) -> Form[Judgement, tuple[tuple[Score, ...], tuple[str, ...]]]:
    """How an evaluator answers: scores, one for each criterion in their order, and suggestions."""
    schema = Judgement.knowing(names=tuple(each.name for each in criteria))
    return Form(schema, _taken, closing=True)


def _taken(given: Judgement) -> tuple[tuple[Score, ...], tuple[str, ...]]:
    scores = (clamped(each.criterion, each.score, cut(each.reason, _LONGEST, "...")) for each in given.scores)
    return tuple(scores), tuple(cut(each, _LONGEST, "...") for each in given.suggestions)


def version_in(text: str) -> str:
    """The version that an answer is: all of it, less a fence around the whole; its thinking was cut where it came in.

    Raises:
        Unread: it is empty, or too long.
    """
    own = _unfenced(text).strip("\r\n")
    if not own.strip():
        raise Unread("Your answer is empty.", _VERSION_FORM)
    if len(own) > MATERIAL.most:
        raise Unread(f"Your answer has {len(own):,} characters: the limit is {MATERIAL}.", _VERSION_FORM)
    return own


def _unfenced(text: str) -> str:
    found = _FENCED.match(text)
    if found is None:
        return text
    fence, body = found["fence"], found["body"] or ""
    closes = rf"^[ \t]*{re.escape(fence)}{re.escape(fence[0])}*[ \t]*$"
    return text if re.search(closes, body, re.MULTILINE) else body  # what closes inside: it is not one block


class Layers:
    """An answer's object and those that are wrapped in it, the outermost first; keys squeezed.

    Args:
        fields: the object.
        names: of the criteria.
    """

    def __init__(self, fields: Mapping[str, Any], names: Sequence[str]) -> None:
        self.names = {squeezed(each): each for each in names}
        self.all = tuple(self._unwrapped(fields, _DEPTH))

    def _unwrapped(self, layer: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
        yield layer
        for key, value in layer.items() if depth else ():
            wraps = key in (*_SCORES, *_WRAPPERS) or (len(layer) == 1 and key not in (*self.names, *_SUGGESTIONS))
            if wraps and isinstance(value, Mapping):
                yield from self._unwrapped(value, depth - 1)


def scores_in(layers: Layers) -> list[dict[str, Any]]:
    """The fields of the score of each criterion, in the order of the criteria.

    Raises:
        Unread: a criterion has none, one that is no number, or two that differ.
    """
    found: dict[str, list[tuple[float, str]]] = {key: [] for key in layers.names}
    for key, value in _given(layers):
        found[key].append(_score(layers.names[key], value))
    scores = []
    for key, name in layers.names.items():
        if not found[key]:
            raise Unread(f"There is no score for the criterion `{name}` in your answer.")
        if len({number for number, _ in found[key]}) > 1:
            raise Unread(f"Your answer gives two scores for `{name}`. Give one.")
        reason = next((each for _, each in found[key] if each), "")
        scores.append({"criterion": name, "score": found[key][0][0], "reason": reason})
    return scores


def suggestions_in(layers: Layers) -> tuple[str, ...]:
    """What would make the version better, each once, at most 20."""
    values = [layer[key] for layer in layers.all for key in _SUGGESTIONS if key in layer and key not in layers.names]
    return tuple(dict.fromkeys(text for value in values for text in _texts(value)))[:_MOST_SUGGESTIONS]


def _given(layers: Layers) -> Iterator[tuple[str, Any]]:
    """What stands for a criterion anywhere in the answer, by its squeezed name."""
    for layer in layers.all:
        yield from ((key, layer[key]) for key in layers.names if key in layer and _stands(key, layer))
        for key in (*_SCORES, *_WRAPPERS):
            rows = layer.get(key)
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, Mapping):
                    yield from _in_row(row, layers.names)


def _stands(key: str, layer: Mapping[str, Any]) -> bool:
    """Whether what stands under the name of a criterion is meant for it: that name may be one of our own keys too."""
    ours = (*_SCORES, *_SUGGESTIONS, *_WRAPPERS)
    return key not in ours or _number(layer[key]) is not None or _has_number(layer[key])


def _in_row(row: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    label = next((row[key] for key in _NAME if isinstance(row.get(key), str)), None)
    if label is None:
        yield from ((key, row[key]) for key in names if key in row)  # {"clarity": 0.9}
    elif squeezed(label) in names and any(key in row for key in _NUMBER):
        yield squeezed(label), row


def _has_number(value: Any) -> bool:
    return isinstance(value, Mapping) and any(key in value for key in _NUMBER)


def _score(name: str, value: Any) -> tuple[float, str]:
    """The number and the reason of a score.

    Raises:
        Unread: it is no number, or two.
    """
    table = value if isinstance(value, Mapping) else {"score": value}
    given = [table[key] for key in _NUMBER if key in table] or [None]
    first = _number(given[0])
    if first is None:
        raise Unread(f"The score of `{name}` is no number: {json.dumps(given[0], default=str)[:60]}.")
    if any(_number(each) not in (first, None) for each in given):
        raise Unread(f"Your answer gives two scores for `{name}`. Give one.")
    reasons = (text for key in _REASON if key in table for text in _texts(table[key]))
    return first, next(reasons, "")


def _number(value: Any) -> float | None:
    """A JSON number that is finite; no text, and no truth value."""
    try:
        found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _texts(value: Any) -> Iterable[str]:
    """The texts of a list, or of one: an object has one under a key of its own."""
    for each in value if isinstance(value, list) else [value]:
        text = next((each[key] for key in _TEXT if each.get(key)), None) if isinstance(each, Mapping) else each
        if isinstance(text, str) and text.strip():
            yield text

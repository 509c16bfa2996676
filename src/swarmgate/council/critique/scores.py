"""Scores and suggestions in the JSON object of an evaluation, under the names that voices give them.

Scores are a list of objects, or an object of numbers or objects by criterion; or the criteria stand at the top level.
An object may be wrapped: `{"evaluation": {"scores": ...}}`. Whoever gives two scores for one criterion is not read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.objects import squeezed

FORM = (
    'Answer with one JSON object: {"scores": [{"criterion": "NAME", "score": 0.6, "reason": "..."}], "suggestions": '
    '["..."]}, with a score, a number from 0 to 1, for every criterion.'
)
SCORES = ("scores", "evaluations", "ratings", "criteria")
"""Keys of all scores."""

SUGGESTIONS = ("suggestions", "improvements", "recommendations", "feedback")
"""Keys of what would make the version better; what stands under several of them is put together."""

WRAPPERS = ("evaluation", "result", "assessment", "review", "critique", "answer", "response")
"""Keys under which the whole of it may stand; so it may under the only key of an object."""

_NAME = ("criterion", "name", "id", "criteria", "criterionname")
_NUMBER = ("score", "value", "rating")
_REASON = ("reason", "feedback", "rationale", "comment")
_TEXT = ("text", "suggestion", "change", "description")
_DEPTH = 5
_MOST_SUGGESTIONS = 20


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
            wraps = key in (*SCORES, *WRAPPERS) or (len(layer) == 1 and key not in (*self.names, *SUGGESTIONS))
            if wraps and isinstance(value, Mapping):
                yield from self._unwrapped(value, depth - 1)


def scores_in(layers: Layers) -> dict[str, tuple[float, str]]:
    """The number and the reason of each criterion, by name, in the order of the criteria.

    Raises:
        Unread: a criterion has none, one that is no number, or two that differ.
    """
    found: dict[str, list[tuple[float, str]]] = {key: [] for key in layers.names}
    for key, value in _given(layers):
        found[key].append(_score(layers.names[key], value))
    scores = {}
    for key, name in layers.names.items():
        if not found[key]:
            raise Unread(f"There is no score for the criterion `{name}` in your answer.", FORM)
        if len({number for number, _ in found[key]}) > 1:
            raise Unread(f"Your answer gives two scores for `{name}`. Give one.", FORM)
        scores[name] = (found[key][0][0], next((reason for _, reason in found[key] if reason), ""))
    return scores


def suggestions_in(layers: Layers) -> tuple[str, ...]:
    """What would make the version better, each once, at most 20."""
    values = [layer[key] for layer in layers.all for key in SUGGESTIONS if key in layer and key not in layers.names]
    return tuple(dict.fromkeys(text for value in values for text in _texts(value)))[:_MOST_SUGGESTIONS]


def _given(layers: Layers) -> Iterator[tuple[str, Any]]:
    """What stands for a criterion anywhere in the answer, by its squeezed name."""
    for layer in layers.all:
        yield from ((key, layer[key]) for key in layers.names if key in layer and _stands(key, layer))
        for key in (*SCORES, *WRAPPERS):
            rows = layer.get(key)
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, Mapping):
                    yield from _in_row(row, layers.names)


def _stands(key: str, layer: Mapping[str, Any]) -> bool:
    """Whether what stands under the name of a criterion is meant for it: that name may be one of our own keys too."""
    ours = (*SCORES, *SUGGESTIONS, *WRAPPERS)
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
        raise Unread(f"The score of `{name}` is no number: {json.dumps(given[0], default=str)[:60]}.", FORM)
    if any(_number(each) not in (first, None) for each in given):
        raise Unread(f"Your answer gives two scores for `{name}`. Give one.", FORM)
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

"""What is read of answers in a critique: versions, which are text, and evaluations, which are typed fields."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swarmgate.agents.brief import cut
from swarmgate.agents.participant import Unread
from swarmgate.council.objects import fields_of, squeezed
from swarmgate.domain.council_limits import MATERIAL
from swarmgate.domain.critique import Criterion, Score
from swarmgate.domain.critique_rules import clamped

FORM = (
    'Answer with one JSON object: {"scores": [{"criterion": "NAME", "score": 0.6, "reason": "..."}], "suggestions": '
    '["..."]}, with a score, a number from 0 to 1, for every criterion.'
)
_VERSION_FORM = "Answer with the whole text of the version and nothing else."
_REASON, _SUGGESTIONS = 2_000, 20
_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>[ \t]*\n?", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\A\s*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?P<body>.*\n)?[ \t]*(?P=fence)[ \t]*\s*\Z", re.DOTALL)


def version_in(text: str) -> str:
    """The version that an answer is: all of it, less a thought before it, and a fence around the whole.

    Raises:
        Unread: it is empty, or too long.
    """
    own = _unfenced(_THOUGHT.sub("", text)).strip("\r\n")
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


def evaluation_in(text: str, criteria: Sequence[Criterion]) -> tuple[tuple[Score, ...], tuple[str, ...]]:
    """The scores, one for each criterion in their order, and the suggestions.

    `scores` is a list of objects with criterion, score and reason, or an object of numbers or such objects by name.

    Raises:
        Unread: there is no such object, a criterion is missing, or a score is no number.
    """
    fields = fields_of(text, ("scores", "suggestions"), FORM, required=("scores",))
    given = _by_name(fields["scores"])
    scores = tuple(_score(each.name, given) for each in criteria)
    return scores, tuple(_suggestions(fields.get("suggestions")))


def _by_name(scores: Any) -> Mapping[str, Any]:
    """What is given for each criterion, by its squeezed name."""
    if isinstance(scores, Mapping):
        return scores
    found: dict[str, Mapping[str, Any]] = {}
    listed = scores if isinstance(scores, list) else []
    tables: list[Mapping[str, Any]] = [each for each in listed if isinstance(each, Mapping)]
    for each in tables:
        key = squeezed(str(each.get("criterion") or each.get("name") or ""))
        if key in found and found[key].get("score") != each.get("score"):
            raise Unread(f"Your answer gives two scores for `{key}`. Give one.", FORM)
        found[key] = each
    return found


def _score(name: str, given: Mapping[str, Any]) -> Score:
    key = squeezed(name)
    if key not in given:
        raise Unread(f"There is no score for the criterion `{name}` in your answer.", FORM)
    found = given[key]
    table: Mapping[str, Any] = found if isinstance(found, Mapping) else {"score": found}
    value, reason = table.get("score"), table.get("reason") or ""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise Unread(f"The score of `{name}` is no number: {str(value)[:60]!r}.", FORM)
    return clamped(name, number, cut(str(reason), _REASON, "..."))


def _suggestions(given: Any) -> Iterable[str]:
    for each in ([given] if isinstance(given, str) else given if isinstance(given, list) else [])[:_SUGGESTIONS]:
        text = (each.get("suggestion") or each.get("text")) if isinstance(each, Mapping) else each
        if isinstance(text, str) and text.strip():
            yield cut(text, _REASON, "...")

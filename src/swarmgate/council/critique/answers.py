"""What is read of answers in a critique: versions, which are text, and evaluations, which are typed fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.agents.brief import cut
from swarmgate.agents.participant import Unread
from swarmgate.council.critique.model import Criterion, Score
from swarmgate.council.critique.scores import FORM, SCORES, SUGGESTIONS, WRAPPERS, Layers, scores_in, suggestions_in
from swarmgate.council.critique.scoring import clamped
from swarmgate.council.objects import fields_of, objects_of
from swarmgate.domain.council_limits import MATERIAL

_VERSION_FORM = "Answer with the whole text of the version and nothing else."
_REASON = 2_000
_FENCED = re.compile(r"\A\s*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?P<body>.*\n)?[ \t]*(?P=fence)[ \t]*\s*\Z", re.DOTALL)


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


def evaluation_in(text: str, criteria: Sequence[Criterion]) -> tuple[tuple[Score, ...], tuple[str, ...]]:
    """The scores, one for each criterion in their order, and the suggestions; the forms: `council.critique.scores`.

    Raises:
        Unread: there is no such object, a criterion is missing, has two scores, or its score is no number.
    """
    names = [each.name for each in criteria]
    layers = Layers(_fields(text, (*SCORES, *SUGGESTIONS, *WRAPPERS, *names)), names)
    scores, suggestions = scores_in(layers), suggestions_in(layers)
    made = (clamped(name, number, cut(reason, _REASON, "...")) for name, (number, reason) in scores.items())
    return tuple(made), tuple(cut(each, _REASON, "...") for each in suggestions)


def _fields(text: str, wanted: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        return fields_of(text, wanted, FORM, closing=True)
    except Unread:
        if wrapping := _wrapping(text):
            return fields_of(text, (*wanted, *wrapping), FORM, closing=True)
        raise


def _wrapping(text: str) -> list[str]:
    """The key of the last object where it has one only, and an object under it: the whole answer, whatever its name."""
    return [key for each in objects_of(text)[-1:] if len(each) == 1 for key in each if isinstance(each[key], Mapping)]

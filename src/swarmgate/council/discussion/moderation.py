"""What the fixed roles that lead answer, as typed fields: the framing, a question, the assessment, the record."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.discussion.answers import Part
from swarmgate.council.discussion.fields import fields
from swarmgate.council.discussion.model import Assessment, FaultLine, Framing, Insight, Recommendation
from swarmgate.council.discussion.values import (
    SPOKEN,
    clamped,
    first_of,
    ids_of,
    items_of,
    known,
    message_ids,
    number_of,
    prose_of,
    said_of,
    text_of,
    texts_of,
)
from swarmgate.council.objects import squeezed

_FRAMING = ("faultLines", "disagreementBudget")
FRAMING_FORM = "Answer with one JSON object: " + json.dumps(
    {
        "faultLines": [{"between": ["expert-a", "expert-b"], "axis": "what divides them", "description": "how"}],
        "disagreementBudget": 4,
    }
)
_BUDGET, _USUAL_BUDGET = (3, 6), 4

_SCORES = (
    "genuineDisagreement",
    "evidenceQuality",
    "steelManning",
    "novelInsights",
    "positionEvolution",
    "overall",
)
_FIELDS = {squeezed(name): field for name, field in zip(_SCORES, list(Assessment.model_fields)[:6], strict=True)}
_MARKS = (1, 5)
_LISTS = ("agreements", "activeDisagreements", "insights", "openQuestions", "recommendation", "focus")
ASSESSMENT_FORM = "Answer with one JSON object: " + json.dumps(
    {
        **dict.fromkeys(_SCORES, 3),
        "agreements": ["what is agreed"],
        "activeDisagreements": ["what is not"],
        "insights": [{"text": "what is new", "source": ["r1-msg-002"]}],
        "openQuestions": ["what is open"],
        "recommendation": " | ".join(Recommendation),
        "focus": "what to go into",
    }
)
_RECOMMENDATIONS = {squeezed(each): each for each in Recommendation}


def framing_of(text: str, voices: Mapping[str, str]) -> Part:
    """The framing of a round; `voices` are the ids of those that it may name, by id and by name.

    Raises:
        Unread: it has no fault line; or a budget that is no number, for which 4 is taken when asked once more, noted.
    """
    found, cut = fields(text, _FRAMING, FRAMING_FORM, required=_FRAMING[:1])
    lines, noted = [], list(cut)
    for each in items_of(found["faultlines"]):
        between, stray = known(ids_of(each.get("between")), voices)
        noted += [f"{name} in a fault line is no voice" for name in stray]
        if axis := text_of(first_of(each, "axis", "text", "name", "title", "description")):
            ids = tuple(dict.fromkeys(voices[name] for name in between))
            lines.append(FaultLine(between=ids, axis=axis, description=text_of(each.get("description"))))
    if not lines:
        raise Unread("`faultLines` has no line with an `axis`.", FRAMING_FORM)
    budget = number_of(found.get("disagreementbudget"))
    kept, clamp = clamped("disagreementBudget", _USUAL_BUDGET if budget is None else budget, *_BUDGET)
    framing = Framing(fault_lines=tuple(lines), disagreement_budget=kept)
    part = {"text": prose_of(text), "framing": framing, "noted": (*noted, *filter(None, [clamp]))}
    if budget is None:
        wrong = "`disagreementBudget` must be a JSON number of 3 to 6"
        otherwise = {**part, "noted": (*noted, f"{wrong}: {_USUAL_BUDGET} was taken")}
        raise Unread(f"{wrong}.", FRAMING_FORM, otherwise=otherwise)
    return part


def question_of(text: str) -> Part:
    """The moderator's question.

    Raises:
        Unread: there is none.
    """
    return _prose(text, ("text", "question", *SPOKEN), "Answer with your question in prose.")


def record_of(text: str) -> Part:
    """The historian's record of a round.

    Raises:
        Unread: there is none.
    """
    return _prose(text, ("text", "record", "summary", *SPOKEN), "Answer with the record in prose.")


def assessment_of(text: str, shown: Collection[str]) -> Part:
    """The quality gate of a round; `shown` are the ids that it may cite.

    Raises:
        Unread: a score is no number, or the recommendation none of the four.
    """
    found, cut = fields(text, (*_SCORES, *_LISTS, "scores"), ASSESSMENT_FORM, required=("recommendation",))
    scores, noted = _scores({**_mapping(found.get("scores")), **found})
    recommendation = _RECOMMENDATIONS.get(squeezed(text_of(found["recommendation"])))
    if recommendation is None:
        raise Unread(f"`recommendation` must be one of {', '.join(Recommendation)}.", ASSESSMENT_FORM)
    insights, unresolved = _insights(found.get("insights"), shown)
    assessment = Assessment(
        **scores,
        agreements=texts_of(found.get("agreements")),
        active_disagreements=texts_of(found.get("activedisagreements")),
        insights=insights,
        open_questions=texts_of(found.get("openquestions")),
        recommendation=recommendation,
        focus=text_of(found.get("focus")),
    )
    return {"text": prose_of(text), "assessment": assessment, "noted": (*cut, *noted), "unresolved": unresolved}


def _scores(found: Mapping[str, Any]) -> tuple[dict[str, int], tuple[str, ...]]:
    """The six scores by field, and a phrase for each that was clamped."""
    scores, noted = {}, []
    for key, field in _FIELDS.items():
        value = number_of(found.get(key))
        if value is None:
            raise Unread(f"Each of {', '.join(_SCORES)} must be a whole number of 1 to 5.", ASSESSMENT_FORM)
        scores[field], clamp = clamped(field.replace("_", " "), value, *_MARKS)
        noted += [clamp] if clamp else []
    return scores, tuple(noted)


def _insights(value: Any, shown: Collection[str]) -> tuple[tuple[Insight, ...], tuple[str, ...]]:
    """The insights with the sources that exist, and the ids that do not."""
    made: list[Insight] = []
    unresolved: list[str] = []
    for each in items_of(value):
        source, unknown = known(message_ids(first_of(each, "source", "sources", "cites")), shown)
        unresolved += unknown
        if text := text_of(first_of(each, "text", "insight") or each):
            made.append(Insight(text=text, source=source))
    return tuple(made), tuple(dict.fromkeys(unresolved))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _prose(text: str, keys: Collection[str], form: str) -> Part:
    said, cut = said_of(text, keys)
    if not said:
        raise Unread("Your answer has no text.", form)
    return {"text": said, "noted": (cut,) if cut else ()}

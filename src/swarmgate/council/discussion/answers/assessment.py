"""Parses the moderator's quality gate of a round: scores, summary, agreements, disagreements, insights, questions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.discussion.answers.experts import Part
from swarmgate.council.discussion.answers.values import (
    Ids,
    Item,
    Names,
    Spoken,
    Text,
    Texts,
    by_voice,
    clamped,
    first_of,
    items_of,
    known,
    length_problem,
    number_of,
    one_of,
    text_of,
)
from swarmgate.council.discussion.findings import (
    Assessment,
    CommonPoint,
    Disagreement,
    Insight,
    Level,
    OpenQuestion,
    Recommendation,
    Stance,
    Strength,
)
from swarmgate.council.participants.answer_prose import prose_of

SUMMARY = (200, 300)
"""Characters of the summary of a round."""

_MARKS = (1, 5)
_NESTED = ("synthesis", "qualityscore", "qualityscores", "scores")
_WORDS = ("summary", "key_takeaway", "recommendation_reason", "focus", "cause")

_KINDS = "|".join(each.replace("-", r"[\W_]*") for each in Recommendation)
_BEFORE_FOCUS = r"[^\w\"'`(]*(?:(?:on|into|with|at|to|by|from)\s+)?"
_ADVISED = re.compile(rf"\s*({_KINDS})\b{_BEFORE_FOCUS}(.*)", re.IGNORECASE | re.DOTALL)

Advice = Annotated[Recommendation | None, one_of(Recommendation)]


class Side(Item):
    """One side of what is not agreed."""

    stance: Text = called("stance", "position", "text", description="What it holds.")
    advocates: Names = called("advocates", "experts", "supporters", default=(), description="Ids of voices.")
    arguments: Texts = Field((), description="Why.")


class Shared(Item):
    """What is agreed."""

    point: Text = called("point", "text", "agreement")
    supporters: Names = called("supporters", "advocates", default=(), description="Ids of voices that said so.")
    strength: Annotated[Strength | None, one_of(Strength)] = Field(None, description="strong, moderate or weak.")


Sides = Annotated[
    tuple[Side, ...], BeforeValidator(lambda value: by_voice(value, "advocates", "stance", Side.spellings()))
]


class Divided(Item):
    """What is not agreed."""

    point: Text = called("point", "text", "topic", "disagreement")
    positions: Sides = called("positions", "sides", default=(), description="The sides.")


class NewInsight(Item):
    """An insight of an assessment."""

    text: Text = called("text", "insight", "title")
    source: Ids = called("source", "sources", "cites", default=(), description="Ids of the messages that it is from.")
    novelty: Annotated[Level | None, one_of(Level)] = Field(None, description="high, medium or low.")


class Unanswered(Item):
    """An open question."""

    question: Text = called("question", "text")
    why_open: Text = called("whyOpen", "why", "reason", default="", description="Why it has no answer yet.")
    suggested_approach: Text = called("suggestedApproach", "approach", default="", description="How to come to one.")


Questions = Annotated[tuple[Unanswered, ...], BeforeValidator(items_of)]


def _mark(value: Any) -> float | None:
    """A score; an object that explains it has it as `score`."""
    return number_of(first_of(value, "score", "value", "rating") if isinstance(value, Mapping) else value)


def _cause(value: Any) -> str:
    """What went wrong, in words; that something did is none."""
    return "" if isinstance(value, bool) else text_of(value)


Mark = Annotated[float | None, BeforeValidator(_mark)]


class Scores(Answer):
    """The scores of a round, each a whole number of 1 to 5."""

    genuine_disagreement: Mark
    evidence_quality: Mark
    steel_manning: Mark
    novel_insights: Mark
    position_evolution: Mark
    overall: Mark


class RoundAssessment(Scores, Spoken):
    """The quality gate of a round."""

    wrapped: ClassVar[bool] = True
    summary: Text = Field("", description="What the round came to, in 200 to 300 characters.")
    key_takeaway: Text = called("keyTakeaway", "takeaway", default="", description="The one thing to remember.")
    agreements: Annotated[tuple[Shared, ...], BeforeValidator(items_of)] = Field((), description="What is agreed.")
    active_disagreements: Annotated[tuple[Divided, ...], BeforeValidator(items_of)] = Field(
        (), description="What is not."
    )
    insights: Annotated[tuple[NewInsight, ...], BeforeValidator(items_of)] = Field((), description="What is new.")
    open_questions: Questions = ()
    recommendation: Advice = Field(description="How to go on.")
    recommendation_reason: Text = Field("", description="Why so.")
    focus: Text = Field("", description="What the next round should go into.")
    cause: Annotated[str, BeforeValidator(_cause)] = called(
        *("cause", "whatWentWrong", "flag"), default="", description="Of a low score: what went wrong."
    )

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; all of them may stand under `synthesis`, and scores in an object of their own.

        What stands behind the recommendation, as in `deep-dive on the cost`, is the focus where there is no other.
        """
        for key in _NESTED:
            inner = found.get(key)
            found = {**inner, **found} if isinstance(inner, Mapping) else found
        read = super().fields_in(found)
        if (advised := _ADVISED.match(text_of(read.get("recommendation")))) and "|" not in advised[0]:
            read["recommendation"] = advised[1]
            read["focus"] = read.get("focus") or advised[2]
        return read

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of the objects that they may stand in."""
        return (*super().spellings(), *_NESTED)


def assessment_of(visible: Collection[str], names: Mapping[str, str]) -> Form[RoundAssessment, Part]:
    """How a round is assessed.

    A summary that is far from 200 to 300 characters is asked for once more, then kept as it is, noted.

    Args:
        visible: the ids that may be cited.
        names: the ids of those that may be named, by id and by name.
    """
    return Form(RoundAssessment, lambda given: _assessed(given, visible, names), prose=prose_of)


def _assessed(given: RoundAssessment, visible: Collection[str], names: Mapping[str, str]) -> Part:
    scores, noted = _scores(given)
    if given.recommendation is None:
        raise Unread(f"`recommendation` must be one of {', '.join(Recommendation)}.")
    insights, unresolved = _insights(given.insights, visible)
    voices = Voices(names)
    assessment = Assessment(
        **scores,
        **{name: getattr(given, name) for name in _WORDS},
        agreements=tuple(
            CommonPoint(point=each.point, supporters=voices.known(each.supporters), strength=each.strength)
            for each in given.agreements
        ),
        active_disagreements=tuple(
            Disagreement(point=each.point, positions=stances(each.positions, voices))
            for each in given.active_disagreements
        ),
        insights=insights,
        open_questions=open_questions(given.open_questions),
        recommendation=given.recommendation,
    )
    noted = (*given.noted, *noted, *voices.strays)
    part = {"text": given.text, "assessment": assessment, "noted": noted, "unresolved": unresolved}
    if wrong := length_problem("summary", given.summary, *SUMMARY):
        raise Unread(wrong, otherwise={**part, "noted": (*noted, wrong)})
    return part


@dataclass(slots=True)
class Voices:
    """Who is named in an answer: `names` are ids by id and by name, `strays` has a phrase for each that is nobody.

    Names compare without case, blanks, `_` and `-`.
    """

    names: Mapping[str, str]
    strays: list[str] = field(default_factory=list)

    def known(self, named: Collection[str]) -> tuple[str, ...]:
        """The ids of those that are known, each once."""
        ids = {squeezed(name): one for name, one in self.names.items()}
        strange = [each for each in named if squeezed(each) not in ids]
        self.strays += [stray for each in strange if (stray := f"{each[:80]} is no voice") not in self.strays]
        return tuple(dict.fromkeys(ids[squeezed(each)] for each in named if each not in strange))


def stances(given: Collection[Side], voices: Voices) -> tuple[Stance, ...]:
    """The sides of a disagreement."""
    return tuple(
        Stance(position=each.stance, advocates=voices.known(each.advocates), arguments=each.arguments) for each in given
    )


def open_questions(given: Collection[Unanswered]) -> tuple[OpenQuestion, ...]:
    """The open questions that say something."""
    return tuple(
        OpenQuestion(question=each.question, why_open=each.why_open, suggested_approach=each.suggested_approach)
        for each in given
        if each.question
    )


def _scores(given: RoundAssessment) -> tuple[dict[str, int], tuple[str, ...]]:
    """The six scores by field, and a phrase for each that was clamped."""
    scores, noted = {}, []
    names = [name for name in Scores.model_fields if name not in Answer.model_fields]
    for name in names:
        value = getattr(given, name)
        if value is None:
            raise Unread(f"Each of {', '.join(map(Scores.asked_as, names))} must be a whole number of 1 to 5.")
        scores[name], clamp = clamped(name.replace("_", " "), value, *_MARKS)
        noted += [clamp] if clamp else []
    return scores, tuple(noted)


def _insights(given: Collection[NewInsight], visible: Collection[str]) -> tuple[tuple[Insight, ...], tuple[str, ...]]:
    """The insights with the sources that exist, and the ids that do not."""
    made: list[Insight] = []
    unresolved: list[str] = []
    for each in given:
        source, unknown = known(each.source, visible)
        unresolved += unknown
        if each.text:
            made.append(Insight(text=each.text, source=source, novelty=each.novelty))
    return tuple(made), tuple(dict.fromkeys(unresolved))

"""Parses answers of moderator and historian: the framing, a question, the assessment, the conclusion."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.discussion.answers.experts import Part
from swarmgate.council.discussion.answers.values import (
    Ids,
    Number,
    Spoken,
    Text,
    Texts,
    clamped,
    ids_of,
    items_of,
    known,
    text_of,
)
from swarmgate.council.discussion.model import Assessment, FaultLine, Framing, Insight, Question, Recommendation
from swarmgate.council.participants.answer_prose import SPOKEN, prose_of, shortened, text_under

_BUDGET, _USUAL_BUDGET = (3, 6), 4
_QUESTIONS = 3
_MARKS = (1, 5)
_RECOMMENDATIONS = {squeezed(each): each for each in Recommendation}

Advice = Annotated[Recommendation | None, BeforeValidator(lambda value: _RECOMMENDATIONS.get(squeezed(text_of(value))))]


class Line(Answer):
    """A fault line."""

    between: Annotated[tuple[str, ...], BeforeValidator(ids_of)] = Field((), description="Ids of voices.")
    axis: Text = called(
        *("axis", "text", "name", "title", "description"), default="", description="What divides them, in few words."
    )
    description: Text = ""


class Asked(Answer):
    """A question to some of the experts; one that is text alone names them in it."""

    text: Text = called("text", "question", default="")
    to: Annotated[tuple[str, ...], BeforeValidator(ids_of)] = called(
        *("to", "expert", "experts", "for", "directedTo", "addressee"), default=(), description="Ids of experts."
    )


class Frame(Spoken):
    """What divides the participants of a round, what some of them are asked, and how much dissent it should have."""

    fault_lines: Annotated[tuple[Line, ...], BeforeValidator(items_of)]
    questions: Annotated[tuple[Asked, ...], BeforeValidator(items_of)] = Field((), description="To named experts.")
    disagreement_budget: Number = Field(None, description="A number of 3 to 6.")


class NewInsight(Answer):
    """An insight of an assessment."""

    text: Text = called("text", "insight")
    source: Ids = called("source", "sources", "cites", default=(), description="Ids of the messages that it is from.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; an object without a text is one itself."""
        return {"text": found, **super().fields_in(found)}


class Scores(Answer):
    """The scores of a round, each a whole number of 1 to 5."""

    genuine_disagreement: Number
    evidence_quality: Number
    steel_manning: Number
    novel_insights: Number
    position_evolution: Number
    overall: Number


class RoundAssessment(Scores, Spoken):
    """The quality gate of a round."""

    agreements: Texts = Field((), description="What is agreed.")
    active_disagreements: Texts = Field((), description="What is not.")
    insights: Annotated[tuple[NewInsight, ...], BeforeValidator(items_of)] = Field((), description="What is new.")
    open_questions: Texts = ()
    recommendation: Advice = Field(description="How to go on.")
    focus: Text = Field("", description="What the next round should go into.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; scores may stand in an object of their own."""
        scores = found.get("scores")
        return super().fields_in({**scores, **found} if isinstance(scores, Mapping) else found)

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of the object that scores may stand in."""
        return (*super().spellings(), "scores")


def framing_of(names: Mapping[str, str]) -> Form[Frame, Part]:
    """How a round is framed; `names` are the ids of those that may be named, by id and by name.

    Without a budget that is a number it is asked for once more; then 4 is taken, noted.
    """
    return Form(Frame, lambda given: _framed(given, names), prose=prose_of)


def _framed(given: Frame, names: Mapping[str, str]) -> Part:
    lines, noted = [], list(given.noted)
    for each in given.fault_lines:
        between, stray = known(each.between, names)
        noted += [f"{name} in a fault line is no voice" for name in stray]
        if each.axis:
            ids = tuple(dict.fromkeys(names[name] for name in between))
            lines.append(FaultLine(between=ids, axis=each.axis, description=each.description))
    if not lines:
        raise Unread("`faultLines` has no line with an `axis`.")
    budget = given.disagreement_budget
    clamped_budget, clamp = clamped("disagreementBudget", _USUAL_BUDGET if budget is None else budget, *_BUDGET)
    questions, left_out = _questions(given.questions, names)
    noted += left_out
    framing = Framing(fault_lines=tuple(lines), questions=questions, disagreement_budget=clamped_budget)
    part = {"text": given.text, "framing": framing, "noted": (*noted, *filter(None, [clamp]))}
    if budget is None:
        wrong = "`disagreementBudget` must be a JSON number of 3 to 6"
        raise Unread(f"{wrong}.", otherwise={**part, "noted": (*noted, f"{wrong}: {_USUAL_BUDGET} was taken")})
    return part


def _questions(given: Sequence[Asked], names: Mapping[str, str]) -> tuple[tuple[Question, ...], list[str]]:
    """The questions, each to the voices that it names, and a phrase for each that is left out and each stray name."""
    asked = [each for each in given if each.text]
    noted = [f"{len(asked) - _QUESTIONS} questions were left out: a round has at most {_QUESTIONS}"]
    made: list[Question] = []
    for each in asked[:_QUESTIONS]:
        to = [names[name] for name in names if any(_named(name, text) for text in each.to or (each.text,))]
        stray = [text for text in each.to if not any(_named(name, text) for name in names)]
        noted += [f"{text} in a question is no voice" for text in stray]
        made.append(Question(to=tuple(dict.fromkeys(to)), text=each.text))
    return tuple(made), noted if len(asked) > _QUESTIONS else noted[1:]


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE) is not None


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


def assessment_of(visible: Collection[str]) -> Form[RoundAssessment, Part]:
    """How a round is assessed; `visible` are the ids that may be cited."""
    return Form(RoundAssessment, lambda given: _assessed(given, visible), prose=prose_of)


def _assessed(given: RoundAssessment, visible: Collection[str]) -> Part:
    scores, noted = _scores(given)
    if given.recommendation is None:
        raise Unread(f"`recommendation` must be one of {', '.join(Recommendation)}.")
    insights, unresolved = _insights(given.insights, visible)
    assessment = Assessment(
        **scores,
        agreements=given.agreements,
        active_disagreements=given.active_disagreements,
        insights=insights,
        open_questions=given.open_questions,
        recommendation=given.recommendation,
        focus=given.focus,
    )
    return {"text": given.text, "assessment": assessment, "noted": (*given.noted, *noted), "unresolved": unresolved}


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
            made.append(Insight(text=each.text, source=source))
    return tuple(made), tuple(dict.fromkeys(unresolved))


def _prose(text: str, keys: Collection[str], form: str) -> Part:
    text, cut = shortened(text_under(text, keys))
    if not text:
        raise Unread("Your answer has no text.", form)
    return {"text": text, "noted": (cut,) if cut else ()}

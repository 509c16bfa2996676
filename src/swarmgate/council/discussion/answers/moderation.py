"""Parses answers of moderator and historian: the framing, a question, a record, how it is taken up again."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.discussion.answers.assessment import Voices
from swarmgate.council.discussion.answers.experts import Part
from swarmgate.council.discussion.answers.values import (
    LONGEST,
    Names,
    Number,
    Spoken,
    Text,
    by_voice,
    clamped,
    items_of,
    text_of,
)
from swarmgate.council.discussion.model import FaultLine, Framing, Question
from swarmgate.council.participants.answer_prose import SPOKEN, prose_of, shortened, text_under

_BUDGET, _USUAL_BUDGET = (3, 6), 4
_QUESTIONS = 3
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_TOPIC = 300
"""Characters of a topic that is the first sentence of prose."""

_ALL = frozenset(("all", "allexperts", "everybody", "everyone", "experts"))
"""Whom a question goes to that names nobody, as `squeezed`."""

_TAKEUP = ("tension", "question", "settled", "topic", "framing")


class Line(Answer):
    """A fault line."""

    between: Names = Field((), description="Ids of voices.")
    axis: Text = called(
        *("axis", "text", "name", "title", "description"), default="", description="What divides them, in few words."
    )
    description: Text = ""


class Asked(Answer):
    """A question to some of the experts; one that is text alone names them in it."""

    text: Text = called("text", "question", default="")
    to: Names = called(
        *("to", "expert", "experts", "for", "directedTo", "addressee"), default=(), description="Ids of experts."
    )


Questions = Annotated[
    tuple[Asked, ...], BeforeValidator(lambda value: by_voice(value, "to", "text", Asked.spellings()))
]


class Frame(Spoken):
    """What divides the participants of a round, what some of them are asked, and how much dissent it should have."""

    fault_lines: Annotated[tuple[Line, ...], BeforeValidator(items_of)]
    questions: Questions = Field((), description="To named experts.")
    disagreement_budget: Number = Field(None, description="A number of 3 to 6.")


def _settled(value: Any) -> str:
    """What is settled, in words; an empty list, or that nothing is, says so."""
    return "nothing" if value in ([], {}, False) else text_of(value)


class Takeup(Spoken):
    """How a discussion is taken up again."""

    tension: Text = called(
        *("tension", "productiveTension", "mostProductiveTension"),
        default="",
        description="The most productive tension of the last session.",
    )
    question: Text = called(
        *("question", "openQuestion", "mostImportantQuestion", "mostImportantOpenQuestion"),
        default="",
        description="The open question that matters most now.",
    )
    settled: Annotated[str, BeforeValidator(_settled)] = called(
        *("settled", "resolved", "resolvedTensions", "tensionsResolved"),
        default="",
        description="What of the tension map is settled.",
    )
    topic: Text = called(
        *("topic", "nextTopic", "proposedTopic", "roundTopic", "nextRoundTopic"),
        default="",
        description="The topic of the next round.",
    )
    framing: Text = called("framing", "frame", default="", description="How that round should go about it.")


def framing_of(names: Mapping[str, str]) -> Form[Frame, Part]:
    """How a round is framed; `names` are the ids of those that may be named, by id and by name.

    Without a budget that is a number it is asked for once more; then 4 is taken, noted.
    """
    return Form(Frame, lambda given: _framed(given, names), prose=prose_of)


def _framed(given: Frame, names: Mapping[str, str]) -> Part:
    lines, voices = [], Voices(names)
    for each in given.fault_lines:
        if each.axis:
            between = voices.known(each.between)
            lines.append(FaultLine(between=between, axis=each.axis, description=each.description))
    if not lines:
        raise Unread("`faultLines` has no line with an `axis`.")
    budget = given.disagreement_budget
    clamped_budget, clamp = clamped("disagreementBudget", _USUAL_BUDGET if budget is None else budget, *_BUDGET)
    questions, left_out = _questions(given.questions, names)
    noted = [*given.noted, *voices.strays, *left_out]
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
        stray = [
            text for text in each.to if squeezed(text) not in _ALL and not any(_named(name, text) for name in names)
        ]
        noted += [f"{text} in a question is no voice" for text in stray]
        made.append(Question(to=tuple(dict.fromkeys(to)), text=each.text))
    return tuple(made), noted if len(asked) > _QUESTIONS else noted[1:]


def _named(name: str, text: str) -> bool:
    """Whether a text is a name in any spelling, or names it somewhere."""
    said = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
    return said is not None or squeezed(name) == squeezed(text)


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


def reopening_of() -> Form[Takeup, Part]:
    """How a discussion is taken up again.

    What of it is missing is asked for once more, then left out, noted; of prose alone, the first sentence is the topic.
    """
    return Form(Takeup, _taken_up, prose=prose_of, optional=True)


def _taken_up(given: Takeup) -> Part:
    part: Part = {name: getattr(given, name) for name in _TAKEUP} | {"noted": given.noted}
    missing = ", ".join(f"`{Takeup.asked_as(name)}`" for name in _TAKEUP[:4] if not part[name])
    if not missing:
        return part
    if given.text and not any(part[name] for name in _TAKEUP):
        first, framing = _SENTENCE.split(given.text, maxsplit=1)[0], shortened(given.text, LONGEST)
        noted = (*given.noted, *filter(None, framing[1:]))
        part |= {"topic": shortened(first, _TOPIC)[0], "framing": framing[0], "noted": noted}
    said = any(part[name] for name in _TAKEUP)
    otherwise = {**part, "noted": (*part["noted"], f"it leaves out {missing}")} if said else None
    raise Unread(f"Your answer leaves out {missing}.", otherwise=otherwise)


def _prose(text: str, keys: Collection[str], form: str) -> Part:
    text, cut = shortened(text_under(text, keys))
    if not text:
        raise Unread("Your answer has no text.", form)
    return {"text": text, "noted": (cut,) if cut else ()}

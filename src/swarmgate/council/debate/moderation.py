"""The moderator of a debate: between rounds it may set the order, ask a participant, or cut one that repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.briefs.brief import Brief, Section, bullets, cut, one_line
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.participant import ROLE, submit
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form
from swarmgate.council.debate.answers import MOST_READ
from swarmgate.council.debate.model import Debate, Moderation, Round
from swarmgate.council.debate.transcript import Transcript
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.council.participants.context_window import material_sections, window_of
from swarmgate.domain.review.votes import LEAST_SEATS
from swarmgate.errors import ModelError
from swarmgate.llm.parsing.json_objects import taken_apart

STEP = "moderate"

_QUESTION, _NAME = 500, 40
"""Characters of a question to a participant, and of a name that is no seat."""


def _names(value: Any) -> list[str]:
    entries = value if isinstance(value, list) else [value]
    return [each.strip() for each in entries if isinstance(each, str) and each.strip()]


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Question(Answer):
    """A question to one participant."""

    seat: str = Field(description="The name of the voice.")
    question: str


def _questions(value: Any) -> list[dict[str, str]]:
    asked = [each for each in (value if isinstance(value, list) else []) if isinstance(each, dict)]
    transcript = [(each.get("seat"), each.get("question")) for each in asked]
    return [
        {"seat": str(seat).strip(), "question": one_line(text)} for seat, text in transcript if isinstance(text, str)
    ]


class Decided(Answer):
    """What a moderator asks for."""

    order: Names = Field((), description="Names of voices: in which order their messages are read.")
    ask: Annotated[tuple[Question, ...], BeforeValidator(_questions)] = Field((), description="Whom to ask something.")
    cut: Names = Field((), description="Names of voices that may stay silent in the next round.")

    @classmethod
    def as_given(cls, data: dict[str, Any]) -> dict[str, Any]:
        """The answer with its questions as a list; they may be an object by names."""
        ask = data.get("ask")
        if not isinstance(ask, dict):
            return data
        return {**data, "ask": [{"seat": seat, "question": each} for seat, each in ask.items()]}


def moderator_brief(debate: Debate, number: int, sections: Sequence[Section] = ()) -> Brief:
    """The brief of the moderator before round `number`."""
    name = debate.moderator.id if debate.moderator else ""
    material = material_sections(debate.question, debate.material)
    return Brief(
        ROLE,
        STEP,
        task=debate.task,
        attempt=debate.attempt,
        participant=name,
        round=number,
        sections=(*material, *sections),
    )


async def moderated(agent: AgentContext, debate: Debate, rounds: Sequence[Round], *, final: bool) -> Moderation:
    """What the moderator decides before the round after `rounds`; `failed` where it decided nothing.

    Args:
        agent: the moderator's.
        debate: what is debated.
        rounds: those so far.
        final: whether the next round is the last: then nobody is cut.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    number = len(rounds) + 1
    plain = moderator_brief(debate, number, [_record(debate, rounds[-1])])
    transcript = Transcript(rounds, [seat.id for seat in debate.seats]).render(window_of(agent, plain).room)
    brief = moderator_brief(debate, number, [transcript.section, _record(debate, rounds[-1])])
    recorded, recorder = with_recorder(agent)
    try:
        found = (await submit(recorded, brief, moderation_of(debate, final=final))).value
    except ModelError as error:
        found = Moderation(failed=error.message)
    return found.model_copy(
        update={"model": recorder.model, "prompt_hash": recorder.prompt_hash, "usage": recorder.usage}
    )


def moderation_of(debate: Debate, *, final: bool) -> Form[Decided, Moderation]:
    """The form of a moderator's decision; requests that it may not make are dropped."""
    return Form(
        Decided,
        lambda given: _allowed(given, debate, final=final),
        in_text=lambda text: _allowed(_newest(text), debate, final=final),
    )


def _newest(text: str) -> Decided:
    """The last decision of a text.

    Raises:
        Unread: there is no JSON object with `order`, `ask` or `cut` in it.
    """
    for each in reversed(taken_apart(text[-MOST_READ:]).objects):
        if each.keys() & Decided.model_fields.keys():
            return Decided.given(each)
    raise Unread("There is no decision in your answer.")


def _allowed(given: Decided, debate: Debate, *, final: bool) -> Moderation:
    seats = [seat.id for seat in debate.seats]
    named, cut_off = given.order, given.cut
    asked = {each.seat: cut(each.question, _QUESTION, "...") for each in given.ask if each.question}
    unknown = [each for each in dict.fromkeys((*named, *asked, *cut_off)) if each not in seats]
    dropped = [f"{cut(one_line(each), _NAME, '...')} is no seat" for each in unknown]
    cuts = [each for each in dict.fromkeys(cut_off) if each in seats]
    if cuts and final:
        dropped.append(f"{', '.join(cuts)} cannot be cut: in the last round everybody votes")
    elif cuts and len(seats) - len(cuts) < LEAST_SEATS:
        dropped.append(f"{', '.join(cuts)} cannot be cut: fewer than {LEAST_SEATS} voices would be left")
    order = [each for each in dict.fromkeys(named) if each in seats]
    return Moderation(
        order=(*order, *(each for each in seats if each not in order)) if order else (),
        questions={seat: asked[seat] for seat in seats if seat in asked},
        cut=() if any("cannot be cut" in each for each in dropped) else tuple(cuts),
        dropped=tuple(dropped),
    )


def _record(debate: Debate, last: Round) -> Section:
    """Who said how much that was new in the last round."""
    new = {each.claim for each in last.novelty if each.new}
    speeches = {each.seat: each for each in last.speeches}
    lines = []
    for seat in debate.seats:
        speech = speeches.get(seat.id)
        if speech is None:
            lines.append(f"{seat.id}: was cut")
        elif speech.failed:
            lines.append(f"{seat.id}: gave no answer")
        else:
            count = sum(each.id in new for each in speech.claims)
            lines.append(f"{seat.id}: {len(speech.claims)} claims, {count} of them new")
    return Section("The voices in the last round", bullets(lines))

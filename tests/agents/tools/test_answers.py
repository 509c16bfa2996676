"""Answers in a form: by a call of `submit_answer` or in text, held to one schema, bounded together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import Field
from tests.agents.conftest import OpenDesk, Say

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.roles.participant import speak, submit
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.agents.tools.tool_table import schema
from swarmgate.council.critique.answers import evaluation_of
from swarmgate.council.critique.model import Criterion
from swarmgate.council.debate.answers import voted
from swarmgate.council.debate.model import Debate
from swarmgate.council.debate.moderation import moderation_of
from swarmgate.council.debate.synthesis import synthesis_form
from swarmgate.council.decision.answers import PROPOSAL, form_of
from swarmgate.council.decision.request import decision_of
from swarmgate.council.discussion.answers.assessment import assessment_of
from swarmgate.council.discussion.answers.experts import Reader
from swarmgate.council.discussion.answers.moderation import framing_of, reopening_of
from swarmgate.council.discussion.answers.synthesis import Checks, conclusion_of
from swarmgate.council.discussion.argument.evidence import Evidence
from swarmgate.council.discussion.request import discussion_of
from swarmgate.council.discussion.steps.cast import experts_of, opposing
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import NoUsableReply

BRIEF = Brief("participant", "facilitate", participant="a", round=1, sections=(Section("The question", "Good?"),))
SEATS = [{"id": "ann"}, {"id": "bob"}]
DEBATE = Debate(id="d", question="q", seats=(Seat(id="a"), Seat(id="b")))


class Part(Answer):
    label: str = called("label", "name")


class Sized(Answer):
    """A form with a rule beyond its schema: the size is even."""

    width_mm: int = Field(description="Millimetres.")
    parts: tuple[Part, ...] = ()


def even(given: Sized) -> int:
    if given.width_mm % 2:
        raise Unread(f"{given.width_mm} is odd.", otherwise=-1 if given.parts else None)
    return given.width_mm


FORM = Form(Sized, even)


async def test_a_call_ends_the_turn_with_the_fields_of_the_step(make_agent: OpenDesk, say: Say) -> None:
    agent, model = make_agent(say("submit_answer", WIDTH_MM="4", parts=[{"Name": "x"}], other=1))
    assert (await submit(agent, BRIEF, FORM)).value == 4
    (tool,) = model.requests[0].tools
    assert (tool.name, tool.answers) == ("submit_answer", True)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "widthMm": {"type": "integer", "description": "Millimetres."},
            "parts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"label": {"type": "string"}},
                    "required": ["label"],
                    "additionalProperties": False,
                },
                "default": [],
            },
        },
        "required": ["widthMm"],
        "additionalProperties": False,
    }


async def test_what_is_missing_or_wrong_in_a_call_is_told_and_it_is_made_again(make_agent: OpenDesk, say: Say) -> None:
    agent, model = make_agent(
        say("submit_answer", parts=[{}, 5]), say("submit_answer", widthMm=3), say("submit_answer", widthMm=6)
    )
    assert (await submit(agent, BRIEF, FORM)).value == 6
    first = model.requests[1].messages[-1].content
    assert "`widthMm`: is missing" in first
    assert "`parts[0].label`: is missing" in first
    assert "`parts[1]`: must be" in first
    assert model.requests[2].messages[-1].content.startswith("Refused: 3 is odd.")


async def test_text_that_holds_the_same_is_taken_though_the_tool_is_there(make_agent: OpenDesk) -> None:
    agent, model = make_agent("It is wide.", 'So:\n```json\n{"width_mm": 8}\n```')
    assert (await submit(agent, BRIEF, FORM)).value == 8
    assert (
        'Call submit_answer, or answer with one JSON object: {"widthMm": integer, "parts"?: [{"label": string}, ...]}.'
        in model.heard
    )


async def test_calls_and_texts_have_one_bound(make_agent: OpenDesk, say: Say) -> None:
    agent, _ = make_agent("Wide.", say("submit_answer", widthMm=5), say("submit_answer", widthMm=6))
    with pytest.raises(NoUsableReply, match=r"asked twice.*the last: 5 is odd\."):
        await submit(agent, BRIEF, FORM)
    agent, model = make_agent(*[say("submit_answer", widthMm="w")] * 9)
    with pytest.raises(NoUsableReply):
        await submit(agent, BRIEF, FORM)
    assert len(model.requests) <= 3


async def test_what_an_answer_comes_to_otherwise_is_kept_when_it_stays_as_it_is(make_agent: OpenDesk, say: Say) -> None:
    odd = {"widthMm": 7, "parts": [{"label": "x"}]}
    agent, _ = make_agent(json.dumps(odd), say("submit_answer", **odd))
    assert (await submit(agent, BRIEF, FORM)).value == -1


async def test_prose_offers_no_form(make_agent: OpenDesk, say: Say) -> None:
    agent, model = make_agent(say("submit_answer", widthMm=2), "prose")
    brief = Brief("participant", "debate", participant="a", round=1)
    assert (await speak(agent, brief, answer=str)).value == "prose"
    assert "submit_answer" not in {tool.name for tool in model.requests[0].tools}
    assert "not offered" in model.heard


def test_keys_that_read_as_one_are_told_and_never_a_crash() -> None:
    with pytest.raises(Unread, match="two different things"):
        Sized.given({"width_mm": 2, "widthMm": 4})
    for form in (voted(()), moderation_of(DEBATE, final=False)):
        with pytest.raises(Unread):
            form.read('{"verdict": "APPROVE", "confidence": 1, "reasons": [{"te_xt": "a", "text": "b"}], "or-der": 1}')


VOTING = {"id": "d", "question": "q", "participants": SEATS, "options": ("x", "y")}
READER = Reader("ann", {"r1-msg-001": "bob"})
FORMS: dict[str, Form[Any, Any]] = {
    "stance": form_of(decision_of(id="d", question="q", participants=SEATS)),
    "approval": form_of(decision_of(strategy="approval", **VOTING)),  # type: ignore[arg-type]  # as TOML has them
    "ranking": form_of(decision_of(strategy="ranked", **VOTING)),  # type: ignore[arg-type]  # as above
    "proposal": PROPOSAL,
    "evaluation": evaluation_of((Criterion(name="clarity"),)),
    "position": READER.position,
    "argument": READER.argument,
    "attack": READER.attack,
    "response": READER.response,
    "experts": experts_of(discussion_of(id="d", topic="t")),
    "tensions": opposing(discussion_of(id="d", topic="t")),
    "framing": framing_of({}),
    "assessment": assessment_of((), {}),
    "reopening": reopening_of(),
    "conclusion": conclusion_of(Checks(frozenset(), {}, lambda _: frozenset(), Evidence(()), lambda _: ())),
    "vote": voted(()),
    "moderation": moderation_of(DEBATE, final=False),
    "synthesis": synthesis_form([]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_is_a_plain_schema_of_what_is_asked_for_alone(form: Form[Any, Any]) -> None:
    parameters = schema(form.schema)
    text = json.dumps(parameters)
    assert parameters["type"] == "object"
    assert parameters["properties"]
    assert not any(word in text for word in ("$ref", "$defs", "anyOf", '"default": null', "conflict", '"noted"'))
    assert parameters["additionalProperties"] is False

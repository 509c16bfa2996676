"""Asks one model call without tools for a preliminary vote on the material; the vote is not binding."""

from __future__ import annotations

from dataclasses import replace

from swarmgate.agents.briefs.brief import Brief, Section, cut, one_line
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.participant import ROLE, submit
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.debate.answers import WHAT_IS_MISSING, ballot_of, voted
from swarmgate.council.debate.model import Speech
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.council.participants.context_window import material_sections
from swarmgate.domain.review.votes import Ballot, message_id
from swarmgate.errors import ModelError

SEAT = "first-look"
"""The name under which the participant speaks."""

_TEXT = 4_000
"""Characters of its answer that are kept."""
_FAILED = 300


async def first_look(agent: AgentContext, *, question: str, material: str, task: str = "", attempt: int = 0) -> Speech:
    """The ballot of one participant after one call; `Speech.failed` where it gave none that can be read.

    Args:
        agent: the participant's context.
        question: what is to be decided.
        material: what it is about.
        task: the task that it is for; empty outside of tasks.
        attempt: the attempt at it; 0 outside.

    Raises:
        BudgetExhausted, MissingRequirement: as they come.
    """
    once = replace(agent, limits=replace(agent.limits, max_turns=1))
    recorded, model = with_recorder(once)
    sections = (
        *material_sections(question, material),
        Section("The form of your answer", WHAT_IS_MISSING, "Say in a few sentences what you see, then vote."),
    )
    brief = Brief(ROLE, "first_look", task=task, attempt=attempt, participant=SEAT, sections=sections)
    text, ballot, failed = "", None, ""
    try:
        text, ballot, failed = (await submit(recorded, brief, _FORM)).value
    except ModelError as error:
        failed = error.message
    return Speech(
        id=message_id(1, 1),
        round=1,
        seat=SEAT,
        text=cut(text, _TEXT, "..."),
        ballot=ballot,
        failed=cut(one_line(failed), _FAILED, "..."),
        model=model.model,
        prompt_hash=model.prompt_hash,
        usage=model.usage,
        seconds=model.seconds,
        cut=max(0, len(text) - _TEXT),
    )


def _read(text: str) -> tuple[str, Ballot | None, str]:
    """The answer, its ballot, and why there is none: it is not asked for again, a look is cheap or it is nothing."""
    try:
        return text, ballot_of(text, ()), ""
    except Unread as problem:
        return text, None, str(problem)


def _submitted(given: tuple[str, Ballot]) -> tuple[str, Ballot | None, str]:
    return *given, ""


_FORM = replace(voted(()).then(_submitted), in_text=_read)

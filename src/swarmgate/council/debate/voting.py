"""Asks one participant for its speech or vote in a round of a debate; a failure stays its own."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.participant import ROLE, speak, submit
from swarmgate.council.debate.answers import claims_of, has_ballot, voted
from swarmgate.council.debate.model import Debate, Speech
from swarmgate.council.debate.transcript import TITLE
from swarmgate.council.limits import MOST_TEXT
from swarmgate.council.participants import question as asking
from swarmgate.council.participants.call_recorder import CallRecorder, with_recorder
from swarmgate.council.participants.context_window import material_sections
from swarmgate.domain.review.votes import MESSAGE_ID, Ballot, Seat, message_id
from swarmgate.errors import EndpointFailed, ModelError

STEP = "debate"

_EXAMPLE = json.dumps(
    {
        "verdict": "APPROVE | REJECT | ABSTAIN",
        "confidence": "0.0 to 1.0",
        "reasons": [{"text": "why", "cites": ["r1-msg-001"]}],
    }
)
VOTE = Section(
    "Vote now",
    f"FINAL_VERDICT:\n{_EXAMPLE}",
    "This is the last round. Call `submit_answer` with your speech as `text` and these fields; without tools, end your "
    "answer with a line `FINAL_VERDICT:` and one JSON object of this form; `cites` "
    "are ids of messages that you were shown.",
)
"""What the last round asks for."""


async def vote(
    agent: AgentContext,
    seat: Seat,
    *,
    question: str,
    material: str,
    round: int = 1,  # noqa: A002 - the wire's word
    transcript: str = "",
) -> Speech:
    """The ballot of one participant on a question; `Speech.failed` where it gave none.

    Args:
        agent: its context; their bounds hold.
        seat: who it is.
        question: what is to be decided.
        material: what the question is about.
        round: which round it is told that this is.
        transcript: what was said before; ids of messages in it can be cited.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    earlier = [Section(TITLE, transcript, whole=True)] if transcript else []
    brief = brief_of(seat, round, [*material_sections(question, material), *earlier, VOTE])
    visible = frozenset(MESSAGE_ID.findall(transcript))
    return await speech_of(agent, seat, brief, name=message_id(round, 1), final=True, visible=visible)


def brief_of(seat: Seat, number: int, sections: Iterable[Section], *, task: str = "", attempt: int = 0) -> Brief:
    """The brief of a participant in a round."""
    own = Section("Your part", seat.brief)
    return Brief(ROLE, STEP, task=task, attempt=attempt, participant=seat.id, round=number, sections=(own, *sections))


def bounded(agent: AgentContext, debate: Debate) -> AgentContext:
    """The agent context under the bounds of a round of a debate."""
    return asking.bounded(agent, tokens=debate.tokens, timeout_s=debate.timeout_s)


async def speech_of(
    agent: AgentContext, seat: Seat, brief: Brief, *, name: str, final: bool, visible: Collection[str]
) -> Speech:
    """A participant's answer to its brief, named `name`; a last round needs a vote. `visible`: ids it may cite.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come; a model that fails makes a failed speech.
    """
    recorded, recorder = with_recorder(agent)

    def read_prose(text: str) -> tuple[str, Ballot | None]:
        return text, has_ballot(text, visible)

    try:
        text, ballot = (
            (await submit(recorded, brief, voted(visible))).value
            if final
            else (await speak(recorded, brief, answer=read_prose)).value
        )
    except ModelError as error:
        unreached = isinstance(error, EndpointFailed)
        silent = Speech(id=name, round=brief.round, seat=seat.id, failed=error.message, unreached=unreached)
        return _signed(silent, recorder)
    speech = Speech(
        id=name,
        round=brief.round,
        seat=seat.id,
        text=_within(text),
        claims=claims_of(text, name),
        ballot=ballot,
        cut=max(0, len(text) - MOST_TEXT),
    )
    return _signed(speech, recorder)


def _signed(speech: Speech, recorder: CallRecorder) -> Speech:
    return speech.model_copy(update=recorder.took)


def _within(text: str) -> str:
    """The text with a note where it is longer than a speech may be."""
    left_out = len(text) - MOST_TEXT
    return (
        text
        if left_out <= 0
        else f"{text[:MOST_TEXT]}\n[... {left_out:,} characters were cut: a speech is shorter ...]"
    )

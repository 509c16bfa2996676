"""Executes the steps of a debate: rounds of concurrent participants, moderation, a vote, and the synthesis."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.context import AgentContext
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate.model import Compared, Debate, Moderated, Outcome, Spoke, Synthesised, SynthesisFailed
from swarmgate.council.debate.moderation import moderated, moderator_brief
from swarmgate.council.debate.novelty import claims_in, judged
from swarmgate.council.debate.request import check, check_models
from swarmgate.council.debate.rules import DebateRules
from swarmgate.council.debate.state import Compare, DebateState, GiveUp, Moderate, Speak, Synthesise
from swarmgate.council.debate.synthesis import synthesis_brief, synthesised
from swarmgate.council.debate.transcript import Transcript, check_fits
from swarmgate.council.debate.voting import VOTE, bounded, brief_of, speech_of
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.council.participants.context_window import material_sections, window_of
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.pattern import Pattern, Where
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import Seat, message_id
from swarmgate.errors import CouncilFailed, EndpointFailed
from swarmgate.llm.endpoint.wire import estimated_tokens


class Debating(DebateRules, Pattern[Debate, DebateState, Outcome]):
    """A debate that is held; `own` of its context may be a dict, which keeps what the participants of a round share."""

    def check(self, request: Debate, context: CouncilContext, where: Where) -> None:
        """Insists that everybody has a model, and can read question, material and a line of each message."""
        check(request)
        check_models(request, context.contexts, where)
        readers = _readers(request, context.contexts)
        check_fits(request, [(name, window_of(agent, brief)) for name, agent, brief in readers])

    def needs(self, request: Debate, context: CouncilContext) -> int:
        """The prompts of all participants in round 1, at a token per 4 characters."""
        return sum(_prompt_tokens(request, seat, context.contexts) for seat in request.seats)

    async def do(self, step: Hashable, state: DebateState, context: CouncilContext) -> Sequence[Frozen]:
        """Asks one participant, or compares what a round brought.

        Raises:
            CouncilFailed: no participant of a round gave anything that counts, or the synthesis did not.
            BudgetExhausted, Stopped, MissingRequirement: as they come.
        """
        match step:
            case Speak():
                return [await _spoken(step, state, context)]
            case Moderate():
                return [await _moderated(state, context)]
            case Compare():
                return [await _compared(state)]
            case Synthesise():
                return [await _synthesised(state, context)]
            case GiveUp():
                raise CouncilFailed(step.why, hint=step.hint)
        raise ValueError(f"{step!r} is no step of a debate")


DEBATING = Debating()
"""The pattern."""


@dataclass(frozen=True, slots=True)
class _SharedTranscript:
    """What all participants of a round are told of those before; `room` is that of the transcript, in characters."""

    transcript: Transcript
    room: int


async def _spoken(step: Speak, state: DebateState, context: CouncilContext) -> Spoke:
    debate = state.debate
    seat = next(each for each in debate.seats if each.id == step.seat)
    agent, own = bounded(context.contexts.agent(seat), debate), _own_sections(state, seat)
    shared = _shared_transcript(state, context) if state.rounds else None
    transcript = shared.transcript.render(shared.room, own=seat.id) if shared else None
    brief = _brief(debate, seat, step.round, (transcript.section, *own) if transcript else own)
    name = message_id(step.round, debate.seats.index(seat) + 1)
    began = datetime.now(UTC).isoformat(timespec="milliseconds")
    ids = transcript.visible if transcript else frozenset[str]()
    speech = await speech_of(agent, seat, brief, name=name, final=state.final, visible=ids)
    return Spoke(speech=speech, condensed=transcript.condensed if transcript else (), started_at=began)


async def _moderated(state: DebateState, context: CouncilContext) -> Moderated:
    debate, began = state.debate, time.perf_counter()
    chair = debate.moderator or debate.seats[0]
    agent = bounded(context.contexts.agent(chair), debate)
    decided = await moderated(agent, debate, state.rounds, final=state.final)
    return Moderated(round=state.number, moderation=decided, seconds=round(time.perf_counter() - began, 4))


async def _compared(state: DebateState) -> Compared:
    claims = claims_in(state.held().speeches)
    earlier = claims_in(speech for held in state.rounds for speech in held.speeches)
    novelty = await asyncio.to_thread(  # a tenth of a second where everybody claims as much as they may
        judged, claims, earlier, threshold=state.debate.similarity
    )
    return Compared(round=state.number, novelty=novelty)


async def _synthesised(state: DebateState, context: CouncilContext) -> Synthesised | SynthesisFailed:
    agent = context.contexts.parent()
    if agent is None:
        return Synthesised()
    recorded, recorder = with_recorder(agent)
    try:
        return Synthesised(synthesis=await synthesised(recorded, state.debate, state.rounds))
    except CouncilFailed as error:
        unreached = isinstance(error.__cause__, EndpointFailed)
        return SynthesisFailed(why=error.message, unreached=unreached, usage=recorder.usage)


def _shared_transcript(state: DebateState, context: CouncilContext) -> _SharedTranscript:
    """The transcript, in the smallest window of those who read it: all participants are told the same."""
    cached = context.own if isinstance(context.own, dict) else {}
    if state.number not in cached:
        room = min(
            window_of(
                context.contexts.agent(seat), _brief(state.debate, seat, state.number, _own_sections(state, seat))
            ).room
            for seat in state.present
        )
        cached[state.number] = _SharedTranscript(Transcript(state.rounds, state.order), room)
    found: _SharedTranscript = cached[state.number]
    return found


def _own_sections(state: DebateState, seat: Seat) -> tuple[Section, ...]:
    """What comes behind the transcript."""
    asked = state.moderation.questions.get(seat.id, "") if state.moderation else ""
    question = (Section("The moderator asks you", asked, "Answer it in your speech."),) if asked else ()
    return (*question, VOTE) if state.final else question


def _brief(debate: Debate, seat: Seat, number: int, sections: Sequence[Section]) -> Brief:
    own = (*material_sections(debate.question, debate.material), *sections)
    return brief_of(seat, number, own, task=debate.task, attempt=debate.attempt)


def _readers(debate: Debate, contexts: ContextFactory) -> Iterable[tuple[str, AgentContext, Brief]]:
    """Whoever reads the debate: the name, the agent context, and the longest brief less the transcript."""
    for seat in debate.seats:
        yield f"participant {seat.id}", contexts.agent(seat), _brief(debate, seat, debate.rounds, (VOTE,))
    if debate.moderator:
        yield "the moderator", contexts.agent(debate.moderator), moderator_brief(debate, debate.rounds)
    if debate.parent and (parent := contexts.parent()):
        yield "the architect", parent, synthesis_brief(debate)


def _prompt_tokens(debate: Debate, seat: Seat, contexts: ContextFactory) -> int:
    window = window_of(contexts.agent(seat), _brief(debate, seat, 1, ()))
    return estimated_tokens(window.size - window.room)

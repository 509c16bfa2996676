"""Executes the steps of a discussion with its participants and the user."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import cast as typed

from swarmgate.council.context import CouncilContext
from swarmgate.council.discussion import personas
from swarmgate.council.discussion.events import (
    CastConfirmed,
    CastProposed,
    Chosen,
    Concluded,
    MessageAdded,
    ModeChanged,
    Paused,
    Reopened,
    UserConsulted,
)
from swarmgate.council.discussion.model import (
    MODERATOR,
    USER,
    Cast,
    Choice,
    ChoiceKind,
    Discussion,
    DiscussionRecord,
    Message,
    Mode,
)
from swarmgate.council.discussion.personas import PROPOSED
from swarmgate.council.discussion.request import Agents, check, check_cast, checked_choice, in_mode
from swarmgate.council.discussion.rules import DiscussionRules
from swarmgate.council.discussion.state import (
    AskParticipant,
    Choose,
    Conclude,
    ConfirmCast,
    ConsultUser,
    Due,
    Fail,
    MakeCast,
    Reopen,
    State,
    next_round,
)
from swarmgate.council.discussion.steps.cast import cast_for, masked_cast
from swarmgate.council.discussion.steps.conclusion import concluded
from swarmgate.council.discussion.steps.messages import message_of
from swarmgate.council.discussion.steps.participants import (
    Participants,
    problem_sections,
    provisional,
    seated,
    topic_sections,
)
from swarmgate.council.discussion.steps.reopening import reopened
from swarmgate.council.discussion.user_choices import FOLLOWING, Confirmed, Pause, People
from swarmgate.council.discussion.view.resume_context import summary
from swarmgate.council.participants.answer_prose import shortened
from swarmgate.council.pattern import Pattern, Where
from swarmgate.council.records.lifecycle import ExcludedFromCache, Standing
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import message_id
from swarmgate.errors import CouncilFailed, CouncilRefused
from swarmgate.llm.limits.worktime import standing_still

_STEERED = ExcludedFromCache(why="the user steered it")


@dataclass
class Session:
    """The working state of a discussion's session: who answers for the user, and all agent contexts.

    Args:
        people: the user.
        begun: how far a discussion is that is taken up; None: it is a new one.
        agents: give the experts of an edited cast what the agents of the settings say of them.
    """

    people: People = FOLLOWING
    begun: State | None = None
    agents: Agents = personas.as_given
    _participants: Participants | None = field(default=None, init=False)

    def participants(self, discussion: Discussion, cast: Cast | None, context: CouncilContext) -> Participants:
        """Everybody at the table; agent contexts are made once for a cast.

        Raises:
            ConfigError, MissingRequirement: somebody has no model, named.
            CouncilRefused: topic and material do not fit somebody's window.
        """
        there, cast = self._participants, cast or provisional(discussion)
        if there is None or (there.discussion, there.cast) != (discussion, cast):
            there = self._participants = seated(discussion, cast, context.contexts)
        return there


class Discussing(DiscussionRules, Pattern[Discussion, State, DiscussionRecord]):
    """A discussion, as it is held."""

    def check(self, request: Discussion, context: CouncilContext, where: Where) -> None:
        """Whether all bounds are kept, everybody has a model, and what is discussed fits all windows."""
        del where
        check(request)
        session: Session = context.own
        state = session.begun or State(request)
        session.participants(state.discussion, state.cast, context)

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """Does a step.

        Raises:
            CouncilFailed: there is no cast or no conclusion, all experts failed in a step, or the time is over.
            CouncilRefused: what the user wants cannot be; or the discussion does not fit a window any more.
            WaitingForUser, BudgetExhausted, Stopped: as they come.
        """
        session: Session = context.own
        match typed("Due", step):
            case Fail(why, hint):
                raise CouncilFailed(why, hint=hint)
            case MakeCast():
                return (await _cast(state, context, session),)
            case ConfirmCast():
                return await _confirmed(state, context, session)
            case AskParticipant() as action:
                began = datetime.now(UTC).isoformat(timespec="milliseconds")
                participants = session.participants(state.discussion, state.cast, context)
                held = state.held or next_round(state)
                return (
                    MessageAdded(message=await message_of(action, held, state.rounds, participants), started_at=began),
                )
            case ConsultUser() as action:
                return await _consulted(action, state, session)
            case Reopen():
                return (await _reopened(state, context, session),)
            case Choose():
                return await _chosen(state, context, session)
            case Conclude():
                participants = session.participants(state.discussion, state.cast, context)
                return (Concluded(conclusion=await concluded(participants, state.rounds)),)


DISCUSSION = Discussing()


# --- the cast ---


async def _cast(state: State, context: CouncilContext, session: Session) -> CastProposed:
    """A cast that waits to be confirmed; its text may be edited until then."""
    discussion = state.discussion
    participants = session.participants(discussion, None, context)
    sections = (*topic_sections(discussion), *problem_sections(discussion.problem_definition))
    made = await cast_for(participants.agents[MODERATOR], discussion, sections)
    cast = masked_cast(made, context.records.clean, generated=not discussion.experts)
    _propose(cast, discussion, context)
    return CastProposed(cast=cast)


def _propose(cast: Cast, discussion: Discussion, context: CouncilContext) -> None:
    context.records.documents.put(discussion.id, PROPOSED, f"{cast.model_dump_json(indent=1)}\n")


async def _confirmed(state: State, context: CouncilContext, session: Session) -> Sequence[Frozen]:
    """What the user makes of a cast; who changes it, or its text, steers the discussion."""
    discussion = state.discussion
    before = state.cast or Cast(experts=())
    cast = personas.proposed(context.records.documents, discussion.id, before, session.agents)
    check_cast(cast, discussion)
    session.participants(discussion, cast, context)
    try:
        with standing_still():
            reply = await session.people.confirm(discussion, cast)
    except Pause:
        return (Paused(),)
    if isinstance(reply, Confirmed):
        same = cast == state.cast
        return (CastConfirmed(cast=cast),) if same else (_STEERED, CastConfirmed(cast=cast))
    if isinstance(reply, Mode):
        in_mode(discussion, reply)
        return (_STEERED, ModeChanged(mode=reply))
    check_cast(reply, discussion)
    reply = reply.model_copy(update={"experts": session.agents(reply.experts, personas.in_code)})
    changed = masked_cast(reply, context.records.clean)
    session.participants(discussion, changed, context)
    _propose(changed, discussion, context)
    return (_STEERED, CastConfirmed(cast=changed))


# --- the user ---


async def _consulted(action: ConsultUser, state: State, session: Session) -> Sequence[Frozen]:
    """What the user says after a step."""
    try:
        with standing_still():
            reply = await session.people.speak(_record(state), action.step)
    except Pause:
        return (Paused(),)
    text, cut = shortened(reply.strip())
    if not text:
        return (UserConsulted(),)
    message = Message(
        id=message_id(action.number, action.messages + 1),
        round=action.number,
        step=action.step,
        author=USER,
        text=text,
        human=True,
        noted=(cut,) if cut else (),
    )
    return (_STEERED, UserConsulted(message=message))


async def _reopened(state: State, context: CouncilContext, session: Session) -> Reopened:
    """How the moderator takes the discussion up; a proposal for which there is no room is none."""
    participants = session.participants(state.discussion, state.cast, context)
    reopening = await reopened(participants, state.rounds, summary(_record(state)))
    follow = Choice(after=reopening.after, kind=ChoiceKind.FOLLOW, by="moderator")
    reopenings, choices = (*state.reopenings, reopening), (*state.choices, follow)
    try:
        participants.check_room(next_round(replace(state, choices=choices, reopenings=reopenings)))
    except CouncilRefused as error:
        noted = (*reopening.noted, f"its proposal was left out: {error.message}")
        reopening = reopening.model_copy(update={"topic": "", "framing": "", "noted": noted})
    return Reopened(reopening=reopening)


async def _chosen(state: State, context: CouncilContext, session: Session) -> Sequence[Frozen]:
    """What comes after the last round, if everybody can still follow to the end with it."""
    try:
        with standing_still():
            choice = checked_choice(await session.people.choose(_record(state)), len(state.rounds))
    except Pause:
        return (Paused(),)
    participants = session.participants(state.discussion, state.cast, context)
    participants.check_room(next_round(replace(state, choices=(*state.choices, choice))))
    if choice.kind is ChoiceKind.PAUSE:
        return (Paused(),)
    steers = choice.by == "user" and (choice.kind is not ChoiceKind.FOLLOW or choice.constraint)
    return (_STEERED, Chosen(choice=choice)) if steers else (Chosen(choice=choice),)


def _record(state: State) -> DiscussionRecord:
    """The record as the user sees it while it is at work."""
    rounds = (*state.rounds, *([state.partial] if state.partial else ()))
    used = [each.usage for held in rounds for each in held.messages]
    used += [*([state.cast.usage] if state.cast else []), *(each.usage for each in state.reopenings)]
    standing = Standing(state.discussion.id, DISCUSSION.name, state, usage=sum(used[1:], used[0]))
    return DISCUSSION.outcome(standing)

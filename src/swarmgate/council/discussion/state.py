"""State of a discussion, folded from its events, and the steps that are due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from swarmgate.council.discussion.argument.quality import warnings
from swarmgate.council.discussion.argument.structure import integrity_problem, key, measured
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
from swarmgate.council.discussion.findings import Assessment, Conclusion, Recommendation, Reopening
from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, Discussion, DiscussionRound, Message, Step
from swarmgate.council.discussion.planning import forced_by, next_step, speakers
from swarmgate.council.discussion.request import in_mode
from swarmgate.council.records.lifecycle import Resumed, TimeUp
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import message_id
from swarmgate.errors import IllegalMove

_OF_EXPERTS = frozenset({Step.POSITION, Step.ARGUE, Step.RESPOND})
"""Steps of several participants: where all of them fail, nothing was said, and the step is asked anew."""

_DIRECTIONS = {
    ChoiceKind.DEEP_DIVE: "Go deeper into",
    ChoiceKind.DIFFERENT_ANGLE: "Take a different angle",
}


# --- what can be due ---


class MakeCast(NamedTuple):
    """The moderator names the experts, and who of them opposes whom."""


class ConfirmCast(NamedTuple):
    """The user confirms the cast; `changes` counts how often another mode was wanted."""

    changes: int


class AskParticipant(NamedTuple):
    """A participant has its part in a step of a round: the message of that id."""

    id: str
    who: str
    number: int
    step: Step


class ConsultUser(NamedTuple):
    """The user may speak, after a step of a round with so many messages."""

    number: int
    step: Step
    messages: int


class Reopen(NamedTuple):
    """The moderator takes a discussion up again that was left after a round."""

    after: int


class Choose(NamedTuple):
    """The user, or the moderator, chooses what comes after a round."""

    after: int


class Conclude(NamedTuple):
    """All rounds are concluded."""


class Fail(NamedTuple):
    """It cannot go on in this session."""

    why: str
    hint: str = ""


Due = MakeCast | ConfirmCast | AskParticipant | ConsultUser | Reopen | Choose | Conclude | Fail


# --- the state ---


class Turn(NamedTuple):
    """The step of a round that is due, and who speaks in it, in order of seats."""

    step: Step
    who: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """How far a discussion is.

    `held` is the round at work with its whole steps; `turn` is the step that is due in it, `spoken` what was said in
    that so far, in the order of arrival. `listening`: the step is whole, and the user's turn is due. `spoken_in`: a
    message of this round came since a process has been at it. `left`: no round was at work when the last session ended,
    and another one began; `reopenings`: how the moderator took it up then. `times`: when each message was asked for, in
    UTC, by its id.
    """

    discussion: Discussion
    cast: Cast | None = None
    confirmed: bool = False
    changes: int = 0
    rounds: tuple[DiscussionRound, ...] = ()
    held: DiscussionRound | None = None
    turn: Turn | None = None
    spoken: tuple[Message, ...] = ()
    listening: bool = False
    choices: tuple[Choice, ...] = ()
    reopenings: tuple[Reopening, ...] = ()
    left: bool = False
    times: Mapping[str, str] = field(default_factory=dict)
    conclusion: Conclusion | None = None
    paused: bool = False
    late: bool = False
    spoken_in: bool = False

    @property
    def is_over(self) -> bool:
        """Whether what is left is the conclusion."""
        chosen = self.choices[-1].after == len(self.rounds) if self.choices else False
        return self.confirmed and self.held is None and chosen

    @property
    def reopening(self) -> Reopening | None:
        """How the moderator took it up after the last whole round; None: it did not, or not yet."""
        last = self.reopenings[-1] if self.reopenings else None
        return last if last and last.after == len(self.rounds) else None

    @property
    def partial(self) -> DiscussionRound | None:
        """The round at work, where a step of it is whole."""
        return self.held if self.held and self.held.done else None

    @property
    def silent(self) -> bool:
        """Whether all experts failed in the step that is due."""
        return bool(self.spoken) and self.turn is not None and len(self.spoken) == len(self.turn.who)


def due(state: State) -> Sequence[Due]:
    """The steps that are due now."""
    if state.paused or state.conclusion:
        return ()
    if state.late:
        return (Fail(f"the {state.discussion.whole_s:g} s of one sitting (`whole_s`) are over; {_RECORDED}"),)
    if not state.confirmed:
        return (ConfirmCast(state.changes) if state.cast else MakeCast(),)
    if state.held is None:
        return (_between(state),)
    return _due_in(state, state.held)


def _between(state: State) -> Due:
    """What is due between two rounds, or after the last one."""
    if state.is_over:
        return Conclude()
    waits = state.left and state.reopening is None
    return Reopen(len(state.rounds)) if waits else Choose(len(state.rounds))


_RECORDED = "finished steps are on record"


def _due_in(state: State, held: DiscussionRound) -> Sequence[Due]:
    """The steps that are due in a round: of the participants, those that have not spoken yet."""
    if state.turn is None:
        return ()
    step, who = state.turn
    if state.listening:
        return (ConsultUser(held.number, step, len(held.messages)),)
    if state.silent:
        why = "; ".join(dict.fromkeys(each.failed for each in _in_order(state.spoken)))
        return (
            Fail(
                f"all {len(who)} experts failed in step {step} of round {held.number}: {why}",
                "look at the models of the experts, their exchanges are in .swarm/traces/",
            ),
        )
    there = {each.author for each in state.spoken}
    first = len(held.messages) + 1
    ids = [message_id(held.number, first + at) for at in range(len(who))]
    return [AskParticipant(id, each, held.number, step) for id, each in zip(ids, who, strict=True) if each not in there]  # noqa: A001 - the field's name


# --- the fold ---


def applied(state: State, event: Frozen) -> State:
    """The state after one more event.

    Raises:
        IllegalMove: it may not stand there.
    """
    match event:
        case Resumed():
            spoken = () if state.silent else state.spoken
            left = bool(state.rounds) and state.held is None
            return replace(state, spoken=spoken, left=left, paused=False, late=False, spoken_in=False)
        case TimeUp():
            return replace(state, late=True)
        case Paused():
            return replace(state, paused=True)
        case CastProposed() | ModeChanged() | CastConfirmed():
            return _cast(state, event)
        case MessageAdded(message=message):
            times = {**state.times, message.id: event.started_at}
            return _message_added(replace(state, times=times), message, event.started_at)
        case UserConsulted(message=message):
            return _heard(state, message)
        case Reopened(reopening=reopening):
            _insist(Reopen(reopening.after) in due(replace(state, late=False)), "a taking up")
            return replace(state, reopenings=(*state.reopenings, reopening))
        case Chosen(choice=choice):
            return _chosen(state, choice)
        case Concluded(conclusion=conclusion):
            _insist(state.is_over and state.conclusion is None, "a conclusion")
            return replace(state, conclusion=conclusion)
    raise IllegalMove(f"A discussion knows no {type(event).__name__}.")


def _cast(state: State, event: CastProposed | ModeChanged | CastConfirmed) -> State:
    _insist(not state.confirmed, "a change of the cast")
    match event:
        case CastProposed(cast=cast):
            return replace(state, cast=cast)
        case CastConfirmed(cast=cast):
            return _opened(replace(state, cast=cast, confirmed=True))
    discussion = in_mode(state.discussion, event.mode)
    least, most = discussion.extent.experts
    fits = state.cast is not None and least <= len(state.cast.experts) <= most
    return replace(state, discussion=discussion, cast=state.cast if fits else None, changes=state.changes + 1)


def _opened(state: State) -> State:
    """With the next round open."""
    return _turned(replace(state, held=next_round(state), spoken_in=False))


def _turned(state: State) -> State:
    """With the step that is due in the round at work; the round is whole where none is.

    Raises:
        IllegalMove: what was said in the round cannot have been said so.
    """
    held, cast, extent = state.held, state.cast, state.discussion.extent
    if held is None or cast is None:
        return state
    if step := next_step(held, state.rounds, extent):
        turned = replace(state, turn=Turn(step, speakers(step, held, state.rounds, cast, extent)))
        return turned if turned.turn and turned.turn.who else _whole(turned, held, step)
    counted = held.model_copy(update={"measured": measured(held, state.rounds)})
    last = held.number >= state.discussion.rounds
    whole = (*state.rounds, counted.model_copy(update={"warnings": warnings(counted, state.rounds, last=last)}))
    if why := integrity_problem(cast, whole, extent=extent):
        raise IllegalMove(f"This is of no discussion that was held: {why}")
    bounds = (Choice(after=len(whole), kind=ChoiceKind.SYNTHESIZE, by="bounds"),)
    return replace(
        state, rounds=whole, held=None, turn=None, left=False, choices=(*state.choices, *(bounds if last else ()))
    )


def _message_added(state: State, message: Message, started_at: str) -> State:
    step = AskParticipant(message.id, message.author, message.round, message.step)
    _insist(state.held is not None and step in _due_in(state, state.held), f"message {message.id} of {message.author}")
    held, turn = state.held, state.turn
    if held is None or turn is None:
        return state
    spoken = (*state.spoken, message)
    started = held.model_copy(update={"started_at": held.started_at or started_at})
    after = replace(state, held=started, spoken=spoken, spoken_in=True)
    if len(spoken) < len(turn.who):
        return after
    of_all = turn.step in _OF_EXPERTS and state.cast is not None and len(turn.who) == len(state.cast.experts)
    if of_all and all(each.failed for each in spoken):
        return after
    return _whole(after, started, turn.step)


def _whole(state: State, held: DiscussionRound, step: Step) -> State:
    """With the step whole; who was asked at the same time took as long as the slowest."""
    cast = state.cast or Cast(experts=())
    forced = forced_by(step, held, state.rounds, cast, state.discussion.extent)
    changed = {
        "messages": (*held.messages, *_in_order(state.spoken)),
        "done": (*held.done, step),
        "forced": (*held.forced, *forced),
        "seconds": round(held.seconds + max((each.seconds for each in state.spoken), default=0.0), 4),
    }
    return replace(state, held=held.model_copy(update=changed), spoken=(), listening=True)


def _heard(state: State, message: Message | None) -> State:
    held = state.held
    _insist(state.listening, "a word of the user")
    if held is not None and message is not None:
        expected = message_id(held.number, len(held.messages) + 1)
        _insist(message.human and message.id == expected, f"message {message.id} of the user")
        held = held.model_copy(update={"messages": (*held.messages, message)})
    return _turned(replace(state, held=held, listening=False))


def _chosen(state: State, choice: Choice) -> State:
    waits = state.confirmed and state.held is None and not state.is_over
    _insist(waits and choice.after == len(state.rounds), f"a choice after round {choice.after}")
    after = replace(state, choices=(*state.choices, choice))
    return after if resolved(choice, after).kind is ChoiceKind.SYNTHESIZE else _opened(after)


def _in_order(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(sorted(messages, key=lambda each: key(each.id)))


def _insist(holds: bool, what: str) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise IllegalMove(f"{what[0].upper()}{what[1:]} is not due there.")


# --- what comes after a round ---


def resolved(choice: Choice, state: State) -> Choice:
    """The choice with what the moderator recommends where it is followed.

    The topic with which it took the discussion up again is newer than what it recommended before. It ends only after
    the least rounds, and not where a constraint was given for what is to come.
    """
    if choice.kind is not ChoiceKind.FOLLOW:
        return choice
    assessment = _assessment_of(state.rounds[choice.after - 1])
    wanted = assessment.recommendation if assessment else Recommendation.CONTINUE
    goes_on = choice.after < state.discussion.least or bool(choice.constraint)
    too_early = wanted is Recommendation.SYNTHESIZE and goes_on
    if _proposed(choice, state):
        return choice
    if assessment is None or wanted is Recommendation.CONTINUE or too_early:
        return choice
    return choice.model_copy(update={"kind": ChoiceKind(wanted.value), "text": choice.text or assessment.focus})


def next_round(state: State) -> DiscussionRound:
    """The round after those that are whole, with the direction and the constraints that the choices before it gave."""
    chosen = [resolved(each, state) for each in state.choices]
    last = chosen[-1] if chosen else None
    proposed = _proposed(last, state) if last else None
    return DiscussionRound(
        number=len(state.rounds) + 1,
        topic=proposed.topic if proposed else "",
        direction=_direction(last, proposed, state),
        constraints=tuple(filter(None, map(_constraint, chosen))),
    )


def _proposed(choice: Choice, state: State) -> Reopening | None:
    """How the moderator took it up before a choice that goes on with its topic; None: the choice has its own."""
    found = next((each for each in reversed(state.reopenings) if each.after == choice.after), None)
    follows = choice.kind in (ChoiceKind.FOLLOW, ChoiceKind.INJECT) or (
        choice.kind is ChoiceKind.DEEP_DIVE and not choice.text
    )
    return found if found and found.topic and follows else None


def _direction(choice: Choice | None, proposed: Reopening | None, state: State) -> str:
    if proposed:
        return "\n".join(filter(None, (proposed.topic, proposed.framing)))
    if choice is None or choice.kind not in _DIRECTIONS:
        return ""
    is_angle = choice.kind is ChoiceKind.DIFFERENT_ANGLE
    otherwise = "one that nobody has taken yet" if is_angle else _contested(state.rounds[choice.after - 1])
    return f"{_DIRECTIONS[choice.kind]}: {choice.text or otherwise}"


def _contested(held: DiscussionRound) -> str:
    """What a round left most divided, as its moderator names it first."""
    assessment = _assessment_of(held)
    points = [each.point for each in assessment.active_disagreements if each.point] if assessment else []
    return points[0] if points else "what divides you most"


def _assessment_of(held: DiscussionRound) -> Assessment | None:
    """The moderator's assessment; None: it failed."""
    return next((each.assessment for each in held.messages if each.step is Step.ASSESS), None)


def _constraint(choice: Choice) -> str:
    return choice.text if choice.kind is ChoiceKind.INJECT else choice.constraint

"""The steps of a round: who is asked, what, and how the answer is read. Each gives the messages of its voices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.answers import Form
from swarmgate.agents.brief import Section
from swarmgate.council.asking import together
from swarmgate.council.discussion.answers import Part, Reader
from swarmgate.council.discussion.masking import masked
from swarmgate.council.discussion.moderation import assessment_of, framing_of, question_of, record_of
from swarmgate.council.discussion.planning import Heat, heat, responders
from swarmgate.council.discussion.progress import beginning, what
from swarmgate.council.discussion.table import Table
from swarmgate.council.discussion.windowing import Told, measured_line
from swarmgate.council.stream import Contributed, PatternEvent
from swarmgate.domain.argument import consensus_of, measured
from swarmgate.domain.debate import message_id
from swarmgate.domain.discussion import (
    CONTRARIAN,
    CROSS_DOMAIN,
    HISTORIAN,
    MODERATOR,
    DiscussionRound,
    Message,
    Step,
)

Read = Callable[[Reader], Form[Any, Part] | Callable[[str], Part]]
"""The form of an answer; or, of prose, what its text comes to."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: who is asked, under which word of the wire, with what of its own, and how answers are read."""

    who: tuple[str, ...]
    wire: str
    read: Read
    sections: tuple[Section, ...] = ()


def turn_of(step: Step, held: DiscussionRound, before: Sequence[DiscussionRound], table: Table) -> Turn:
    """Who is asked what in a step that is due."""
    experts = table.experts
    voices = {each.name: each.id for each in table.cast.experts} | {each: each for each in (*experts, *table.fixed)}
    match step:
        case Step.POSITION:
            return Turn(experts, step, lambda reader: reader.position)
        case Step.FRAME:
            return Turn((MODERATOR,), step, lambda _: framing_of(voices))
        case Step.ARGUE:
            return Turn(experts, step, lambda reader: reader.argument)
        case Step.ATTACK | Step.STRESS:
            return Turn((CONTRARIAN,), Step.ATTACK, lambda reader: reader.attack, _attacked(step, held, before))
        case Step.ASK:
            return Turn((MODERATOR,), step, lambda _: question_of, (_asked(held, before),))
        case Step.RESPOND:
            return Turn(
                responders(held, before, table.cast, table.discussion.extent), step, lambda reader: reader.response
            )
        case Step.ANALOGY:
            return Turn((CROSS_DOMAIN,), step, lambda reader: reader.argument)
        case Step.ASSESS:
            counts = (_counts(held, before),)
            return Turn((MODERATOR,), step, lambda reader: assessment_of(reader.seen), counts)
        case Step.RECORD:
            return Turn((HISTORIAN,), step, lambda _: record_of, (_counts(held, before),))


async def spoken(
    turn: Turn,
    step: Step,
    held: DiscussionRound,
    before: Sequence[DiscussionRound],
    table: Table,
    on_event: Callable[[PatternEvent], None],
) -> tuple[Message, ...]:
    """The messages of a step, in order of seats, of those that failed too; all voices are asked at once.

    Raises:
        CouncilRefused: the discussion does not fit somebody's window any more.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    rounds = (*before, held)
    authors = {each.id: each.author for past in rounds for each in past.messages}

    async def speak(who: str, id: str) -> Message:  # noqa: A002 - the field's name
        message = await _message(turn, step, who, id, rounds, authors, table)
        on_event(
            Contributed(
                pattern="discussion",
                id=table.discussion.id,
                number=held.number,
                step=step,
                message=id,
                who=who,
                what=what(message),
                text=beginning(message),
                failed=message.failed,
                usage=message.usage,
            )
        )
        return message

    first = len(held.messages) + 1
    asked = [speak(who, message_id(held.number, first + at)) for at, who in enumerate(turn.who)]
    return tuple(await together(asked))


async def _message(
    turn: Turn,
    step: Step,
    who: str,
    id: str,  # noqa: A002 - the field's name
    rounds: Sequence[DiscussionRound],
    authors: Mapping[str, str],
    table: Table,
) -> Message:
    def reading(told: Told) -> Form[Any, Part] | Callable[[str], Part]:
        return turn.read(Reader(who, {each: authors[each] for each in told.shown}))

    number = rounds[-1].number
    heard, told = await table.ask(who, turn.wire, rounds=rounds, number=number, sections=turn.sections, read=reading)
    condensed = tuple(each for each in told.condensed if each in told.shown)
    fields = {**(heard.value or {}), **heard.took, "failed": heard.failed, "condensed": condensed}
    return masked(Message(id=id, round=number, step=step, author=who, **fields), table.clean)


def _attacked(step: Step, held: DiscussionRound, before: Sequence[DiscussionRound]) -> tuple[Section, ...]:
    agreed = "\n".join(consensus_of(held, before))
    target = Section("The strongest consensus", agreed, "Attack it, by these message ids.")
    if step is Step.STRESS:
        why, wanted = "Nobody countered any message in this round.", "Find the strongest counter there is, and make it."
    elif Step.ATTACK in held.done:
        why, wanted = "There is too little disagreement in this round.", "Answer the moderator: what could go wrong?"
    else:
        return (target,)
    return (target, Section("Why you speak again", why, wanted))


def _asked(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Section:
    cold = heat(held, before) is Heat.COLD
    wanted = "That is too little: ask what could go wrong." if cold else "That is too much: ask for the common ground."
    disagreement = measured(held, before).disagreement
    return Section("Why you ask", f"Disagreement of this round, from its links: {disagreement:g} of 10", wanted)


def _counts(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Section:
    return Section(
        "What was measured", measured_line(held.number, measured(held, before)), "Counted by swarmgate from the links."
    )

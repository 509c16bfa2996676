"""The message steps of a discussion round: what a participant is asked in each, and how its answer is parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.briefs.brief import Section, cut, one_line
from swarmgate.agents.tools.answers import Form
from swarmgate.council.discussion.answers.assessment import assessment_of
from swarmgate.council.discussion.answers.experts import Part, Reader
from swarmgate.council.discussion.answers.moderation import framing_of, question_of, record_of
from swarmgate.council.discussion.argument.structure import consensus_of, measured, minority_of
from swarmgate.council.discussion.model import CONTRARIAN, MODERATOR, DiscussionRound, Message, Step
from swarmgate.council.discussion.planning import DisagreementLevel, disagreement_level
from swarmgate.council.discussion.state import AskParticipant
from swarmgate.council.discussion.steps.participants import Participants, round_sections
from swarmgate.council.discussion.steps.transcript import RenderedTranscript
from swarmgate.council.discussion.view.message import measured_line

Read = Callable[[Reader], Form[Any, Part] | Callable[[str], Part]]
"""The form of an answer; or, of prose, what its text comes to."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: under which word of the wire it is asked, with what of its own, and how answers are read."""

    wire: str
    read: Read
    sections: tuple[Section, ...] = ()


def turn_of(step: Step, held: DiscussionRound, before: Sequence[DiscussionRound], participants: Participants) -> Turn:
    """What is asked in a step that is due."""
    names = participants.names
    match step:
        case Step.POSITION:
            return Turn(step, lambda reader: reader.position)
        case Step.FRAME:
            return Turn(step, lambda _: framing_of(names), _poor(held, before, participants))
        case Step.ARGUE:
            return Turn(step, lambda reader: reader.argument)
        case Step.ATTACK | Step.STRESS:
            return Turn(Step.ATTACK, lambda reader: reader.attack, _attacked(step, held, before))
        case Step.ASK:
            return Turn(step, lambda _: question_of, (_asked(held, before),))
        case Step.RESPOND:
            return Turn(step, lambda reader: reader.response)
        case Step.ANALOGY:
            return Turn(step, lambda reader: reader.argument)
        case Step.ASSESS:
            counts = (_counts(held, before),)
            return Turn(step, lambda reader: assessment_of(reader.seen, names), counts)
        case Step.RECORD:
            return Turn(step, lambda _: record_of, (_counts(held, before),))


async def message_of(
    action: AskParticipant,
    held: DiscussionRound,
    before: Sequence[DiscussionRound],
    participants: Participants,
) -> Message:
    """What a participant says in a step; one that failed says why.

    Args:
        action: whose turn it is.
        held: the round at work, with its whole steps alone: what its own step says, no participant can know.
        before: the rounds before it.
        participants: of the discussion, with their agent contexts.

    Raises:
        CouncilRefused: the discussion does not fit its window any more.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    rounds, turn = (*before, held), turn_of(action.step, held, before, participants)
    said = [each for past in rounds for each in past.messages if not each.failed]
    authors, who, number = {each.id: each.author for each in said}, action.who, held.number
    stands = [each.position.position for each in said if each.author == who and each.position]
    stress = [each.id for each in held.messages if each.author == CONTRARIAN and not each.failed]

    def reading(transcript: RenderedTranscript) -> Form[Any, Part] | Callable[[str], Part]:
        seen = {each: authors[each] for each in transcript.visible}
        return turn.read(Reader(who, seen, stands="".join(stands[-1:]), stress="".join(stress[-1:])))

    sections = turn.sections
    if action.step is Step.ARGUE:
        spare = participants.spare(who, turn.wire, (*round_sections(rounds, number), *sections))
        sections = (*sections, _asked_of(who, held, participants.experts, spare))
    result, transcript = await participants.ask(
        who, turn.wire, rounds=rounds, number=number, sections=sections, read=reading
    )
    condensed = tuple(each for each in transcript.condensed if each in transcript.visible)
    fields = {**(result.value or {}), **result.took, "failed": result.failed, "condensed": condensed}
    return Message(id=action.id, round=number, step=action.step, author=who, **fields)


def _attacked(step: Step, held: DiscussionRound, before: Sequence[DiscussionRound]) -> tuple[Section, ...]:
    agreed = "\n".join(consensus_of(held, before))
    target = [Section("The strongest consensus", agreed, "Attack it, by these message ids.")]
    if minority := minority_of(held, before):
        wanted = "There is dissent already. Give what these messages hold an argument that nobody has made for it yet."
        target.append(Section("The minority", "\n".join(minority), wanted))
    if step is Step.STRESS:
        why, wanted = "Nobody countered any message in this round.", "Find the strongest counter there is, and make it."
    elif Step.ATTACK in held.done:
        why, wanted = "There is too little disagreement in this round.", "Answer the moderator: what could go wrong?"
    else:
        return tuple(target)
    return (*target, Section("Why you speak again", why, wanted))


def _asked_of(who: str, held: DiscussionRound, experts: Sequence[str], size: int) -> Section:
    """What the moderator asks an expert by name in a round, and what it asks no expert by name."""
    framed = [(message.id, each) for message in held.messages if message.framing for each in message.framing.questions]
    asked = [(at, each.text) for at, each in framed if who in each.to or not {*each.to} & {*experts}]
    text = "\n".join(f"[{at}] {one_line(text)}" for at, text in asked)
    return Section("The moderator asks you", cut(text, size, "...") if size else "", "Answer that in your argument.")


def _poor(held: DiscussionRound, before: Sequence[DiscussionRound], participants: Participants) -> tuple[Section, ...]:
    """What swarmgate warned of after the last round."""
    size = participants.spare(MODERATOR, Step.FRAME, round_sections((held,), held.number))
    wrong = cut("\n".join(before[-1].warnings), size, "...") if before and size else ""
    return (Section("What was wrong with the last round", wrong, "Frame this one so that it is mended."),)


def _asked(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Section:
    cold = disagreement_level(held, before) is DisagreementLevel.COLD
    wanted = "That is too little: ask what could go wrong." if cold else "That is too much: ask for the common ground."
    disagreement = measured(held, before).disagreement
    return Section("Why you ask", f"Disagreement of this round, from its links: {disagreement:g} of 10", wanted)


def _counts(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Section:
    return Section(
        "What was measured", measured_line(held.number, measured(held, before)), "Counted by swarmgate from the links."
    )

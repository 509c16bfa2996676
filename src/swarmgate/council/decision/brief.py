"""Builds the briefs of the participants of a decision: question, proposal, earlier contributions, answer format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from swarmgate.agents.briefs.brief import Brief, Section, cut
from swarmgate.agents.context import AgentContext
from swarmgate.council.debate.model import Round, Speech
from swarmgate.council.debate.transcript import GIST_LINE, Transcript
from swarmgate.council.decision.answers import MOST_PROPOSAL, asked_for, lettered
from swarmgate.council.decision.model import (
    FACILITATOR,
    VOTING,
    Count,
    Decision,
    DecisionRound,
    DecisionSeat,
)
from swarmgate.council.decision.state import CONTRIBUTE, FACILITATE, proposal_after
from swarmgate.council.decision.view import rule_of, stand_of
from swarmgate.council.participants.context_window import material_sections, window_of
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.participants.question import brief_for
from swarmgate.council.requests.toml_lines import Place
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused
from swarmgate.llm.endpoint.wire import estimated_tokens

MOST_PREPARED = 8_000
"""Characters of a preparation that its participant is shown."""


def as_participant(seat: DecisionSeat) -> Seat:
    """A participant as the agent contexts know participants."""
    return Seat(id=seat.id, model=seat.model, system=seat.system, folder=seat.folder)


def facilitator_of(decision: Decision) -> Seat:
    """Who synthesises: the participant of that name; one of its own where that is nobody, or a person."""
    named = next((each for each in decision.participants if each.id == decision.facilitator), None)
    if named and not named.human:
        return as_participant(named)
    return Seat(
        id=FACILITATOR if named else decision.facilitator,
        model=decision.facilitator_model,
        system=decision.facilitator_system,
    )


def voices_of(decision: Decision) -> list[tuple[Seat, Place]]:
    """Every model that speaks, the facilitator's last, and where in a request its model stands."""
    seats = enumerate(decision.participants)
    return [
        *((as_participant(each), ("participants", at, "model")) for at, each in seats if not each.human),
        (facilitator_of(decision), ("facilitator",)),
    ]


def contribution_brief(
    decision: Decision, seat: DecisionSeat, agent: AgentContext, before: Sequence[DecisionRound], *, prepared: str = ""
) -> Brief:
    """The brief of a participant in the round after those `before`, within its window."""
    part = "\n\n".join(filter(None, (seat.role, seat.perspective)))
    fixed = (
        Section("Your part", part, whole=True),
        *_matter(decision),
        Section(
            "Your preparation", cut(prepared, MOST_PREPARED, " ..."), "What you worked out beforehand.", whole=True
        ),
        *_proposed(before),
    )
    answer = Section("Your answer", asked_for(decision), "How your answer ends.", whole=True)
    number = len(before) + 1

    def brief(*said: Section) -> Brief:
        return brief_for(seat.id, CONTRIBUTE, number, *fixed, *said, answer)

    return brief(*_earlier(decision, before, room=window_of(agent, brief()).room, own=seat.id)) if before else brief()


def facilitation_brief(
    decision: Decision, agent: AgentContext, before: Sequence[DecisionRound], held: DecisionRound, *, last: bool
) -> Brief:
    """The brief of the facilitator after the contributions of a round; `last`: no round follows."""
    seat = facilitator_of(decision)
    fixed = (*_matter(decision), *_proposed(before))
    count = Section("The count", _counted(held.count, last=last), "By swarmgate. You cannot change it.", whole=True)

    def brief(*said: Section) -> Brief:
        return brief_for(seat.id, FACILITATE, held.number, *fixed, *said, count)

    room = window_of(agent, brief()).room
    return brief(*_earlier(decision, (*before, held), room=room, own=seat.id))


def prompt_tokens(decision: Decision, contexts: ContextFactory) -> int:
    """The prompts of all participants in round 1, at a token per 4 characters, without what is prepared for them.

    Raises:
        ConfigError, MissingRequirement: a participant has no model.
    """
    total = 0
    for each in (each for each in decision.participants if not each.human):
        agent = contexts.agent(as_participant(each))
        window = window_of(agent, contribution_brief(decision, each, agent, ()))
        total += estimated_tokens(window.size - window.room)
    return total


def check_windows(decision: Decision, agents: Iterable[tuple[str, AgentContext]]) -> None:
    """Whether everybody can read the question, the material and at least a line of each contribution.

    Args:
        decision: what is decided.
        agents: all who read, by name.

    Raises:
        CouncilRefused: somebody cannot; the message names the sizes.
    """
    prepares = any(each.discussion or each.critique for each in decision.participants)
    needed = decision.rounds * len(decision.participants) * GIST_LINE + MOST_PROPOSAL + MOST_PREPARED * prepares
    longest = max(decision.participants, key=lambda each: len(each.perspective) + len(each.role))
    for name, agent in agents:
        window = window_of(agent, contribution_brief(decision, longest, agent, ()))
        if window.room < needed:
            raise CouncilRefused(
                f"`material` has {len(decision.material):,} characters and `question` {len(decision.question):,}: with "
                f"the prompt, and {needed:,} for what is said, that is {window.size - window.room + needed:,}, and "
                f"{name} can read {window.size:,}",
                hint="decide on a smaller piece, or give that voice a model with a larger window ([roles.X] "
                "context_tokens)",
            )


# --- sections ---


def _matter(decision: Decision) -> tuple[Section, ...]:
    options = lettered(decision.options) if decision.strategy in VOTING else ""
    return (
        *material_sections(decision.question, decision.material),
        Section("The options", options, "What is voted on.", whole=True),
        Section("How it is decided", rule_of(decision), whole=True),
    )


def _proposed(before: Sequence[DecisionRound]) -> tuple[Section, ...]:
    """What this round decides on; nothing in the first round, which has the question."""
    if not before:
        return ()
    note = "What the facilitator made of the round before. You decide on this."
    return (Section("The proposal", proposal_after(before), note, whole=True),)


def _earlier(decision: Decision, rounds: Sequence[DecisionRound], *, room: int, own: str) -> tuple[Section, Section]:
    """What was said, as far as there is room, and where everybody stood in the newest round."""
    newest = rounds[-1]
    stands = "\n".join(f"{each.participant}: {stand_of(decision, each)}" for each in newest.contributions)
    stood = Section(f"Where everybody stood in round {newest.number}", stands, whole=True)
    seats = [each.id for each in decision.participants]
    by = newest.number % len(seats)
    transcript = Transcript([_as_round(each) for each in rounds], seats[by:] + seats[:by])
    transcript_text = transcript.render(room - len(stood.render()) - _HEADS, own=own)
    return replace(transcript_text.section, title="What was said so far"), stood


_HEADS = 600
"""Characters of the title and note above what was said."""


def _as_round(held: DecisionRound) -> Round:
    """A round in the form that transcripts read: each participant quoted line by line under the id of its message."""
    speeches = tuple(
        Speech(id=each.id, round=held.number, seat=each.participant, text=each.text, failed=each.excluded)
        for each in held.contributions
    )
    return Round(number=held.number, final=False, order=(), speeches=speeches)


def _counted(count: Count, *, last: bool) -> str:
    reached = "There is a consensus" if count.consensus else "There is no consensus"
    chosen = f" on {count.choice}" if count.choice else ""
    if count.consensus:
        job = "Say what was decided, and what is left open."
    elif last:
        job = "No round follows. Say what they have in common, and what is still open."
    else:
        job = "Another round follows. Propose what more of them can agree to, and name what is still open."
    return f"{reached}{chosen}: {count.why}.\n{job}"

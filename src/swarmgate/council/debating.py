"""A debate: rounds of concurrent voices, a vote, and what is made of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from swarmgate.agents.brief import Brief, Section
from swarmgate.agents.desk import Desk, ignore
from swarmgate.council.asking import together
from swarmgate.council.events import (
    CouncilEvent,
    DebateEnded,
    Moderated,
    RoundBegan,
    RoundEnded,
    Spoke,
    Synthesised,
)
from swarmgate.council.moderating import moderated, moderator_brief
from swarmgate.council.novelty import claims_in, judged
from swarmgate.council.requests import check
from swarmgate.council.synthesising import synthesis_brief, synthesised
from swarmgate.council.transcript import Told, Transcript
from swarmgate.council.voices import Voices
from swarmgate.council.voting import VOTE, bounded, brief_of, speech_of
from swarmgate.council.windows import check_fits, material_sections, window_of
from swarmgate.domain.debate import (
    Debate,
    Moderation,
    Outcome,
    Round,
    Seat,
    Speech,
    Synthesis,
    message_id,
    tally,
)
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed

_FIRST_TO_CONVERGE = 2
"""The first round that can bring nothing new: there is nothing before round 1."""


class DebateStore(Protocol):
    """Keeps debates; the ledger room writes them to `.swarm/traces/debates/`. Each call is atomic."""

    def begin(self, debate: Debate) -> None:
        """Keep what is debated; a debate that stands there already is taken up again.

        Raises:
            CouncilRefused: another debate has this id.
        """

    def rounds(self, debate_id: str) -> tuple[Round, ...]:
        """The whole rounds so far, in order."""

    def keep_round(self, debate_id: str, held: Round) -> None:
        """Keep a round that ended, in the place of one in which every voice failed."""

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keep how the debate ended."""

    def keep_failure(self, debate_id: str, why: str) -> None:
        """Keep why there will be no outcome."""


async def hold(
    debate: Debate, *, voices: Voices, store: DebateStore, on_event: Callable[[CouncilEvent], None] = ignore
) -> Outcome:
    """Hold a debate, or go on with it after the last whole round in the store: one in which every voice failed is none.

    Raises:
        CouncilRefused: it cannot be held as asked; another debate has its id.
        CouncilFailed: no voice of a round gave anything that counts, or the synthesis did not. That is on record.
        BudgetExhausted, Stopped, MissingRequirement: as they come; the whole rounds so far are on record.
    """
    check(debate)
    table = _seated(debate, voices, on_event)
    store.begin(debate)
    rounds = [held for held in store.rounds(debate.id) if _said_something(held)]
    try:
        while not (rounds and rounds[-1].final):
            held = await table.round(rounds)
            store.keep_round(debate.id, held)
            on_event(RoundEnded(debate.id, held))
            if not _said_something(held):
                raise _silence(held)
            rounds.append(held)
        outcome = await table.outcome(rounds)
    except CouncilFailed as error:
        store.keep_failure(debate.id, error.message)
        raise
    store.keep_outcome(outcome)
    on_event(DebateEnded(outcome))
    return outcome


def _said_something(held: Round) -> bool:
    return not all(each.failed for each in held.speeches)


def _silence(held: Round) -> CouncilFailed:
    """The error of a round in which no voice said anything that counts."""
    why = "; ".join(dict.fromkeys(each.failed for each in held.speeches))
    return CouncilFailed(
        f"all {len(held.speeches)} voices failed in round {held.number}: {why}",
        hint="look at the models of the voices, their exchanges are in .swarm/traces/; taken up again, the debate asks "
        "this round anew",
    )


def _seated(debate: Debate, voices: Voices, on_event: Callable[[CouncilEvent], None]) -> _Table:
    """Everybody at the table, each with a desk.

    Raises:
        CouncilRefused: question and material do not fit somebody's window.
        ConfigError, MissingRequirement: somebody has no model.
    """
    desks = {seat.id: bounded(voices.desk(seat), debate) for seat in debate.seats}
    moderator = bounded(voices.desk(debate.moderator), debate) if debate.moderator else None
    table = _Table(debate, desks, moderator, voices.parent() if debate.parent else None, on_event)
    check_fits(debate, [(name, window_of(desk, brief)) for name, desk, brief in table.readers()])
    return table


@dataclass(frozen=True)
class _Table:
    """One debate with the desks of all who take part."""

    debate: Debate
    desks: dict[str, Desk]
    moderator: Desk | None
    parent: Desk | None
    on_event: Callable[[CouncilEvent], None]
    material: tuple[Section, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "material", material_sections(self.debate.question, self.debate.material))

    def readers(self) -> Iterable[tuple[str, Desk, Brief]]:
        """Whoever reads the debate: the name, the desk, and the longest brief less the transcript."""
        for seat in self.debate.seats:
            yield f"participant {seat.id}", self.desks[seat.id], self._brief(seat, self.debate.rounds, (VOTE,))
        if self.moderator:
            yield "the moderator", self.moderator, moderator_brief(self.debate, self.debate.rounds)
        if self.parent:
            yield "the architect", self.parent, synthesis_brief(self.debate)

    async def round(self, before: Sequence[Round]) -> Round:
        """The round after those before."""
        number, began, started_at = len(before) + 1, time.perf_counter(), datetime.now(UTC)
        final = number == self.debate.rounds or _brought_nothing(before)
        moderation = await self._moderation(before, final=final)
        self.on_event(RoundBegan(self.debate.id, number, self.debate.rounds, final))
        order = self._order(number, moderation)
        cut = moderation.cut if moderation else ()
        present = {seat: at for at, seat in enumerate(self.debate.seats, start=1) if seat.id not in cut}
        plan = _RoundPlan(number, final, moderation, Transcript(before, order) if before else None)
        plan = replace(plan, room=self._room(present, plan)) if before else plan
        spoken = await together([self._speech(seat, message_id(number, at), plan) for seat, at in present.items()])
        speeches = tuple(speech for speech, _ in spoken)
        earlier = claims_in(speech for held in before for speech in held.speeches)
        held = Round(
            number=number,
            final=final,
            order=order,
            speeches=speeches,
            novelty=await asyncio.to_thread(  # a tenth of a second where everybody claims as much as they may
                judged, claims_in(speeches), earlier, threshold=self.debate.similarity
            ),
            moderation=moderation,
            condensed=tuple(dict.fromkeys(each for _, told in spoken if told for each in told.condensed)),
            started_at=started_at.isoformat(timespec="milliseconds"),
            seconds=round(time.perf_counter() - began, 4),
        )
        return held.model_copy(update={"final": final or self._voted_early(held)})

    async def outcome(self, rounds: Sequence[Round]) -> Outcome:
        """How the debate ends after its last round."""
        synthesis = await synthesised(self.parent, self.debate, rounds) if self.parent else None
        if synthesis:
            self.on_event(Synthesised(self.debate.id, synthesis))
        count = tally(rounds[-1].speeches)
        return Outcome(
            id=self.debate.id,
            verdict=synthesis.verdict if synthesis else count.verdict,
            decided_by="synthesis" if synthesis else "majority",
            tally=count,
            rounds=len(rounds),
            converged=any(each.converged for each in rounds if _FIRST_TO_CONVERGE <= each.number < self.debate.rounds),
            synthesis=synthesis,
            usage=_used(rounds, synthesis),
            seconds=round(sum(each.seconds for each in rounds) + (synthesis.seconds if synthesis else 0), 4),
        )

    async def _moderation(self, before: Sequence[Round], *, final: bool) -> Moderation | None:
        if not self.moderator or not before:
            return None
        decided = await moderated(self.moderator, self.debate, before, final=final)
        self.on_event(Moderated(self.debate.id, len(before) + 1, decided))
        return decided

    def _order(self, number: int, moderation: Moderation | None) -> tuple[str, ...]:
        """In which order of seats the rounds before are read: as the moderator says, else rotated by one each round."""
        if moderation and moderation.order:
            return moderation.order
        seats = tuple(seat.id for seat in self.debate.seats)
        failed = moderation is not None and bool(moderation.failed)
        by = 0 if self.debate.order == "fixed" or failed else (number - 1) % len(seats)
        return seats[by:] + seats[:by]

    async def _speech(self, seat: Seat, name: str, plan: _RoundPlan) -> tuple[Speech, Told | None]:
        desk, own = self.desks[seat.id], plan.own_sections(seat)
        told = plan.transcript.told(plan.room, own=seat.id) if plan.transcript else None
        brief = self._brief(seat, plan.number, (told.section, *own) if told else own)
        shown = told.shown if told else frozenset[str]()
        speech = await speech_of(desk, seat, brief, name=name, final=plan.final, shown=shown)
        self.on_event(Spoke(self.debate.id, speech))
        return speech, told

    def _room(self, seats: Iterable[Seat], plan: _RoundPlan) -> int:
        """Characters of the transcript in the smallest window: all voices are told the same."""
        briefs = ((seat, self._brief(seat, plan.number, plan.own_sections(seat))) for seat in seats)
        return min(window_of(self.desks[seat.id], brief).room for seat, brief in briefs)

    def _brief(self, seat: Seat, number: int, sections: Sequence[Section]) -> Brief:
        own = (*self.material, *sections)
        return brief_of(seat, number, own, task=self.debate.task, attempt=self.debate.attempt)

    def _voted_early(self, held: Round) -> bool:
        """Whether a round without new claims has the ballot of every seat already: then there is no need of another."""
        ballots = [each for each in held.speeches if each.ballot]
        return _brought_nothing([held]) and len(ballots) == len(self.debate.seats)


@dataclass(frozen=True, slots=True)
class _RoundPlan:
    """What holds for every voice of a round; `room` is that of the transcript, in characters."""

    number: int
    final: bool
    moderation: Moderation | None
    transcript: Transcript | None
    room: int = 0

    def own_sections(self, seat: Seat) -> tuple[Section, ...]:
        """What comes behind the transcript."""
        asked = self.moderation.questions.get(seat.id, "") if self.moderation else ""
        question = (Section("The moderator asks you", asked, "Answer it in your speech."),) if asked else ()
        return (*question, VOTE) if self.final else question


def _brought_nothing(rounds: Sequence[Round]) -> bool:
    return bool(rounds) and rounds[-1].number >= _FIRST_TO_CONVERGE and rounds[-1].converged


def _used(rounds: Iterable[Round], synthesis: Synthesis | None) -> Usage:
    used = synthesis.usage if synthesis else Usage()
    for held in rounds:
        used = sum((each.usage for each in held.speeches), used)
        used += held.moderation.usage if held.moderation else Usage()
    return used
